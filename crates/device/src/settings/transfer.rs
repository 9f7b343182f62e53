//! Export and import of settings: which parts are secret, and what importing those of another clock changes.
//!
//! Uses the stored form, so that nothing is lost. Secrets are separate from the other settings.

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
const NOT_EXPORTED: &[Key] = &[Key::wifi_configured, Key::guarded_secrets, Key::displays];

/// Exported settings in their stored form, with separate secrets.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct ExportedSettings {
    /// The public part; passwords in addresses are hidden.
    pub open: Map<String, Value>,
    /// The secret part, passwords as hashes; it takes precedence over the public part.
    pub secret: Map<String, Value>,
}

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

/// Splits settings into public and secret parts.
pub fn split_secrets(settings: &Settings) -> ExportedSettings {
    let mut split = ExportedSettings::default();
    for spec in SPECS.iter().filter(is_exported) {
        let stored = settings.get(spec.key);
        let name = || spec.name.to_string();
        if is_secret(spec, settings) {
            split.secret.insert(name(), stored);
            continue;
        }
        let open = spec.kind.open(&stored);
        if open != stored {
            split.secret.insert(name(), stored);
        }
        split.open.insert(name(), open);
    }
    split
}

impl ExportedSettings {
    /// Merges both parts.
    pub fn merged(self) -> Map<String, Value> {
        let mut all = self.open;
        all.extend(self.secret);
        all
    }
}

/// Records settings with secrets if a signed-in client entered all of these secrets.
///
/// Only these secrets may be exported. Otherwise a client of an open clock could set a password and export earlier
/// secrets. The secrets themselves are compared, because a client can change the rest of an address without knowing its
/// password.
pub fn record_guarded(settings: &mut Settings, before: &Settings, is_guarded: bool) {
    let mut guarded = guarded(before);
    for spec in SPECS.iter().filter(is_exported) {
        let (old, new) = (secrets_in(spec, before), secrets_in(spec, settings));
        let has_known = new.iter().any(|secret| old.contains(secret));
        let has_other = new.iter().any(|secret| !old.contains(secret));
        let was_guarded = guarded.contains(&spec.name);
        let known_fit = was_guarded || !has_known;
        let other_fit = is_guarded || !has_other;
        guarded.retain(|name| *name != spec.name);
        if !new.is_empty() && known_fit && other_fit {
            guarded.push(spec.name);
        }
    }
    settings.guarded_secrets = guarded.join(",");
}

/// Names of the secrets that must not be exported, because the client that set the password may not be the one that
/// entered them.
pub fn unguarded(settings: &Settings) -> Vec<&'static str> {
    let guarded = guarded(settings);
    // The client has just entered the password with this hash.
    let asked_for = [Key::http_auth_pass];
    SPECS
        .iter()
        .filter(is_exported)
        .filter(|spec| !secrets_in(spec, settings).is_empty() && !asked_for.contains(&spec.key))
        .map(|spec| spec.name)
        .filter(|name| !guarded.contains(name))
        .collect()
}

/// Names of the secrets that were entered by a client that had signed in.
fn guarded(settings: &Settings) -> Vec<&'static str> {
    let names = settings.guarded_secrets.split(',');
    names
        .filter_map(|name| Some(SPECS.iter().find(|spec| spec.name == name)?.name))
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

/// The secrets in a setting: all of its text, or the passwords in its addresses.
fn secrets_in(spec: &Spec, settings: &Settings) -> Vec<String> {
    let stored = settings.get(spec.key);
    if !is_secret(spec, settings) {
        return spec.kind.secrets(&stored);
    }
    let text = stored.as_str().filter(|text| !text.is_empty());
    text.map(String::from).into_iter().collect()
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
    // These are not entered by the owner.
    let shown = |spec: &&Spec| ![Key::pool_user_is_key, Key::guarded_secrets].contains(&spec.key);
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
