//! Export and import of settings: which parts are secret, and what importing those of another clock changes.
//!
//! Uses the stored form, so that nothing is lost.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use serde_json::{Map, Value};

use super::{
    Key, SPECS, Settings,
    kinds::{Catalogue, CheckContext, pool_user},
    migrations, password_binding,
    patch::{self, after_restart, lacking},
    reject::Rejection,
    spec::{Access, Spec},
    store::{self, Finding, Note},
};
use crate::request::Changed;

/// Settings that are not exported.
const NOT_EXPORTED: &[Key] = &[Key::wifi_configured, Key::displays];

/// Result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// All settings after the import; meaningless if a value is refused.
    pub settings: Settings,
    /// The differences, in the order of the table.
    pub changes: Vec<SettingChange>,
    /// Unknown names.
    pub unknown: Vec<String>,
    /// Settings that are absent and stay unchanged.
    pub missing: Vec<&'static str>,
    /// Values that were changed on import.
    pub notes: Vec<Note>,
    /// Why the import is refused; empty if it is accepted.
    pub refused: Vec<Rejection>,
    /// Notes for the client.
    pub changed: Changed,
}

/// One setting that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingChange {
    /// Its name.
    pub name: &'static str,
    /// Old and new value as GET shows them. `None` if they are secret.
    pub values: Option<(Value, Value)>,
}

/// The exported settings with secrets: passwords as hashes.
pub fn with_secrets(settings: &Settings) -> Map<String, Value> {
    let exported = SPECS.iter().filter(is_exported);
    exported
        .map(|spec| (spec.name.to_string(), settings.get(spec.key)))
        .collect()
}

/// The exported settings without secrets; passwords in addresses are hidden.
pub fn without_secrets(settings: &Settings) -> Map<String, Value> {
    let exported = SPECS.iter().filter(is_exported);
    exported
        .filter(|spec| !is_secret(spec, settings))
        .map(|spec| {
            let open = spec.kind.open(&settings.get(spec.key));
            (spec.name.to_string(), open)
        })
        .collect()
}

/// Name of the first value of a change that is or contains a secret. `None` if all of it is public.
pub fn secret_in<'a>(body: &'a Map<String, Value>, stored: &Settings) -> Option<&'a str> {
    let mut settings = stored.clone();
    // Whether a user is a secret depends on the pool.
    let pool = body.get(Key::mining_pool_name.name());
    if let Some(pool) = pool.and_then(Value::as_str) {
        settings.mining_pool_name = pool.into();
    }
    let is_secret = |(name, value): &(&String, &Value)| {
        patch::find(name).is_some_and(|spec| {
            let is_secret = is_secret(spec, &settings) || spec.kind.open(value) != **value;
            is_secret && value.as_str() != Some("")
        })
    };
    body.iter().find(is_secret).map(|(name, _)| name.as_str())
}

/// What importing settings in their stored form would change: all of it or nothing.
///
/// A hidden password keeps the stored one.
pub fn import(stored: &Settings, body: &Map<String, Value>) -> Import {
    let mut import = Import {
        settings: stored.clone(),
        changes: Vec::new(),
        unknown: unknown(body),
        missing: Vec::new(),
        notes: Vec::new(),
        refused: Vec::new(),
        changed: Changed::default(),
    };
    for spec in SPECS.iter().filter(is_exported) {
        import.take(spec, stored, body);
    }
    let is_given = |key: Key| store::value_of(key.spec(), body).is_some();
    let settings = &mut import.settings;
    if !is_given(Key::mining_pool_user) {
        // For an unchanged user the file cannot change whether it is a key.
        settings.pool_user_is_key = stored.pool_user_is_key;
    }
    let is_key = settings.pool_user_is_key;
    import.changed.cleared = password_binding::clear_passwords(settings, stored, is_given);
    if is_given(Key::pool_user_is_key) {
        // A name entered for another pool stays a name, and a key stays a key.
        settings.pool_user_is_key = is_key && !settings.mining_pool_user.is_empty();
    }
    let lacking = lacking(settings).map(|key| Rejection::BadLength(key.name().into()));
    import.refused.extend(lacking);
    import.changes = changes(stored, &import.settings);
    let cleared = import.changed.cleared.iter();
    let notes = cleared.map(|name| Note {
        name,
        what: Finding::Moved,
    });
    import.notes.extend(notes);
    import.changed.reboot_required = after_restart(&import.settings, stored).next().is_some();
    import
}

impl Import {
    /// Imports one setting.
    fn take(&mut self, spec: &'static Spec, stored: &Settings, body: &Map<String, Value>) {
        let note = |what| Note {
            name: spec.name,
            what,
        };
        let Some((name, mut value)) = store::value_of(spec, body) else {
            if spec.access != Access::Internal {
                self.missing.push(spec.name);
            }
            return;
        };
        if name != spec.name {
            self.notes.push(note(Finding::Renamed(name)));
        }
        if migrations::is_retired(spec.key, &value) {
            self.notes.push(note(Finding::Retired));
            self.settings.copy(spec.key, &Settings::default());
            return;
        }
        let before = stored.get(spec.key);
        if value == before {
            return;
        }
        spec.kind.unmask(&mut value, &before);
        let restored = spec.kind.restored(&value);
        let is_taken = restored.is_some_and(|value| self.settings.set(spec.key, &value));
        if !is_taken {
            self.refused.push(refusal(spec, &value));
        }
    }
}

/// Returns whether a setting is exported.
fn is_exported(spec: &&Spec) -> bool {
    !NOT_EXPORTED.contains(&spec.key)
}

/// Returns whether a setting is secret as a whole.
fn is_secret(spec: &Spec, settings: &Settings) -> bool {
    match spec.access {
        Access::WriteOnly => true,
        Access::ReadWrite | Access::ReadOnly | Access::Internal => {
            let of_the_user = [Key::mining_pool_user, Key::pool_user_is_key];
            of_the_user.contains(&spec.key) && pool_user::is_secret(settings)
        }
    }
}

/// Names that no version has used.
fn unknown(body: &Map<String, Value>) -> Vec<String> {
    let is_known = |name: &str| {
        let mut specs = SPECS.iter();
        name == store::VERSION_NAME
            || migrations::is_retired_name(name)
            || specs.any(|spec| spec.name == name || spec.alias == Some(name))
    };
    let names = body.keys().filter(|name| !is_known(name));
    names.cloned().collect()
}

/// Why a value is refused.
fn refusal(spec: &Spec, value: &Value) -> Rejection {
    let context = CheckContext {
        settings: &Settings::default(),
        available: &Catalogue::default(),
    };
    let passed = spec
        .kind
        .shape(spec.name, value)
        .and_then(|()| spec.kind.check(spec.name, value, &context));
    passed
        .err()
        .unwrap_or_else(|| Rejection::BadType(spec.name.into()))
}

fn changes(before: &Settings, after: &Settings) -> Vec<SettingChange> {
    let differs = |spec: &&Spec| before.get(spec.key) != after.get(spec.key);
    // Not entered by the owner.
    let shown = |spec: &&Spec| spec.key != Key::pool_user_is_key;
    let change = |spec: &'static Spec| {
        let values = |settings: &Settings| spec.kind.shown(&settings.get(spec.key));
        let is_secret = is_secret(spec, before) || is_secret(spec, after);
        SettingChange {
            name: spec.name,
            values: (!is_secret && values(before) != values(after))
                .then(|| (values(before), values(after))),
        }
    };
    let specs = SPECS.iter().filter(differs).filter(shown);
    specs.map(change).collect()
}
