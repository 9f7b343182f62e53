//! A change of settings as a client sends it: checked whole, then applied whole.
//!
//! The body is walked twice, in its own order: types, lengths and bounds of all known keys first,
//! then the rules of single keys.
//! What a client cannot write is passed over whatever its type, because clients send the whole
//! document back on every save.

use alloc::{string::String, vec::Vec};
use serde_json::{Map, Value};

use super::{
    Key, SPECS, Settings,
    composite::{self, Composite, Context, pool_user, relays},
    legacy,
    reject::Rejection,
    rules,
    spec::{Access, Apply, Kind, Spec},
};
use crate::{limits::PATCH_BODY_MAX, request::Patch, secret::Endpoint, units::Currency};

/// What the checks need to know from outside the table.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// Currencies that can be chosen.
    pub currencies: Vec<Currency>,
    /// Ids of the screens that GET lists, which are those whose feature is on.
    pub screens: Vec<u16>,
}

/// Settings after a change that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patched {
    /// All settings, changed and unchanged.
    pub settings: Settings,
    /// One that takes effect at the next start has changed.
    pub reboot_required: bool,
}

/// A key of the body that can be written.
#[derive(Clone, Copy)]
struct Entry<'a> {
    name: &'a str,
    value: &'a Value,
    target: Target,
}

/// What a key of the body writes.
#[derive(Clone, Copy)]
enum Target {
    Row(&'static Spec),
    Composite(Composite),
    /// Nothing: a switch of the legacy object that is no truth value.
    Misused,
}

/// Reads the body of a PATCH.
///
/// # Errors
/// It is empty, too large, no JSON or no object.
pub fn body(bytes: &[u8]) -> Result<Map<String, Value>, Rejection> {
    if bytes.is_empty() || bytes.len() > PATCH_BODY_MAX {
        return Err(Rejection::BadBody);
    }
    let root = serde_json::from_slice(bytes).map_err(|_| Rejection::Json)?;
    match root {
        Value::Object(members) => Ok(members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(Rejection::NotObject)
        }
    }
}

/// Changes the stored settings by a client's body: all of it, or nothing.
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
    let entries: Vec<Entry<'_>> = body.iter().filter_map(known).collect();
    for entry in &entries {
        match entry.target {
            Target::Row(spec) => rules::shape(spec, entry.name, entry.value)?,
            Target::Composite(composite) => composite.shape(entry.name, entry.value)?,
            Target::Misused => return Err(Rejection::BadType(entry.name.into())),
        }
    }

    let settings = with_rows(stored, &entries, patch)?;
    let context = Context {
        settings: &settings,
        available,
    };
    for entry in &entries {
        match entry.target {
            Target::Row(spec) if kept(stored, spec, entry.value) => {}
            Target::Row(spec) => rules::check(spec, entry.name, entry.value)?,
            Target::Composite(composite) => composite.check(entry.value, &context)?,
            Target::Misused => {}
        }
    }

    let mut patched = settings.clone();
    for entry in &entries {
        if let Target::Composite(composite) = entry.target {
            composite.apply(entry.value, &mut patched, available);
        }
    }
    pool_user::settle(&mut patched, stored);
    if patched.proxy_enabled && patched.proxy_host.is_empty() {
        return Err(Rejection::BadLength("proxyHost".into()));
    }
    if patched.http_auth_enabled && patched.http_auth_pass.is_empty() {
        return Err(Rejection::BadLength("httpAuthPass".into()));
    }

    let reboot_required = SPECS
        .iter()
        .any(|spec| spec.apply == Apply::Reboot && patched.get(spec.key) != stored.get(spec.key));
    Ok(Patched {
        settings: patched,
        reboot_required,
    })
}

/// The passwords of a body that must be hashed before it is applied; those that will be refused are left out.
pub fn passwords_in(body: &Map<String, Value>) -> impl Iterator<Item = (Key, &str)> {
    body.iter().filter_map(|(name, value)| {
        let spec = find(name)?;
        let Kind::Password(cap) = spec.kind else {
            return None;
        };
        let text = value.as_str()?;
        (!text.is_empty() && rules::storable(text, cap)).then_some((spec.key, text))
    })
}

