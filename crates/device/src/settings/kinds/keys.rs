//! A list of keys.

use alloc::{string::String, vec::Vec};
use serde_json::{Value, json};

use super::{
    super::reject::Rejection,
    CheckContext, SettingKind,
    key::{HexKey, KEY_LEN, PATTERN},
    text, texts,
};

/// A list of keys, without duplicates, ignoring case.
#[derive(Debug)]
pub struct Keys;

impl SettingKind for Keys {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        texts::shape(name, value)
    }

    fn check(&self, name: &str, value: &Value, _: &CheckContext<'_>) -> Result<(), Rejection> {
        if texts::entries(value).all(|text| HexKey::Any.read(text).is_some()) {
            Ok(())
        } else {
            Err(Rejection::BadHex(name.into()))
        }
    }

    fn normal(&self, value: &Value) -> Value {
        let mut keys: Vec<String> = Vec::new();
        for text in texts::entries(value) {
            let key = HexKey::Any.read(text).unwrap_or_else(|| text.into());
            if !keys.iter().any(|known| known.eq_ignore_ascii_case(&key)) {
                keys.push(key);
            }
        }
        keys.into()
    }

    fn schema(&self) -> Value {
        json!({ "type": "array", "items": text::schema(KEY_LEN, PATTERN) })
    }

    fn control(&self) -> Value {
        json!({ "control": "keys", "max": texts::ENTRIES_MAX, "maxBytes": KEY_LEN })
    }

    fn words(&self) -> String {
        "a list of keys: 64 hex digits, or `npub…`".into()
    }
}
