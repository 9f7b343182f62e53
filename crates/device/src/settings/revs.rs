//! Versions of the wishes at the broker that were fulfilled, by whom they stand there for.

use alloc::{collections::BTreeMap, string::String};
use serde_json::{Map, Value};

use super::Settings;
use crate::limits::REVS_MAX;

/// For this clock alone.
pub const OWN: &str = "own";

/// Reads them.
pub fn read(settings: &Settings) -> BTreeMap<String, String> {
    let stored: Map<String, Value> =
        serde_json::from_str(&settings.fulfilled_revs).unwrap_or_default();
    let text = |(scope, rev): (String, Value)| Some((scope, rev.as_str()?.into()));
    stored.into_iter().filter_map(text).collect()
}

/// Writes them; where there is no room for all, the next time they are fulfilled again.
pub fn write(settings: &mut Settings, revs: &BTreeMap<String, String>) {
    let written = serde_json::to_string(revs).unwrap_or_default();
    settings.fulfilled_revs = match written.len() {
        0..=REVS_MAX => written,
        _ => String::new(),
    };
}
