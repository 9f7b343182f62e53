//! `nostrRelays`: relays beside the one of `nostrRelay`.

use alloc::string::String;
use serde_json::{Map, Value, json};

use super::{
    super::{Settings, TEXT_MAX, reject::Rejection, rules},
    texts,
};
use crate::{secret::Endpoint, view::View};

const NAME: &str = "nostrRelays";

pub(super) fn shape(name: &str, value: &Value) -> Result<(), Rejection> {
    texts::shape(name, value)
}

pub(super) fn check(value: &Value) -> Result<(), Rejection> {
    match texts::entries(value).all(rules::is_relay) {
        true => Ok(()),
        false => Err(Rejection::BadScheme(NAME.into())),
    }
}

pub(super) fn apply(value: &Value, settings: &mut Settings) {
    settings.nostr_relays.clear();
    for relay in texts::entries(value).map(Endpoint::new) {
        if !settings.nostr_relays.contains(&relay) {
            settings.nostr_relays.push(relay);
        }
    }
}

pub(super) fn emit(view: &View, document: &mut Map<String, Value>) {
    let relays = view.settings.nostr_relays.iter().map(Endpoint::masked);
    document.insert(NAME.into(), texts::stored(relays));
}

/// Puts the passwords that are stored where a list has the mark of GET for them.
///
/// An entry that was read is known again wherever it stands; of those that read alike the first counts first.
pub(in super::super) fn unmask(value: &mut Value, settings: &Settings) {
    let mut known = settings.nostr_relays.clone();
    for entry in value.as_array_mut().into_iter().flatten() {
        let Some(sent) = entry.as_str().map(Endpoint::new) else {
            continue;
        };
        let same = known
            .iter()
            .position(|stored| stored.masked() == sent.masked());
        let stored = same.map(|place| known.remove(place)).unwrap_or_default();
        *entry = sent.with_password_of(&stored).expose().into();
    }
}

pub(super) fn schema() -> Value {
    let relay = json!({ "type": "string", "maxLength": TEXT_MAX, "pattern": "^(wss?://[^\\u0000-\\u001f\\u007f]*)?$" });
    json!({ "type": "array", "items": relay })
}
