//! `txPower`: transmit power of the radio, or the number that stands for none chosen.

use alloc::string::String;
use serde_json::{Map, Value, json};

use super::super::{Settings, number, reject::Rejection};
use crate::view::View;

/// Least power, quarter-dBm.
pub(in super::super) const MIN: i32 = -1;

/// Greatest power, quarter-dBm.
pub(in super::super) const MAX: u32 = 78;

/// Stands for the radio's own power, in GET and in PATCH.
pub(in super::super) const CLEAR: i64 = 80;

pub(super) fn shape(name: &str, value: &Value) -> Result<(), Rejection> {
    if !value.is_number() {
        return Err(Rejection::BadType(name.into()));
    }
    if clears(value) || number::bounded(value, MIN, MAX).is_some() {
        return Ok(());
    }
    Err(Rejection::Range(name.into()))
}

pub(super) fn apply(value: &Value, settings: &mut Settings) {
    settings.tx_power = match clears(value) {
        true => None,
        false => number::bounded(value, MIN, MAX).and_then(|power| power.try_into().ok()),
    };
}

pub(super) fn emit(view: &View, document: &mut Map<String, Value>) {
    let power = view.settings.tx_power.map_or(CLEAR, i64::from);
    document.insert("txPower".into(), power.into());
}

pub(super) fn schema() -> Value {
    json!({ "anyOf": [{ "type": "integer", "minimum": MIN, "maximum": MAX }, { "const": CLEAR }] })
}

fn clears(value: &Value) -> bool {
    number::integral(value) == Some(CLEAR)
}
