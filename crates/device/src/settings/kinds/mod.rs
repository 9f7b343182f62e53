//! Types of settings: a kind is one value with its functions in its own file.
//!
//! A row of the table names its kind; no other code depends on which one it is.

pub mod address;
pub mod board_screens;
pub mod choice;
pub mod currencies;
pub mod displays;
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

/// Facts about the device that checks of values need.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// Currencies that are offered.
    pub currencies: Vec<Currency>,
    /// Ids of the screens that GET lists: those whose feature is on.
    pub screens: Vec<u16>,
}

/// Input for the check of a value.
#[derive(Debug)]
pub struct CheckContext<'a> {
    /// The stored settings; in the second walk with the plain rows of the body applied.
    pub settings: &'a Settings,
    /// Facts about the device.
    pub available: &'a Catalogue,
}

/// The type of a setting: how its value is checked and converted.
pub trait SettingKind: fmt::Debug + Sync {
    /// Checks type, length, control characters and bounds of a value; `name` is the key as sent.
    ///
    /// # Errors
    /// The rejection for the client.
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection>;

    /// Checks rules of the kind, after the shape.
    ///
    /// # Errors
    /// The rejection for the client.
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

    /// Converts a value read from disk. `None` if the setting cannot have it.
    fn restored(&self, value: &Value) -> Option<Value> {
        passed(self, value).then(|| self.normal(value))
    }

    /// The stored form without its secrets.
    fn open(&self, stored: &Value) -> Value {
        stored.clone()
    }

    /// The value that GET shows.
    fn shown(&self, stored: &Value) -> Value {
        self.open(stored)
    }

    /// The masked value that GET shows of a secret, besides whether it is set.
    fn masked(&self, _stored: &Value) -> Option<String> {
        None
    }

    /// Replaces the placeholders of GET in a sent value by what is stored.
    fn unmask(&self, _sent: &mut Value, _stored: &Value) {}

    /// Its functions if it is more than the value of its row.
    fn composite(&self) -> Option<&dyn Composite> {
        None
    }

    /// Maximum length in bytes, if only a salted hash is stored.
    fn password(&self) -> Option<usize> {
        None
    }

    /// Returns whether any value is a text, so that the command line needs no quotes.
    fn is_text(&self) -> bool {
        false
    }

    /// All values, if they can be listed.
    fn catalogue(&self) -> Option<Vec<&'static str>> {
        None
    }

    /// JSON Schema of the value in PATCH.
    fn schema(&self) -> Value;

    /// JSON Schema of the value in GET.
    fn shown_schema(&self) -> Value {
        self.schema()
    }

    /// The control in the form, with its parameters.
    fn control(&self) -> Value;

    /// Accepted values, for the documents.
    fn words(&self) -> String;

    /// A value of GET for the documents.
    fn describe_value(&self, shown: &Value) -> String {
        match shown {
            Value::String(text) if text.is_empty() => "empty".into(),
            Value::Array(entries) if entries.is_empty() => "empty".into(),
            Value::String(text) => format!("`{text}`"),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => {
                format!("`{shown}`")
            }
        }
    }
}

/// A kind that is more than the value of its row: it is applied after the plain rows.
pub trait Composite {
    /// Writes a value that passed both checks.
    fn apply(&self, value: &Value, settings: &mut Settings, available: &Catalogue);

    /// Adds its keys to the document of GET.
    fn emit(
        &self,
        name: &'static str,
        context: &CheckContext<'_>,
        document: &mut Map<String, Value>,
    );

    /// Returns whether every document has its key.
    fn is_always_shown(&self) -> bool {
        true
    }
}

/// Returns whether a value passes both checks.
fn passed(kind: &(impl SettingKind + ?Sized), value: &Value) -> bool {
    let context = CheckContext {
        settings: &Settings::default(),
        available: &Catalogue::default(),
    };
    kind.shape("", value).is_ok() && kind.check("", value, &context).is_ok()
}

/// Checks that it is a boolean.
fn truth(name: &str, value: &Value) -> Result<(), Rejection> {
    if value.is_boolean() { Ok(()) } else { Err(Rejection::BadType(name.into())) }
}

/// Checks that it is a list.
fn list(name: &str, value: &Value) -> Result<(), Rejection> {
    if value.is_array() { Ok(()) } else { Err(Rejection::BadType(name.into())) }
}

/// The entries of a list; empty if it is not a list.
fn entries(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
