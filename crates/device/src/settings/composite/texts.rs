//! What lists of texts have in common.

use alloc::{string::String, vec::Vec};
use serde_json::Value;

use super::super::{TEXT_MAX, reject::Rejection, rules};

/// Entries of a list at most; those that are empty do not count.
pub(in super::super) const ENTRIES_MAX: usize = 8;

/// Checks that it is a list, of texts, and of not too many.
pub(super) fn shape(name: &str, value: &Value) -> Result<(), Rejection> {
    let list = value.as_array();
    for entry in list.ok_or_else(|| Rejection::BadType(name.into()))? {
        rules::text(name, entry, TEXT_MAX)?;
    }
    if entries(value).count() > ENTRIES_MAX {
        return Err(Rejection::BadLength(name.into()));
    }
    Ok(())
}

/// The texts of a list that are not empty.
pub(super) fn entries(value: &Value) -> impl Iterator<Item = &str> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .filter_map(Value::as_str)
        .filter(|text| !text.is_empty())
}

/// The stored form of a list.
pub(super) fn stored(texts: impl Iterator<Item = String>) -> Value {
    texts.collect::<Vec<_>>().into()
}
