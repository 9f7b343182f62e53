//! What a setting can be: a kind is one value with its functions, and has a file.
//!
//! A row of the table names its kind; nothing else asks which one it is.

pub mod address;
pub mod choice;
pub mod currencies;
pub mod dnd;
pub mod hosts;
pub mod kept_texts;
pub mod key;
pub mod keys;
pub mod number;
pub mod pairing_uri;
pub mod password;
pub mod pem;
pub mod pool_user;
pub mod relays;
pub mod screen_ids;
pub mod screens;
pub mod switch;
pub mod text;
mod texts;
pub mod time_per_screen;
pub mod topic;
pub mod tx_power;
pub mod venues;
pub mod version;
pub mod zone;

use alloc::{format, string::String, vec::Vec};
use core::fmt;
use serde_json::{Map, Value};

use super::{Settings, reject::Rejection};
use market::units::Currency;

/// What is known of the device outside the table.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// Currencies that can be chosen.
    pub currencies: Vec<Currency>,
    /// Ids of the screens that GET lists, which are those whose feature is on.
    pub screens: Vec<u16>,
}

/// What the check of a value may use besides the value.
#[derive(Debug)]
pub struct CheckContext<'a> {
    /// The settings that are stored; for the second walk over a body, with its plain rows in them.
    pub settings: &'a Settings,
    /// What is known outside the table.
    pub available: &'a Catalogue,
}

/// The type of a setting: how its value is checked and converted.
pub trait SettingKind: fmt::Debug + Sync {
    /// Checks type, length, control characters and bounds of a value; `name` is the key as it was sent.
    ///
    /// # Errors
    /// The token that the client is told.
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection>;

    /// Checks what is particular to the kind of a value whose shape is right.
    ///
    /// # Errors
    /// The token that the client is told.
    fn check(
        &self,
        _name: &str,
        _value: &Value,
        _context: &CheckContext<'_>,
    ) -> Result<(), Rejection> {
        Ok(())
    }

    /// The stored form of a value that passed both checks.
    fn normal(&self, value: &Value) -> Value {
        value.clone()
    }

    /// The stored form of a value that was read from a disk; none if the setting cannot have it.
    fn restored(&self, value: &Value) -> Option<Value> {
        passed(self, value).then(|| self.normal(value))
    }

    /// The stored form without what of it is a secret.
    fn open(&self, stored: &Value) -> Value {
        stored.clone()
    }

    /// The secrets that are parts of a stored value.
    fn secrets(&self, _stored: &Value) -> Vec<String> {
        Vec::new()
    }

    /// What GET tells of a stored value.
    fn told(&self, stored: &Value) -> Value {
        self.open(stored)
    }

    /// What GET tells of a stored value that is a secret, beside whether it is set.
    fn masked(&self, _stored: &Value) -> Option<String> {
        None
    }

    /// Puts what is stored where a value that was sent has the mark of GET for it.
    fn unmask(&self, _sent: &mut Value, _stored: &Value) {}

    /// Its functions where it is more than the value of its row.
    fn composite(&self) -> Option<&dyn Composite> {
        None
    }

    /// The most bytes that may be hashed, where only a salted hash is kept.
    fn password(&self) -> Option<usize> {
        None
    }

    /// Tells whether any value is a text, which people need not quote.
    fn is_text(&self) -> bool {
        false
    }

    /// The values there are, where they can be counted off.
    fn catalogue(&self) -> Option<Vec<&'static str>> {
        None
    }

    /// JSON Schema of what PATCH takes.
    fn schema(&self) -> Value;

    /// JSON Schema of what GET tells.
    fn told_schema(&self) -> Value {
        self.schema()
    }

    /// The control that a form has for it, with what that needs to know.
    fn control(&self) -> Value;

    /// What it takes, in words.
    fn words(&self) -> String;

    /// A value that GET tells, in words.
    fn value_in_words(&self, told: &Value) -> String {
        match told {
            Value::String(text) if text.is_empty() => "empty".into(),
            Value::Array(entries) if entries.is_empty() => "empty".into(),
            Value::String(text) => format!("`{text}`"),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => {
                format!("`{told}`")
            }
        }
    }
}

/// A kind that is more than the value of its row: it comes after the plain rows.
pub trait Composite {
    /// Writes a value that passed both checks.
    fn apply(&self, value: &Value, settings: &mut Settings, available: &Catalogue);

    /// Puts into the document of GET what stands there under this name, and what follows from it.
    fn emit(
        &self,
        name: &'static str,
        context: &CheckContext<'_>,
        document: &mut Map<String, Value>,
    );

    /// Tells whether every document has the name.
    fn is_always_told(&self) -> bool {
        true
    }
}

/// Tells whether a value passes both checks on its own.
fn passed(kind: &(impl SettingKind + ?Sized), value: &Value) -> bool {
    let context = CheckContext {
        settings: &Settings::default(),
        available: &Catalogue::default(),
    };
    kind.shape("", value).is_ok() && kind.check("", value, &context).is_ok()
}

/// Checks that it is a truth value.
fn truth(name: &str, value: &Value) -> Result<(), Rejection> {
    match value.is_boolean() {
        true => Ok(()),
        false => Err(Rejection::BadType(name.into())),
    }
}

/// Checks that it is a list.
fn list(name: &str, value: &Value) -> Result<(), Rejection> {
    match value.is_array() {
        true => Ok(()),
        false => Err(Rejection::BadType(name.into())),
    }
}

/// The entries of a list; none of what is no list.
fn entries(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
