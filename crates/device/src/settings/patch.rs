//! Changes of settings by clients: checked as a whole, then applied as a whole.
//!
//! The body is walked twice, in its own order: first types, lengths and bounds of all known keys, then the rules of
//! single keys. Read-only keys are ignored whatever their type, because clients send the whole document back on every
//! save.

use alloc::{string::String, vec::Vec};
use serde_json::{Map, Value};

use super::{
    Key, SPECS, Settings, VIRTUAL,
    kinds::{CheckContext, Composite, SettingKind, board_screens, text},
    legacy, password_binding,
    reject::Rejection,
    spec::{Access, Apply, Spec},
};
use crate::{
    json,
    limits::PATCH_BODY_MAX,
    request::{Changed, Patch},
};

pub use super::kinds::Catalogue;

/// Settings after an accepted change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patched {
    /// All settings, changed and unchanged.
    pub settings: Settings,
    /// Notes for the client.
    pub changed: Changed,
}

/// A writable key of the body.
struct Assignment<'a> {
    name: &'a str,
    value: &'a Value,
    kind: &'static dyn SettingKind,
    target: PatchTarget,
}

/// What a key of a patch sets.
enum PatchTarget {
    /// The row of that name.
    Row(&'static Spec),
    /// A composite kind.
    Composite(&'static dyn Composite),
}

/// Parses the body of a PATCH.
///
/// # Errors
/// It is empty, too large, not JSON or not an object.
pub fn body(bytes: &[u8]) -> Result<Map<String, Value>, Rejection> {
    if bytes.is_empty() || bytes.len() > PATCH_BODY_MAX {
        return Err(Rejection::BadBody);
    }
    match json::parse(bytes).ok_or(Rejection::Json)? {
        Value::Object(members) => Ok(members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(Rejection::NotObject)
        }
    }
}

/// Applies a client's body to the stored settings: all of it or nothing.
///
/// # Errors
/// The first thing that is wrong with the body.
pub fn apply(
    stored: &Settings,
    patch: &Patch,
    available: &Catalogue,
) -> Result<Patched, Rejection> {
    let mut body = legacy::to_patch(&patch.body);
    unmask(&mut body, stored);
    let mut entries: Vec<Assignment<'_>> = Vec::new();
    for (name, value) in &body {
        entries.extend(known(name, value)?);
    }

    let settings = with_rows(stored, &entries, patch)?;
    let context = CheckContext {
        settings: &settings,
        available,
    };
    for entry in &entries {
        match entry.target {
            PatchTarget::Row(spec) if is_unchanged(stored, spec, entry.value) => {}
            PatchTarget::Row(_) | PatchTarget::Composite(_) => {
                entry.kind.check(entry.name, entry.value, &context)?;
            }
        }
    }

    let mut patched = settings.clone();
    for entry in &entries {
        if let PatchTarget::Composite(composite) = entry.target {
            composite.apply(entry.value, &mut patched, available);
        }
    }
    // It depends on the currencies of the same body.
    if patched.board_screens != stored.board_screens {
        board_screens::check(&patched)?;
    }
    let is_sent = |key: Key| body.contains_key(key.name());
    let cleared = password_binding::clear_passwords(&mut patched, stored, is_sent);
    if let Some(key) = lacking(&patched).next() {
        return Err(Rejection::BadLength(key.name().into()));
    }

    let reboot_required = after_restart(&patched, stored).next().is_some();
    Ok(Patched {
        settings: patched,
        changed: Changed {
            reboot_required,
            cleared,
        },
    })
}

/// Empty settings that other settings require.
pub(super) fn lacking(settings: &Settings) -> impl Iterator<Item = Key> + use<> {
    let rules = [
        (
            settings.proxy_enabled,
            settings.proxy_host.is_empty(),
            Key::proxy_host,
        ),
        (
            settings.mqtt_enabled,
            settings.mqtt_host.is_empty(),
            Key::mqtt_host,
        ),
        (
            settings.http_auth_enabled,
            settings.http_auth_pass.is_empty(),
            Key::http_auth_pass,
        ),
    ];
    let lacking = |(is_on, is_empty, key): (bool, bool, Key)| (is_on && is_empty).then_some(key);
    rules.into_iter().filter_map(lacking)
}

/// Names of the settings in which two differ and that take effect at a restart.
pub fn after_restart(one: &Settings, other: &Settings) -> impl Iterator<Item = &'static str> {
    SPECS
        .iter()
        .filter(|spec| spec.apply == Apply::Reboot && one.get(spec.key) != other.get(spec.key))
        .map(|spec| spec.name)
}

/// The passwords of a body that must be hashed before it is applied, except those that will be refused.
pub fn passwords_in(body: &Map<String, Value>) -> impl Iterator<Item = (Key, &str)> {
    body.iter().filter_map(|(name, value)| {
        let spec = find(name)?;
        let cap = spec.kind.password()?;
        let text = value.as_str()?;
        (!text.is_empty() && text::storable(text, cap)).then_some((spec.key, text))
    })
}

/// Finds a writable row by its name or alias.
pub(super) fn find(name: &str) -> Option<&'static Spec> {
    SPECS.iter().find(|spec| {
        matches!(spec.access, Access::ReadWrite | Access::WriteOnly)
            && (spec.name == name || spec.alias == Some(name))
    })
}

