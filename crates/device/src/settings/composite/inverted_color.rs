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
    let (fg, bg) = if settings.inverted_color {
        (WHITE, BLACK)
    } else {
        (BLACK, WHITE)
    };
    settings.fg_color = fg;
    settings.bg_color = bg;
}

pub(super) fn emit(view: &View, document: &mut Map<String, Value>) {
    document.insert("invertedColor".into(), view.settings.inverted_color.into());
}

pub(super) fn schema() -> Value {
    json!({ "type": "boolean" })
}
