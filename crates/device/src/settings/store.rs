//! The stored form of the settings; reading it never fails.

use alloc::{string::String, vec::Vec};
use core::fmt;
use serde_json::{Map, Value};

use super::{Key, SPECS, Settings, migrations, spec::Spec};

/// Version of the stored form.
pub const VERSION: u32 = 1;

/// Name under which the version is stored.
pub(super) const VERSION_NAME: &str = "version";

/// A finding about the stored form, for the log; never with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Name of the setting.
    pub name: &'static str,
    /// What was found.
    pub what: Finding,
}

/// What was found in place of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Nothing; the default is used.
    Missing,
    /// An invalid value; the default is used.
    Unusable,
    /// A value that is no longer offered; the default is used.
    Retired,
    /// The value of an older name, which was migrated.
    Renamed(&'static str),
    /// The version is newer than this program; what can be read is read.
    Newer,
    /// A password without the server it was entered for; it is cleared.
    Moved,
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name;
        match self.what {
            Finding::Missing => write!(formatter, "{name} was not stored, the default is used"),
            Finding::Unusable => write!(
                formatter,
                "{name} had an unusable value, the default is used"
            ),
            Finding::Retired => {
                write!(formatter, "{name} had a retired value, the default is used")
            }
            Finding::Renamed(from) => write!(formatter, "{name} was taken over from {from}"),
            Finding::Moved => write!(
                formatter,
                "{name} is cleared, because it belongs to another server: enter it again"
            ),
            Finding::Newer => write!(
                formatter,
                "{name} of the stored settings is newer than this device"
            ),
        }
    }
}

/// The stored form: secrets in the clear, passwords as hashes.
pub fn to_json(settings: &Settings) -> Map<String, Value> {
    let mut stored = Map::new();
    stored.insert(VERSION_NAME.into(), VERSION.into());
    for spec in SPECS {
        stored.insert(spec.name.into(), settings.get(spec.key));
    }
    stored
}

/// Reads the stored form; missing or invalid values have their default and a note.
pub fn from_json(stored: &Map<String, Value>) -> (Settings, Vec<Note>) {
    let mut settings = Settings::default();
    let mut notes = Vec::new();
    if stored
        .get(VERSION_NAME)
        .and_then(Value::as_u64)
        .is_some_and(|version| version > u64::from(VERSION))
    {
        notes.push(Note {
            name: VERSION_NAME,
            what: Finding::Newer,
        });
    }
    for spec in SPECS {
        if let Some(what) = load(spec, stored, &mut settings) {
            notes.push(Note {
                name: spec.name,
                what,
            });
        }
    }
    let useless = [
        (
            &mut settings.proxy_enabled,
            settings.proxy_host.is_empty(),
            Key::proxy_enabled,
        ),
        (
            &mut settings.mqtt_enabled,
            settings.mqtt_host.is_empty(),
            Key::mqtt_enabled,
        ),
    ];
    for (switch, is_empty, key) in useless {
        if *switch && is_empty {
            *switch = false;
            notes.push(Note {
                name: key.name(),
                what: Finding::Unusable,
            });
        }
    }
    (settings, notes)
}

/// Reads one setting; returns a finding unless all is well.
fn load(
    spec: &'static Spec,
    stored: &Map<String, Value>,
    settings: &mut Settings,
) -> Option<Finding> {
    let Some((name, value)) = value_of(spec, stored) else {
        let Some(value) = migrations::worth_in_older(spec.key, stored) else {
            return Some(Finding::Missing);
        };
        settings.set(spec.key, value);
        return None;
    };
    if migrations::is_retired(spec.key, &value) {
        return Some(Finding::Retired);
    }
    let Some(value) = spec.kind.restored(&value) else {
        return Some(Finding::Unusable);
    };
    if !settings.set(spec.key, &value) {
        return Some(Finding::Unusable);
    }
    (name != spec.name).then_some(Finding::Renamed(name))
}

/// The stored form of one setting and the name it is stored under. `None` if it is not stored.
pub(super) fn value_of(
    spec: &'static Spec,
    stored: &Map<String, Value>,
) -> Option<(&'static str, Value)> {
    let named = |name: &'static str| Some((name, stored.get(name)?.clone()));
    migrations::replacement(spec.key, stored)
        .map(|number| (spec.name, number))
        .or_else(|| named(spec.name))
        .or_else(|| named(spec.alias?))
        .or_else(|| migrations::value_of(spec.key, |name| stored.get(name).cloned()))
}
