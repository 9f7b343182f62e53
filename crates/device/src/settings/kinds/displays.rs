//! `displays`: the approved remote displays, written by operations of their own.

use alloc::{string::String, vec::Vec};
use serde_json::{Value, json};

use super::{super::reject::Rejection, SettingKind, entries};
use crate::displays::{DISPLAYS_MAX, Display};

/// A list of displays.
#[derive(Debug)]
pub struct DisplaysKind;

impl SettingKind for DisplaysKind {
    fn shape(&self, name: &str, _: &Value) -> Result<(), Rejection> {
        Err(Rejection::BadType(name.into()))
    }

    /// Displays that cannot be used are dropped.
    fn restored(&self, value: &Value) -> Option<Value> {
        let mut known: Vec<Display> = Vec::new();
        for display in value.as_array()? {
            let display = Display::from_json(display);
            let is_new = |display: &Display| known.iter().all(|other| other.id != display.id);
            known.extend(display.filter(is_new));
        }
        known.truncate(DISPLAYS_MAX);
        Some(known.iter().map(Display::to_json).collect())
    }

    /// How many there are.
    fn shown(&self, stored: &Value) -> Value {
        entries(stored).len().into()
    }

    fn schema(&self) -> Value {
        json!({ "type": "integer" })
    }

    fn control(&self) -> Value {
        json!({ "control": "text" })
    }

    fn words(&self) -> String {
        "number".into()
    }
}
