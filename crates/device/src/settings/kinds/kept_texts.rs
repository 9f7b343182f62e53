//! `keptTexts`: saved texts of the owner, each with a text per panel.

use alloc::{string::String, vec::Vec};
use serde_json::{Value, json};

use super::{super::reject::Rejection, SettingKind, entries, list, text};

/// Maximum number of saved texts.
pub const TEXTS_MAX: usize = 10;

/// Maximum number of panels of a text: those of the widest board.
pub const CELLS_MAX: usize = 8;

/// Longest text of one panel, bytes.
pub const CELL_MAX: usize = 32;

/// A list of texts, each a list with a text per panel.
#[derive(Debug)]
pub struct KeptTexts;

impl SettingKind for KeptTexts {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        let bounded = |value: &Value, most| {
            if entries(value).len() <= most {
                Ok(())
            } else {
                Err(Rejection::BadLength(name.into()))
            }
        };
        list(name, value)?;
        bounded(value, TEXTS_MAX)?;
        for kept in entries(value) {
            list(name, kept)?;
            bounded(kept, CELLS_MAX)?;
            for cell in entries(kept) {
                text::text(name, cell, CELL_MAX)?;
            }
        }
        Ok(())
    }

    fn normal(&self, value: &Value) -> Value {
        let mut kept: Vec<Value> = Vec::new();
        for text in entries(value) {
            let is_blank = entries(text).iter().all(|cell| cell == "");
            if !is_blank && !kept.contains(text) {
                kept.push(text.clone());
            }
        }
        kept.into()
    }

    fn schema(&self) -> Value {
        let cell = json!({ "type": "string", "maxLength": CELL_MAX });
        let kept = json!({ "type": "array", "maxItems": CELLS_MAX, "items": cell });
        json!({ "type": "array", "maxItems": TEXTS_MAX, "items": kept })
    }

    fn control(&self) -> Value {
        json!({ "control": "texts", "max": TEXTS_MAX })
    }

    fn words(&self) -> String {
        "a list of lists of texts".into()
    }
}
