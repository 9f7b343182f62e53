//! Reads stored members one by one: a member that is not usable is lost alone, not with the whole file.
//!
//! For `#[serde(default, deserialize_with = "…")]`.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use serde::{
    Deserialize, Deserializer,
    de::{
        DeserializeOwned, IgnoredAny, IntoDeserializer,
        value::{Error, StringDeserializer},
    },
};

/// A member that may be unusable.
#[derive(Deserialize)]
#[serde(untagged)]
enum Lenient<T> {
    Usable(T),
    Unusable(IgnoredAny),
}

impl<T> Lenient<T> {
    fn usable(self) -> Option<T> {
        match self {
            Lenient::Usable(value) => Some(value),
            Lenient::Unusable(IgnoredAny) => None,
        }
    }
}

/// Reads a value; the default if it is not usable.
///
/// # Errors
/// The input is malformed.
pub fn value<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    let value = Lenient::deserialize(deserializer)?;
    Ok(value.usable().unwrap_or_default())
}

/// Reads the usable elements of a list.
///
/// # Errors
/// The input is malformed.
pub fn list<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let elements: Vec<Lenient<T>> = value(deserializer)?;
    Ok(elements.into_iter().filter_map(Lenient::usable).collect())
}

/// Reads the entries of a map that have a usable key and value.
///
/// # Errors
/// The input is malformed.
pub fn map<'de, D, K, V>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
where
    D: Deserializer<'de>,
    K: DeserializeOwned + Ord,
    V: DeserializeOwned,
{
    let entries: BTreeMap<String, Lenient<V>> = value(deserializer)?;
    let entry = |(key, value): (String, Lenient<V>)| {
        let key: StringDeserializer<Error> = key.into_deserializer();
        Some((K::deserialize(key).ok()?, value.usable()?))
    };
    Ok(entries.into_iter().filter_map(entry).collect())
}
