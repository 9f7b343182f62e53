//! Booleans.

use alloc::string::String;
use serde_json::{Value, json};

use super::{super::reject::Rejection, SettingKind, truth};

/// A boolean.
#[derive(Debug)]
pub struct Switch;

/// A switch with an inverted label: true means that the feature is off.
#[derive(Debug)]
pub struct MuteKind;

impl SettingKind for MuteKind {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        Switch.shape(name, value)
    }

    fn schema(&self) -> Value {
        Switch.schema()
    }

    fn control(&self) -> Value {
        json!({ "control": "switch", "mute": true })
    }

    fn words(&self) -> String {
        Switch.words()
    }
}

impl SettingKind for Switch {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        truth(name, value)
    }

    fn schema(&self) -> Value {
        json!({ "type": "boolean" })
    }

    fn control(&self) -> Value {
        json!({ "control": "switch" })
    }

    fn words(&self) -> String {
        "true or false".into()
    }
}
