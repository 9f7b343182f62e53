//! Reading and changing the settings.

use std::collections::BTreeMap;

use device::{
    request::{Patch, Reply, Request},
    secret::{PasswordHash, Secret},
    settings::{Key, patch::passwords_in},
};
use http::{StatusCode, header::IF_MATCH};
use serde_json::{Map, Value};

use super::{
    answer::{self, Response},
    call::Call,
    etag,
    state::CHANGES_MAX,
};

/// All settings.
pub(crate) fn read(call: &Call) -> Response {
    let document = call.state.settings(&call.view);
    etag::tagged(answer::json_bytes(document.text), document.tag)
}

/// Changes settings, unless the client knows another version of them than there is.
///
/// # Errors
/// It does, or the change cannot be made; the answer says so.
pub(crate) async fn change(call: &Call, patch: Patch) -> Result<Reply, Response> {
    let Patch { body, .. } = patch;
    let insists = call.headers().contains_key(IF_MATCH);
    let turns = if insists { CHANGES_MAX } else { 1 };
    let stopping = |_| answer::error(StatusCode::SERVICE_UNAVAILABLE, "stopping");
    let _turn = call
        .state
        .changes
        .acquire_many(turns)
        .await
        .map_err(stopping)?;
    if insists && etag::is_outdated(call.headers(), &call.state.settings(&call.state.view()).tag) {
        let changed = answer::error(StatusCode::PRECONDITION_FAILED, "settings changed");
        return Err(changed);
    }
    let hashes = hashes(call, &body)
        .await
        .ok_or_else(|| answer::error(StatusCode::INTERNAL_SERVER_ERROR, "password not hashed"))?;
    call.state.ask(Request::Patch(Patch { body, hashes })).await
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
