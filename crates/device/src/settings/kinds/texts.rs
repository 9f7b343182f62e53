//! Shared by lists of texts.

use serde_json::Value;

use super::{super::reject::Rejection, text};
use crate::limits::TEXT_MAX;

/// Maximum number of entries; empty ones do not count.
pub(super) const ENTRIES_MAX: usize = 8;

/// Checks that it is a list of not too many texts.
pub(super) fn shape(name: &str, value: &Value) -> Result<(), Rejection> {
    super::list(name, value)?;
    for entry in super::entries(value) {
        text::text(name, entry, TEXT_MAX)?;
    }
    if entries(value).count() > ENTRIES_MAX {
        return Err(Rejection::BadLength(name.into()));
    }
    Ok(())
}

/// The non-empty texts of a list.
pub(super) fn entries(value: &Value) -> impl Iterator<Item = &str> {
    super::entries(value)
        .iter()
        .filter_map(Value::as_str)
        .filter(|text| !text.is_empty())
}
