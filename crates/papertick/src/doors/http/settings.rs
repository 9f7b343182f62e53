//! Reading and changing the settings.

use std::{collections::BTreeMap, fmt::Write};

use bytes::Bytes;
use device::{
    limits::PATCH_BODY_MAX,
    request::{Patch, Request},
    secret::{PasswordHash, Secret},
    settings::{
        Key, Settings,
        emit::{self, Identity},
        patch::passwords_in,
        reject::Rejection,
        store,
    },
    view::View,
};
use http::{HeaderValue, StatusCode};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{
    answer::{self, Response},
    call::{Call, Received},
    control::{ask, rejected},
    etag, parse,
};

/// Changes that may be under way at the same time; one that insists on a version waits for all others.
pub(crate) const CHANGES_MAX: u32 = 64;

/// The settings, ready to be sent.
#[derive(Debug, Clone)]
pub(crate) struct SettingsDocument {
    text: Bytes,
    tag: HeaderValue,
}

impl SettingsDocument {
    /// Makes the settings document of a view; the key keeps the tag from telling anything of the secrets in it.
    pub(crate) fn of(view: &View, identity: &Identity, key: &[u8]) -> SettingsDocument {
        SettingsDocument {
            text: Value::Object(emit::document(view, identity))
                .to_string()
                .into(),
            tag: tag(&view.settings, key),
        }
    }
}

/// Names a version of the settings; the rotation timer is not part of it, because a button changes that.
fn tag(settings: &Settings, key: &[u8]) -> HeaderValue {
    let mut stored = store::to_json(settings);
    stored.remove(Key::timer_active.name());
    let stored = Value::Object(stored).to_string();
    let digest = Sha256::new()
        .chain_update(key)
        .chain_update(stored)
        .finalize();
    let hex = digest[..12].iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    etag::tag(&hex)
}

/// All settings.
pub(crate) fn read(call: &Call) -> Response {
    let document = call.state.settings(&call.view);
    etag::tagged(answer::json_bytes(document.text), document.tag)
}

/// Changes settings.
pub(crate) async fn patch(mut call: Call) -> Response {
    match object(&mut call).await {
        Ok(body) => change(&call, body).await,
        Err(rejection) => rejected(&rejection),
    }
}

async fn object(call: &mut Call) -> Result<Map<String, Value>, Rejection> {
    match call.body(PATCH_BODY_MAX).await {
        Received::Whole(body) => parse::object(&body),
        Received::Nothing | Received::TooLarge | Received::Broken => Err(Rejection::BadBody),
    }
}

async fn change(call: &Call, body: Map<String, Value>) -> Response {
    let insists = call.headers().contains_key(http::header::IF_MATCH);
    let turns = if insists { CHANGES_MAX } else { 1 };
    let Ok(_turn) = call.state.changes.acquire_many(turns).await else {
        return answer::error(StatusCode::SERVICE_UNAVAILABLE, "stopping");
    };
    if insists && etag::is_outdated(call.headers(), &call.state.settings(&call.state.view()).tag) {
        return answer::error(StatusCode::PRECONDITION_FAILED, "settings changed");
    }
    match hashes(call, &body).await {
        Some(hashes) => ask(&call.state, Request::Patch(Patch { body, hashes })).await,
        None => answer::error(StatusCode::INTERNAL_SERVER_ERROR, "password not hashed"),
    }
}

/// Hashes the passwords of a body; one that is stored already keeps its hash, so that it counts as unchanged.
async fn hashes(call: &Call, body: &Map<String, Value>) -> Option<BTreeMap<Key, PasswordHash>> {
    let settings = &call.state.view().settings;
    let mut hashes = BTreeMap::new();
    for (key, text) in passwords_in(body) {
        let stored = settings
            .get(key)
            .as_str()
            .map(PasswordHash::new)
            .unwrap_or_default();
        let hash = call.state.hasher.hash(stored, Secret::new(text)).await?;
        hashes.insert(key, hash);
    }
    Some(hashes)
}