/// Replaces the placeholders of GET in a body by the stored passwords.
fn unmask(body: &mut Map<String, Value>, stored: &Settings) {
    for (name, value) in body.iter_mut() {
        if let Some(spec) = find(name) {
            spec.kind.unmask(value, &stored.get(spec.key));
        }
    }
}

/// The target of a key after the check of its shape. `None` if no client can write it.
fn known<'a>(name: &'a str, value: &'a Value) -> Result<Option<Assignment<'a>>, Rejection> {
    legacy::check_colour(name, value)?;
    let row = find(name);
    let virtual_row = || VIRTUAL.iter().find(|row| row.name == name);
    let kind = match row.map(|row| row.kind) {
        Some(kind) => kind,
        // A switch of the legacy object that is not a boolean.
        None if legacy::is_switch(name) => return Err(Rejection::BadType(name.into())),
        None => match virtual_row() {
            Some(row) => row.kind,
            None => return Ok(None),
        },
    };
    kind.shape(name, value)?;
    let target = match (kind.composite(), row) {
        (Some(composite), _) => PatchTarget::Composite(composite),
        (None, Some(row)) => PatchTarget::Row(row),
        (None, None) => return Ok(None),
    };
    Ok(Some(Assignment {
        name,
        value,
        kind,
        target,
    }))
}

/// The stored settings with all plain rows of the body applied, after the check of their shape.
fn with_rows(
    stored: &Settings,
    entries: &[Assignment<'_>],
    patch: &Patch,
) -> Result<Settings, Rejection> {
    let mut settings = stored.clone();
    for entry in entries {
        let PatchTarget::Row(spec) = entry.target else {
            continue;
        };
        if outvoted(stored, spec, entry, entries) {
            continue;
        }
        if spec.kind.password().is_some() {
            let hash = match entry.value.as_str() {
                Some("") | None => "",
                // This crate cannot hash, and must never keep the clear text.
                Some(_) => match patch.hashes.get(&spec.key) {
                    Some(hash) => hash.phc(),
                    None => return Err(Rejection::BadType(entry.name.into())),
                },
            };
            settings.set(spec.key, &Value::from(hash));
        } else {
            settings.set(spec.key, &spec.kind.normal(entry.value));
        }
    }
    Ok(settings)
}

/// Returns whether the value is the stored one: an unchanged value is not checked again, such as the id of a dropped
/// pool.
fn is_unchanged(stored: &Settings, spec: &Spec, value: &Value) -> bool {
    stored.get(spec.key) == spec.kind.normal(value)
}

/// The current name of a setting with two names, such as `explorerInstance` for `mempoolInstance`; other names
/// unchanged.
pub fn canonical(name: &str) -> &str {
    if name == "timeBasedEnabled" {
        return "dndTimeEnabled";
    }
    let row = SPECS.iter().find(|spec| spec.alias == Some(name));
    row.map_or(name, |spec| spec.name)
}

/// Returns whether the setting's other name has precedence in this body.
///
/// A client that knows one of two names changes that one and sends the other back unchanged. So the value that differs
/// from the stored one counts, and the newer name if both differ.
fn outvoted(
    stored: &Settings,
    spec: &Spec,
    entry: &Assignment<'_>,
    entries: &[Assignment<'_>],
) -> bool {
    let twin = entries.iter().find(|other| {
        other.name != entry.name
            && matches!(other.target, PatchTarget::Row(row) if row.key == spec.key)
    });
    twin.is_some_and(|twin| {
        is_unchanged(stored, spec, entry.value)
            || (!is_unchanged(stored, spec, twin.value) && entry.name != spec.name)
    })
}
