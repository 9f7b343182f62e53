//! Settings that older versions stored under other names or with other values.

use alloc::string::String;
use serde_json::{Map, Value};

use super::Key;

/// Migration of a retired name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Becomes {
    /// The same value under another name.
    Renamed(Key),
    /// This number of a choice if the old switch was on.
    Choice(Key, u32),
    /// Ignored.
    Dropped,
}

/// Retired names; if two lead to the same setting, the earlier row wins.
pub(super) static RETIRED_NAMES: &[(&str, Becomes)] = &[
    ("suffixShareDot", Becomes::Renamed(Key::decimal_share_dot)),
    ("useSatsSymbol", Becomes::Choice(Key::price_sym_mode, 1)),
    ("useBtcSymbol", Becomes::Choice(Key::price_sym_mode, 2)),
    ("sats_variant", Becomes::Renamed(Key::sats_variant)),
    ("gmtOffset", Becomes::Dropped),
    ("tzOffset", Becomes::Dropped),
    ("nodeUser", Becomes::Dropped),
    ("nodePass", Becomes::Dropped),
];

/// Retired numbers of a choice, each with a setting and the number that it gets instead.
static RETIRED_CHOICES: &[(Key, u32, Key, u32)] = &[
    (Key::node_kind, 3, Key::node_kind, 1),
    (Key::node_kind, 3, Key::node_port, 0),
    (Key::node_kind, 4, Key::node_kind, 1),
    (Key::node_kind, 4, Key::node_port, 0),
];

/// Retired values, which are replaced by the default.
pub(super) static RETIRED_VALUES: &[(Key, &str)] = &[
    (Key::font_name, "dejavu"),
    (Key::font_name, "azeretSemiBold"),
];

/// Values of newer settings in documents of older versions that lack them.
static YOUNGER: &[(Key, Value)] = &[(Key::welcomed, Value::Bool(true))];

/// Value of a setting that an older version did not store. `None` for its default.
pub(super) fn worth_in_older(key: Key, stored: &Map<String, Value>) -> Option<&'static Value> {
    let row = YOUNGER.iter().find(|(younger, _)| *younger == key);
    row.filter(|_| !stored.is_empty()).map(|(_, value)| value)
}

/// The number that a setting gets because of a retired number of a choice.
pub(super) fn replacement(key: Key, stored: &Map<String, Value>) -> Option<Value> {
    let mut rows = RETIRED_CHOICES.iter();
    let row = rows.find(|(choice, retired, replaced, _)| {
        *replaced == key && stored.get(choice.name()) == Some(&Value::from(*retired))
    });
    row.map(|(.., number)| Value::from(*number))
}

/// The stored form of a setting found only under a retired name, with that name.
pub(super) fn value_of(
    key: Key,
    stored: impl Fn(&str) -> Option<Value>,
) -> Option<(&'static str, Value)> {
    RETIRED_NAMES
        .iter()
        .find_map(|(name, becomes)| match becomes {
            Becomes::Renamed(renamed) if *renamed == key => Some((*name, stored(name)?)),
            Becomes::Choice(chosen, number) if *chosen == key && is_on(&stored(name)?) => {
                Some((*name, Value::from(*number)))
            }
            Becomes::Renamed(_) | Becomes::Choice(..) | Becomes::Dropped => None,
        })
}

/// Returns whether a name is retired.
pub(super) fn is_retired_name(name: &str) -> bool {
    RETIRED_NAMES.iter().any(|(retired, _)| *retired == name)
}

/// Returns whether a value is retired.
pub(super) fn is_retired(key: Key, value: &Value) -> bool {
    RETIRED_VALUES
        .iter()
        .any(|(retired, text)| *retired == key && value == text)
}

/// Switches were stored as booleans or as numbers.
fn is_on(value: &Value) -> bool {
    value == &Value::Bool(true) || value.as_u64() == Some(1)
}
