//! Public keys: 64 hex digits or an `npub`, or empty.

use alloc::string::String;
use serde_json::{Value, json};

use super::{
    super::{npub, reject::Rejection},
    CheckContext, SettingKind, text,
};
use crate::limits::TEXT_MAX;

/// Digits of a key.
pub(super) const KEY_LEN: usize = 64;

/// Pattern of a key in any of its forms, or empty.
pub(super) const PATTERN: &str = "^([0-9a-fA-F]{64}|npub1[02-9ac-hj-np-z]{58})?$";

/// Case of the hex digits of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HexKey {
    /// Lower case only.
    Lower,
    /// Lower and upper case.
    Any,
}

impl SettingKind for HexKey {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        text::text(name, value, TEXT_MAX)
    }

    fn check(&self, name: &str, value: &Value, _: &CheckContext<'_>) -> Result<(), Rejection> {
        let text = value.as_str().unwrap_or_default();
        if text.is_empty() || self.read(text).is_some() {
            Ok(())
        } else {
            Err(Rejection::BadHex(name.into()))
        }
    }

    fn normal(&self, value: &Value) -> Value {
        let text = value.as_str().unwrap_or_default();
        self.read(text).map_or_else(|| value.clone(), Value::from)
    }

    fn is_text(&self) -> bool {
        true
    }

    fn schema(&self) -> Value {
        match self {
            HexKey::Lower => text::schema(KEY_LEN, "^([0-9a-f]{64}|npub1[02-9ac-hj-np-z]{58})?$"),
            HexKey::Any => text::schema(KEY_LEN, PATTERN),
        }
    }

    fn control(&self) -> Value {
        json!({ "control": "key", "maxBytes": KEY_LEN })
    }

    fn words(&self) -> String {
        "a key: 64 hex digits, or `npub…`".into()
    }
}

impl HexKey {
    /// A key as hex, converted from `npub` if needed.
    pub(super) fn read(self, text: &str) -> Option<String> {
        let digit = |byte: u8| match self {
            HexKey::Lower => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
            HexKey::Any => byte.is_ascii_hexdigit(),
        };
        if text.len() == KEY_LEN && text.bytes().all(digit) {
            return Some(text.into());
        }
        npub::hex_of(text)
    }
}
