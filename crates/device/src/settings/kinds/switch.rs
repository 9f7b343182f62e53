//! True or false.

use alloc::string::String;
use serde_json::{Value, json};

use super::{super::reject::Rejection, Kind, truth};

/// True or false.
#[derive(Debug)]
pub struct Switch;

impl Kind for Switch {
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
