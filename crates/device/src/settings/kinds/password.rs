//! A text of which only a salted hash is stored.

use alloc::string::String;
use serde_json::{Value, json};

use super::{super::reject::Rejection, SettingKind, text};

/// Longest password hash that is read back, bytes.
const HASH_MAX: usize = 512;

/// A password of at most this many bytes, of which only a salted hash is stored.
#[derive(Debug)]
pub struct PasswordKind(pub usize);

impl SettingKind for PasswordKind {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        text::text(name, value, self.0)
    }

    fn restored(&self, value: &Value) -> Option<Value> {
        text::storable(value.as_str()?, HASH_MAX).then(|| value.clone())
    }

    fn password(&self) -> Option<usize> {
        Some(self.0)
    }

    fn schema(&self) -> Value {
        text::schema(self.0, text::ANY)
    }

    fn control(&self) -> Value {
        json!({ "control": "password", "maxBytes": self.0 })
    }

    fn words(&self) -> String {
        text::words(self.0)
    }
}
