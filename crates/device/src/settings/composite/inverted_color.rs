//! `invertedColor`: the polarity of the panels; `fgColor` and `bgColor` follow it.

use alloc::string::String;
use serde_json::{Map, Value, json};

use super::super::{Settings, reject::Rejection};
use crate::view::View;

const WHITE: u32 = 0xFFFF;
const BLACK: u32 = 0;

pub(super) fn shape(name: &str, value: &Value) -> Result<(), Rejection> {
    match value.is_boolean() {
        true => Ok(()),
        false => Err(Rejection::BadType(name.into())),
    }
}

pub(super) fn apply(value: &Value, settings: &mut Settings) {
    settings.inverted_color = value.as_bool().unwrap_or_default();
}

pub(super) fn emit(view: &View, document: &mut Map<String, Value>) {
    let inverted = view.settings.inverted_color;
    let (fg, bg) = if inverted {
        (WHITE, BLACK)
    } else {
        (BLACK, WHITE)
    };
    document.insert("invertedColor".into(), inverted.into());
    document.insert("fgColor".into(), fg.into());
    document.insert("bgColor".into(), bg.into());
}

pub(super) fn schema() -> Value {
    json!({ "type": "boolean" })
}
