//! Texts without control characters and with a maximum length in bytes.

use alloc::{format, string::String};
use serde_json::{Value, json};

use super::{
    super::reject::{Rejection, TextFault},
    SettingKind,
};
use crate::limits::TEXT_MAX;

/// Any text.
#[derive(Debug)]
pub struct TextKind(pub usize);

/// A text without a colon, which ends the user name in basic authentication.
#[derive(Debug)]
pub struct UserName(pub usize);

impl SettingKind for TextKind {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        text(name, value, self.0)
    }

    fn is_text(&self) -> bool {
        true
    }

    fn schema(&self) -> Value {
        schema(self.0, ANY)
    }

    fn control(&self) -> Value {
        control(self.0)
    }

    fn words(&self) -> String {
        words(self.0)
    }
}

impl SettingKind for UserName {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        text(name, value, self.0)?;
        if value.as_str().is_some_and(|user| user.contains(':')) {
            Err(Rejection::BadText(name.into(), TextFault::Colon))
        } else {
            Ok(())
        }
    }

    fn is_text(&self) -> bool {
        true
    }

    fn schema(&self) -> Value {
        schema(self.0, "^[^:\\u0000-\\u001f\\u007f-\\u009f]*$")
    }

    fn control(&self) -> Value {
        control(self.0)
    }

    fn words(&self) -> String {
        words(self.0)
    }
}

/// Pattern of any text.
pub(super) const ANY: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";

/// Checks that a value is a text that can be stored.
pub(super) fn text(name: &str, value: &Value, cap: usize) -> Result<(), Rejection> {
    let text = value
        .as_str()
        .ok_or_else(|| Rejection::BadType(name.into()))?;
    match fault(text, cap) {
        Some(fault) => Err(Rejection::BadText(name.into(), fault)),
        None => Ok(()),
    }
}

/// Returns whether a text can be stored.
pub(in super::super) fn storable(text: &str, cap: usize) -> bool {
    fault(text, cap).is_none()
}

/// Why a text cannot be stored. `None` if it can.
fn fault(text: &str, cap: usize) -> Option<TextFault> {
    if text.len() > cap {
        return Some(TextFault::TooLong(cap));
    }
    // C0, DEL and C1 control terminals.
    let has_control = text.contains(char::is_control);
    has_control.then_some(TextFault::Control)
}

/// The limit is in bytes of UTF-8; the schema can only count characters.
pub(super) fn schema(cap: usize, pattern: &str) -> Value {
    json!({ "type": "string", "maxLength": cap, "pattern": pattern })
}

pub(super) fn control(cap: usize) -> Value {
    json!({ "control": "text", "maxBytes": cap })
}

pub(super) fn words(cap: usize) -> String {
    match cap {
        TEXT_MAX => "a text".into(),
        cap => format!("a text of at most {cap} bytes"),
    }
}
