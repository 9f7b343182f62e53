//! Reading and changing the settings.

use device::request::{Patch, Reply, Request};
use http::{StatusCode, header::IF_MATCH};
use tokio::sync::SemaphorePermit;

use super::{
    answer::{self, Response},
    call::Call,
    etag,
    state::CHANGES_MAX,
};

/// All settings.
pub fn read(call: &Call) -> Response {
    let document = call.state.settings(&call.view);
    etag::tagged(answer::json_bytes(document.text), document.tag)
}

/// Changes settings, unless the client knows another version of them than there is.
///
/// # Errors
/// It does, or the change cannot be made; the answer says so.
pub async fn change(call: &Call, patch: Patch) -> Result<Reply, Response> {
    let Patch { body, .. } = patch;
    let turns = match call.headers().contains_key(IF_MATCH) {
        true => CHANGES_MAX,
        false => 1,
    };
    let _turn = turn(call, turns).await?;
    let state = &call.state;
    let hashes = passwords::hashes(&state.hasher, &state.view().settings, &body)
        .await
        .ok_or_else(|| answer::error(StatusCode::INTERNAL_SERVER_ERROR, "password not hashed"))?;
    call.state.ask(Request::Patch(Patch { body, hashes })).await
}

/// Waits for a turn to change the settings: one of many, or that of all.
///
/// # Errors
/// The client knows another version of them than there is, or the server stops; the answer says so.
pub async fn turn(call: &Call, turns: u32) -> Result<SemaphorePermit<'_>, Response> {
    let stopping = |_| answer::error(StatusCode::SERVICE_UNAVAILABLE, "stopping");
    let turn = call.state.changes.acquire_many(turns).await;
    let turn = turn.map_err(stopping)?;
    if etag::is_outdated(call.headers(), &call.state.settings(&call.state.view()).tag) {
        let changed = answer::error(StatusCode::PRECONDITION_FAILED, "settings changed");
        return Err(changed);
    }
    Ok(turn)
}
