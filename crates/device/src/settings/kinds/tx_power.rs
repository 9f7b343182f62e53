//! Transmit power of a radio, or the number that resets it.

use alloc::{
    format,
    string::{String, ToString},
};
use serde_json::{Value, json};

use super::{
    super::{number, reject::Rejection},
    SettingKind,
};

/// Minimum power, quarter-dBm.
const MIN: i32 = -1;

/// Maximum power, quarter-dBm.
pub const MAX: i32 = 78;

/// Resets to the radio's own power, in GET and in PATCH.
const CLEAR: i64 = 80;

/// Transmit power of a radio, quarter-dBm, or the number that resets it.
#[derive(Debug)]
pub struct TxPower;

impl TxPower {
    /// The stored form of a sent number. `None` if it is no valid power.
    pub fn read(sent: &Value) -> Option<Value> {
        if number::integral(sent) == Some(CLEAR) {
            return Some(Value::Null);
        }
        number::bounded(sent, MIN, MAX.unsigned_abs()).map(Value::from)
    }
}

impl SettingKind for TxPower {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        if !value.is_number() {
            return Err(Rejection::BadType(name.into()));
        }
        match TxPower::read(value) {
            Some(_) => Ok(()),
            None => Err(Rejection::Range(name.into())),
        }
    }

    fn normal(&self, value: &Value) -> Value {
        TxPower::read(value).unwrap_or_default()
    }

    fn restored(&self, value: &Value) -> Option<Value> {
        let in_range = number::bounded(value, MIN, MAX.unsigned_abs()).is_some();
        (value.is_null() || in_range).then(|| value.clone())
    }

    fn shown(&self, stored: &Value) -> Value {
        if stored.is_null() { CLEAR.into() } else { stored.clone() }
    }

    fn schema(&self) -> Value {
        json!({ "anyOf": [{ "type": "integer", "minimum": MIN, "maximum": MAX }, { "type": "integer", "const": CLEAR }] })
    }

    fn control(&self) -> Value {
        json!({ "control": "txPower", "min": MIN, "max": MAX, "none": CLEAR })
    }

    fn words(&self) -> String {
        format!("{MIN} to {MAX}, or {CLEAR}")
    }

    fn describe_value(&self, shown: &Value) -> String {
        shown.to_string()
    }
}
