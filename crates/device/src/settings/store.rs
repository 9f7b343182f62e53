//! The persisted form of the settings; whatever is found on disk, settings come out.

use alloc::{string::String, vec::Vec};
use core::fmt;
use serde_json::{Map, Value};

use super::{
    Key, SPECS, Settings,
    composite::{Composite, Context, currencies, tx_power},
    migrations,
    patch::Catalogue,
    rules,
    spec::{Kind, Spec},
};
use crate::screens::catalog;

/// Version of the persisted form.
pub const VERSION: u32 = 1;

/// Name under which the version is stored.
const VERSION_NAME: &str = "version";

/// Longest password hash that is read back, bytes.
const HASH_MAX: usize = 512;

/// Something about the persisted form that an operator may want to know; never a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Name of the setting.
    pub name: &'static str,
    /// What was found.
    pub what: Finding,
}

/// What was found where a setting should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Nothing; the default counts.
    Missing,
    /// A value that the setting cannot have; the default counts.
    Unusable,
    /// A value that is offered no more; the default counts.
    Retired,
    /// The value of an older name, which was taken over.
    Renamed(&'static str),
    /// A version that is newer than this device; what can be read is read.
    Newer,
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
            Finding::Newer => write!(
                formatter,
                "{name} of the stored settings is newer than this device"
            ),
        }
    }
}

/// The persisted form: secrets in the clear, passwords as hashes.
pub fn to_json(settings: &Settings) -> Map<String, Value> {
    let mut stored = Map::new();
    stored.insert(VERSION_NAME.into(), VERSION.into());
    for spec in SPECS {
        stored.insert(spec.name.into(), settings.get(spec.key));
    }
    stored
}

/// Reads the persisted form; what is missing or unusable has its default, and a note.
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
    if settings.proxy_enabled && settings.proxy_host.is_empty() {
        settings.proxy_enabled = false;
        notes.push(Note {
            name: "proxyEnabled",
            what: Finding::Unusable,
        });
    }
    (settings, notes)
}

/// Reads one setting; says what was found unless all is well.
fn load(spec: &Spec, stored: &Map<String, Value>, settings: &mut Settings) -> Option<Finding> {
    let older = || migrations::value_of(spec.key, |name| stored.get(name).cloned());
    let by_alias = || {
        spec.alias
            .and_then(|alias| Some((alias, stored.get(alias)?.clone())))
    };
    let (value, from) = match stored.get(spec.name) {
        Some(value) => (value.clone(), None),
        None => match by_alias().or_else(older) {
            Some((name, value)) => (value, Some(name)),
            None => return Some(Finding::Missing),
        },
    };
    if migrations::is_retired(spec.key, &value) {
        return Some(Finding::Retired);
    }
    let Some(value) = usable(spec, &value) else {
        return Some(Finding::Unusable);
    };
    if !settings.set(spec.key, &value) {
        return Some(Finding::Unusable);
    }
    from.map(Finding::Renamed)
}

/// The value in the form a setting can take; none if the setting cannot have it.
fn usable(spec: &Spec, value: &Value) -> Option<Value> {
    match (spec.key, &spec.kind) {
        (Key::act_currencies, _) => {
            let mut list = Settings::default();
            list.set(spec.key, value).then_some(())?;
            list.act_currencies = currencies::distinct(list.act_currencies.into_iter());
            Some(list.get(spec.key))
        }
        (Key::screen_order | Key::screens_hidden, _) => Some(known_screens(value.as_array()?)),
        (Key::tx_power, _) => {
            let in_range = super::number::bounded(value, tx_power::MIN, tx_power::MAX).is_some();
            (value.is_null() || in_range).then(|| value.clone())
        }
        (_, Kind::Composite(list @ (Composite::Relays | Composite::ZapKeys))) => {
            let mut read = Settings::default();
            let context = Context {
                settings: &Settings::default(),
                available: &Catalogue::default(),
            };
            list.shape(spec.name, value).ok()?;
            list.check(value, &context).ok()?;
            list.apply(value, &mut read, context.available);
            Some(read.get(spec.key))
        }
        (_, Kind::Password(_)) => rules::storable(value.as_str()?, HASH_MAX).then(|| value.clone()),
        // The id of a dropped pool is tolerated: its screens say that it is offline.
        (Key::mining_pool_name, _) => rules::shape(spec, spec.name, value)
            .is_ok()
            .then(|| value.clone()),
        _ => {
            rules::shape(spec, spec.name, value).ok()?;
            rules::check(spec, spec.name, value).ok()?;
            Some(rules::normal(spec, value))
        }
    }
}

fn known_screens(ids: &[Value]) -> Value {
    let mut known: Vec<u16> = Vec::new();
    for id in ids.iter().filter_map(|id| u16::try_from(id.as_u64()?).ok()) {
        if catalog::find(id).is_some() && !known.contains(&id) {
            known.push(id);
        }
    }
    Value::from(known)
}
