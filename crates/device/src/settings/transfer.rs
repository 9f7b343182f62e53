//! Settings that go from clock to clock: what of them is secret, and what taking over those of another clock changes.
//!
//! They travel in their persisted form, under their own names, so that nothing of them is lost on the way; what is
//! secret travels apart from the rest.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use serde_json::{Map, Value};

use super::{
    Key, SPECS, Settings, bound,
    kinds::{Catalogue, CheckContext, pool_user},
    migrations,
    patch::{self, after_restart, lacking},
    reject::Rejection,
    spec::{Access, Spec},
    store::{self, Finding, Note},
};
use crate::request::Changed;

/// What belongs to the machine and stays there.
const OF_THE_MACHINE: &[Key] = &[Key::wifi_configured, Key::guarded_secrets];

/// Settings in their persisted form, with the secrets apart.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Apart {
    /// What anybody may read; a password in an address is hidden.
    pub open: Map<String, Value>,
    /// What is secret, passwords as hashes; it counts before what is open under the same name.
    pub secret: Map<String, Value>,
}

/// What taking over settings comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// All settings after it; of no use where something is refused.
    pub settings: Settings,
    /// What differs, in the order of the table.
    pub changes: Vec<SettingChange>,
    /// Names that no setting has.
    pub unknown: Vec<String>,
    /// Settings that nothing is said of, which stay as they are.
    pub missing: Vec<&'static str>,
    /// What was understood otherwise than it was written.
    pub notes: Vec<Note>,
    /// Why nothing can be taken over; empty if it can.
    pub refused: Vec<Rejection>,
    /// What the client should know of it.
    pub changed: Changed,
}

/// One setting that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingChange {
    /// Its name.
    pub name: &'static str,
    /// What it was and what it becomes, as GET tells them; none where that is a secret.
    pub told: Option<(Value, Value)>,
}

/// Takes settings apart.
pub fn apart(settings: &Settings) -> Apart {
    let mut apart = Apart::default();
    for spec in SPECS.iter().filter(travels) {
        let stored = settings.get(spec.key);
        let name = || spec.name.to_string();
        if is_secret(spec, settings) {
            apart.secret.insert(name(), stored);
            continue;
        }
        let open = spec.kind.open(&stored);
        if open != stored {
            apart.secret.insert(name(), stored);
        }
        apart.open.insert(name(), open);
    }
    apart
}

impl Apart {
    /// All that is said of each setting, under one name each.
    pub fn together(self) -> Map<String, Value> {
        let mut all = self.open;
        all.extend(self.secret);
        all
    }
}

/// Records which settings hold only secrets that were entered by a client that had signed in.
///
/// Only those may leave by the control interface: otherwise a client that finds a clock open could set a password and export
/// what was entered before. The secrets themselves are compared, because the rest of an address can be changed without
/// knowing its password.
pub fn note_guarded(settings: &mut Settings, before: &Settings, is_guarded: bool) {
    let mut guarded = guarded(before);
    for spec in SPECS.iter().filter(travels) {
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

/// Names of the secrets that must not leave by the control interface, because somebody may have entered the password
/// who did not enter them.
pub fn unguarded(settings: &Settings) -> Vec<&'static str> {
    let guarded = guarded(settings);
    // Its hash is that of the password that was asked for.
    let asked_for = [Key::http_auth_pass];
    SPECS
        .iter()
        .filter(travels)
        .filter(|spec| !secrets_in(spec, settings).is_empty() && !asked_for.contains(&spec.key))
        .map(|spec| spec.name)
        .filter(|name| !guarded.contains(name))
        .collect()
}

/// Names of the secrets that were entered by somebody who had signed in.
fn guarded(settings: &Settings) -> Vec<&'static str> {
    let names = settings.guarded_secrets.split(',');
    names
        .filter_map(|name| Some(SPECS.iter().find(|spec| spec.name == name)?.name))
        .collect()
}

/// Names the first value of a change that is a secret, or holds one; none if anybody may read all of it.
pub fn secret_in<'a>(body: &'a Map<String, Value>, stored: &Settings) -> Option<&'a str> {
    let mut settings = stored.clone();
    // Whether a user of a pool is a secret is for the pool to say.
    let pool = body.get(Key::mining_pool_name.name());
    if let Some(pool) = pool.and_then(Value::as_str) {
        settings.mining_pool_name = pool.into();
    }
    let tells = |(name, value): &(&String, &Value)| {
        patch::find(name).is_some_and(|spec| {
            let is_secret = is_secret(spec, &settings) || spec.kind.open(value) != **value;
            is_secret && value.as_str() != Some("")
        })
    };
    body.iter().find(tells).map(|(name, _)| name.as_str())
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

/// Tells what taking over settings in their persisted form would change: all of it, or nothing.
///
/// What hides a password keeps the one that is stored.
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
    for spec in SPECS.iter().filter(travels) {
        import.take(spec, stored, body);
    }
    let is_given = |key: Key| store::value_of(key.spec(), body).is_some();
    let settings = &mut import.settings;
    if !is_given(Key::mining_pool_user) {
        // What is stored is what it was, whatever is said of what it is.
        settings.pool_user_is_key = stored.pool_user_is_key;
    }
    let is_key = settings.pool_user_is_key;
    import.changed.cleared = bound::clear_moved(settings, stored, is_given);
    if is_given(Key::pool_user_is_key) {
        // A name that was entered for another pool stays a name, and a key stays a key.
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
    /// Takes over one setting.
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

/// Tells whether a setting goes from clock to clock.
fn travels(spec: &&Spec) -> bool {
    !OF_THE_MACHINE.contains(&spec.key)
}

/// Tells whether nothing of a setting may be told.
fn is_secret(spec: &Spec, settings: &Settings) -> bool {
    match spec.access {
        Access::WriteOnly => true,
        Access::ReadWrite | Access::ReadOnly | Access::Internal => {
            let of_the_user = [Key::mining_pool_user, Key::pool_user_is_key];
            of_the_user.contains(&spec.key) && pool_user::is_secret(settings)
        }
    }
}

/// Names that no setting has, nor ever had.
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

/// Why a value cannot be had.
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
    // Nobody chose these.
    let shown = |spec: &&Spec| ![Key::pool_user_is_key, Key::guarded_secrets].contains(&spec.key);
    let change = |spec: &'static Spec| {
        let told = |settings: &Settings| spec.kind.told(&settings.get(spec.key));
        let is_secret = is_secret(spec, before) || is_secret(spec, after);
        SettingChange {
            name: spec.name,
            told: (!is_secret && told(before) != told(after)).then(|| (told(before), told(after))),
        }
    };
    let specs = SPECS.iter().filter(differs).filter(shown);
    specs.map(change).collect()
}
