//! What lists of texts have in common.

use serde_json::Value;

use super::{super::reject::Rejection, text};
use crate::limits::TEXT_MAX;

/// Entries of a list at most; those that are empty do not count.
pub(super) const ENTRIES_MAX: usize = 8;

/// Checks that it is a list, of texts, and of not too many.
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

/// The texts of a list that are not empty.
pub(super) fn entries(value: &Value) -> impl Iterator<Item = &str> {
    super::entries(value)
        .iter()
        .filter_map(Value::as_str)
        .filter(|text| !text.is_empty())
}