/// Looks up a row that a client can write, by either of its names.
pub(super) fn find(name: &str) -> Option<&'static Spec> {
    SPECS.iter().find(|spec| {
        matches!(spec.access, Access::ReadWrite | Access::WriteOnly)
            && (spec.name == name || spec.alias == Some(name))
    })
}

/// Puts the passwords that are stored where the body has the mark of GET for them.
fn unmask(body: &mut Map<String, Value>, stored: &Settings) {
    for (name, value) in body.iter_mut() {
        let Some(spec) = find(name) else {
            continue;
        };
        if spec.key == Key::nostr_relays {
            relays::unmask(value, stored);
        } else if !spec.kind.is_endpoint() {
            continue;
        } else if let (Some(sent), Some(known)) = (value.as_str(), stored.get(spec.key).as_str()) {
            let meant = Endpoint::new(sent).with_password_of(&Endpoint::new(known));
            *value = meant.expose().into();
        }
    }
}

fn known<'a>((name, value): (&'a String, &'a Value)) -> Option<Entry<'a>> {
    let target = match find(name) {
        Some(spec) => match spec.kind {
            Kind::Composite(composite) => Target::Composite(composite),
            Kind::Bool
            | Kind::Uint(_)
            | Kind::Numbered(_)
            | Kind::Rgb
            | Kind::Text(_)
            | Kind::UserName(_)
            | Kind::Password(_)
            | Kind::Choice(_)
            | Kind::HexKey(_)
            | Kind::Host(_)
            | Kind::RelayUrl
            | Kind::HttpUrl
            | Kind::BaseUrl
            | Kind::Zone
            | Kind::Screens => Target::Row(spec),
        },
        None if legacy::is_switch(name) => Target::Misused,
        None => Target::Composite(
            composite::VIRTUAL
                .iter()
                .find(|row| row.name == name)?
                .composite,
        ),
    };
    Some(Entry {
        name,
        value,
        target,
    })
}

/// The stored settings with all plain rows of the body in them, whose shape is right.
fn with_rows(
    stored: &Settings,
    entries: &[Entry<'_>],
    patch: &Patch,
) -> Result<Settings, Rejection> {
    let mut settings = stored.clone();
    for entry in entries {
        let Target::Row(spec) = entry.target else {
            continue;
        };
        if outvoted(stored, spec, entry, entries) {
            continue;
        }
        if let Kind::Password(_) = spec.kind {
            let hash = match entry.value.as_str() {
                Some("") | None => "",
                // The core cannot hash, and must never keep the clear text.
                Some(_) => match patch.hashes.get(&spec.key) {
                    Some(hash) => hash.phc(),
                    None => return Err(Rejection::BadType(entry.name.into())),
                },
            };
            settings.set(spec.key, &Value::from(hash));
        } else {
            settings.set(spec.key, &rules::normal(spec, entry.value));
        }
    }
    Ok(settings)
}

/// Tells whether the value is the stored one: what is kept is not judged again, such as the id of a dropped pool.
fn kept(stored: &Settings, spec: &Spec, value: &Value) -> bool {
    stored.get(spec.key) == rules::normal(spec, value)
}

/// Tells whether the setting's other name has precedence in this body.
///
/// A client that knows one of two names changes that one and sends the other back as it was read;
/// so the value that differs from the stored one counts, and the newer name if both differ.
fn outvoted(stored: &Settings, spec: &Spec, entry: &Entry<'_>, entries: &[Entry<'_>]) -> bool {
    let twin = entries.iter().find(|other| {
        other.name != entry.name && matches!(other.target, Target::Row(row) if row.key == spec.key)
    });
    twin.is_some_and(|twin| {
        kept(stored, spec, entry.value)
            || (!kept(stored, spec, twin.value) && entry.name != spec.name)
    })
}
