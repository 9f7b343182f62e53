//! What a row demands of a value: first its shape, then the rules of its kind.

use alloc::string::String;
use serde_json::Value;

use super::{
    npub, number,
    reject::{Rejection, TextFault},
    spec::{HexCase, Kind, Spec},
    table::TEXT_MAX,
};
use crate::now::Zone;

/// Checks type, length, control characters and bounds; `name` is the key as it was sent.
pub(super) fn shape(spec: &Spec, name: &str, value: &Value) -> Result<(), Rejection> {
    match &spec.kind {
        Kind::Bool => match value.is_boolean() {
            true => Ok(()),
            false => Err(Rejection::BadType(name.into())),
        },
        Kind::Uint(_) | Kind::Numbered(_) | Kind::Rgb => {
            if !value.is_number() {
                return Err(Rejection::BadType(name.into()));
            }
            let (min, max) = bounds(&spec.kind).unwrap_or((0, u32::MAX));
            match number::bounded(value, min, max) {
                Some(_) => Ok(()),
                None => Err(Rejection::Range(name.into())),
            }
        }
        Kind::UserName(cap) => {
            text(name, value, *cap)?;
            match value.as_str().is_some_and(|user| user.contains(':')) {
                true => Err(Rejection::BadText(name.into(), TextFault::Colon)),
                false => Ok(()),
            }
        }
        Kind::Text(cap) | Kind::Host(cap) | Kind::Password(cap) => text(name, value, *cap),
        Kind::Choice(_)
        | Kind::HexKey(_)
        | Kind::RelayUrl
        | Kind::HttpUrl
        | Kind::BaseUrl
        | Kind::Zone => text(name, value, TEXT_MAX),
        Kind::Screens => Err(Rejection::BadType(name.into())),
        Kind::Composite(composite) => composite.shape(name, value),
    }
}

/// Checks what is particular to the kind of a value whose shape is right.
pub(super) fn check(spec: &Spec, name: &str, value: &Value) -> Result<(), Rejection> {
    let text = value.as_str().unwrap_or_default();
    match &spec.kind {
        Kind::Choice(choices) if !choices.ids().contains(&text) => {
            Err(Rejection::Unknown(name.into()))
        }
        Kind::HexKey(case) if !text.is_empty() && key(text, *case).is_none() => {
            Err(Rejection::BadHex(name.into()))
        }
        Kind::RelayUrl if !is_relay(text) => Err(Rejection::BadScheme(name.into())),
        Kind::HttpUrl | Kind::BaseUrl if !scheme_is(text, &["https://", "http://"]) => {
            Err(Rejection::BadScheme(name.into()))
        }
        Kind::Zone if Zone::named(text).is_none() => Err(Rejection::Unknown(name.into())),
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
        | Kind::Screens
        | Kind::Composite(_) => Ok(()),
    }
}

/// The stored form of a value that passed both checks.
pub(super) fn normal(spec: &Spec, value: &Value) -> Value {
    match &spec.kind {
        Kind::Uint(_) | Kind::Numbered(_) | Kind::Rgb => {
            let (min, max) = bounds(&spec.kind).unwrap_or((0, u32::MAX));
            number::bounded(value, min, max).map_or(Value::Null, Value::from)
        }
        Kind::HexKey(case) => {
            let text = value.as_str().unwrap_or_default();
            key(text, *case).map_or_else(|| value.clone(), Value::from)
        }
        Kind::BaseUrl => Value::from(without_end_slashes(value.as_str().unwrap_or_default())),
        Kind::Bool
        | Kind::Text(_)
        | Kind::UserName(_)
        | Kind::Password(_)
        | Kind::Choice(_)
        | Kind::Host(_)
        | Kind::RelayUrl
        | Kind::HttpUrl
        | Kind::Zone
        | Kind::Screens
        | Kind::Composite(_) => value.clone(),
    }
}

/// Least and greatest value of a numeric kind; none for the others.
pub(super) fn bounds(kind: &Kind) -> Option<(i32, u32)> {
    match kind {
        Kind::Uint(range) => Some((
            i32::try_from(*range.start()).unwrap_or(i32::MAX),
            *range.end(),
        )),
        Kind::Numbered(names) => Some((
            0,
            u32::try_from(names.len())
                .unwrap_or(u32::MAX)
                .saturating_sub(1),
        )),
        Kind::Rgb => Some((0, 0xFF_FF_FF)),
        Kind::Bool
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
        | Kind::Screens
        | Kind::Composite(_) => None,
    }
}

/// Tells whether a text may be stored at all.
pub(super) fn storable(text: &str, cap: usize) -> bool {
    fault(text, cap).is_none()
}

/// Why a text cannot be stored at all; none if it can.
fn fault(text: &str, cap: usize) -> Option<TextFault> {
    if text.len() > cap {
        return Some(TextFault::TooLong(cap));
    }
    let has_control = text.bytes().any(|byte| byte.is_ascii_control());
    has_control.then_some(TextFault::Control)
}

/// Checks that a value is a text that may be stored.
pub(super) fn text(name: &str, value: &Value, cap: usize) -> Result<(), Rejection> {
    let text = value
        .as_str()
        .ok_or_else(|| Rejection::BadType(name.into()))?;
    match fault(text, cap) {
        Some(fault) => Err(Rejection::BadText(name.into(), fault)),
        None => Ok(()),
    }
}

/// Tells whether a text is empty or the URL of a web socket.
pub(super) fn is_relay(text: &str) -> bool {
    scheme_is(text, &["wss://", "ws://"])
}

/// Pattern of a key in any of its forms, or nothing.
pub(super) const KEY_PATTERN: &str = "^([0-9a-fA-F]{64}|npub1[02-9ac-hj-np-z]{58})?$";

/// A key in hex, as it was written or from its other form.
pub(super) fn key(text: &str, case: HexCase) -> Option<String> {
    if hex_key(text, case) {
        return Some(text.into());
    }
    npub::hex_of(text)
}

fn hex_key(text: &str, case: HexCase) -> bool {
    let digit = |byte: u8| match case {
        HexCase::Lower => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
        HexCase::Any => byte.is_ascii_hexdigit(),
    };
    text.len() == 64 && text.bytes().all(digit)
}

fn scheme_is(text: &str, schemes: &[&str]) -> bool {
    text.is_empty() || schemes.iter().any(|scheme| text.starts_with(scheme))
}

fn without_end_slashes(url: &str) -> String {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (scheme, rest),
        None => return url.into(),
    };
    alloc::format!("{scheme}://{}", rest.trim_end_matches('/'))
}
