//! Text that is one of the ids of a catalogue.

use alloc::{format, string::String, vec::Vec};
use serde_json::{Value, json};

use super::{
    super::{TEXT_MAX, fonts, pools, reject::Rejection},
    Context, Kind, text,
};

/// One of the fonts.
#[derive(Debug)]
pub struct Font;

/// One of the mining pools; one that was dropped is kept, and its screens say that it is offline.
#[derive(Debug)]
pub struct Pool;

impl Kind for Font {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        text::text(name, value, TEXT_MAX)
    }

    fn check(&self, name: &str, value: &Value, _: &Context<'_>) -> Result<(), Rejection> {
        one_of(&fonts::ids(), name, value)
    }

    fn is_text(&self) -> bool {
        true
    }

    fn catalogue(&self) -> Option<Vec<&'static str>> {
        Some(fonts::ids())
    }

    fn schema(&self) -> Value {
        json!({ "type": "string", "enum": fonts::ids() })
    }

    fn control(&self) -> Value {
        json!({ "control": "choice", "choices": FONTS })
    }

    fn words(&self) -> String {
        format!("one of `{FONTS}`")
    }
}

impl Kind for Pool {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        text::text(name, value, TEXT_MAX)
    }

    fn check(&self, name: &str, value: &Value, _: &Context<'_>) -> Result<(), Rejection> {
        one_of(&pools::ids(), name, value)
    }

    fn restored(&self, value: &Value) -> Option<Value> {
        self.shape("", value).is_ok().then(|| value.clone())
    }

    fn is_text(&self) -> bool {
        true
    }

    fn catalogue(&self) -> Option<Vec<&'static str>> {
        Some(pools::ids())
    }

    fn schema(&self) -> Value {
        json!({ "type": "string", "enum": pools::ids() })
    }

    fn told_schema(&self) -> Value {
        json!({ "type": "string" })
    }

    fn control(&self) -> Value {
        json!({ "control": "choice", "choices": POOLS })
    }

    fn words(&self) -> String {
        format!("one of `{POOLS}`")
    }
}

/// Key of the GET document that lists the fonts.
pub(in super::super) const FONTS: &str = "availableFonts";

/// Key of the GET document that lists the pools.
pub(in super::super) const POOLS: &str = "availablePools";

fn one_of(ids: &[&str], name: &str, value: &Value) -> Result<(), Rejection> {
    match ids.contains(&value.as_str().unwrap_or_default()) {
        true => Ok(()),
        false => Err(Rejection::Unknown(name.into())),
    }
}
