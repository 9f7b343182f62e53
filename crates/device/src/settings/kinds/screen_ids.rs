//! Ids of screens, written by clients through the list of screens.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use serde_json::{Value, json};

use super::{super::reject::Rejection, SettingKind, entries};
use crate::screens::catalog;

/// Ids of screens.
#[derive(Debug)]
pub struct ScreenIds;

impl SettingKind for ScreenIds {
    fn shape(&self, name: &str, _: &Value) -> Result<(), Rejection> {
        Err(Rejection::BadType(name.into()))
    }

    /// Ids of removed screens are dropped.
    fn restored(&self, value: &Value) -> Option<Value> {
        let mut known: Vec<u16> = Vec::new();
        for id in value.as_array()? {
            let id = id.as_u64().and_then(|id| u16::try_from(id).ok());
            let id = id.filter(|id| catalog::find(*id).is_some() && !known.contains(id));
            known.extend(id);
        }
        Some(known.into())
    }

    /// One text, comma-separated.
    fn shown(&self, stored: &Value) -> Value {
        let ids = entries(stored).iter().map(ToString::to_string);
        ids.collect::<Vec<_>>().join(",").into()
    }

    fn schema(&self) -> Value {
        json!({ "type": "string" })
    }

    fn control(&self) -> Value {
        json!({ "control": "text" })
    }

    fn words(&self) -> String {
        "text".into()
    }
}
