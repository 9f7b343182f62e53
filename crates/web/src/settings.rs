//! Reading and changing the settings.

use device::request::{Patch, Reply, Request};
use http::{StatusCode, header::IF_MATCH};
use tokio::sync::SemaphorePermit;

use super::{
    call::Call,
    etag,
    response::{self, Response},
    state::CHANGES_MAX,
};

/// All settings, or 304 if the client has this version. Momentary values are current in the status only.
pub fn read(call: &Call) -> Response {
    let document = call.state.settings(&call.view);
    etag::versioned(call.headers(), document.tag, || {
        response::json_bytes(document.text)
    })
}

/// Changes settings.
///
/// # Errors
/// The response if `If-Match` has another version, the server stops, or the password cannot be hashed.
pub async fn change(call: &Call, patch: Patch) -> Result<Reply, Response> {
    let Patch { body, .. } = patch;
    let permits = if call.headers().contains_key(IF_MATCH) { CHANGES_MAX } else { 1 };
    let _permit = change_permit(call, permits).await?;
    let state = &call.state;
    let hashes = passwords::hashes(&state.hasher, &state.view().settings.stored, &body)
        .await
        .ok_or_else(|| response::error(StatusCode::INTERNAL_SERVER_ERROR, "password not hashed"))?;
    call.state
        .request(Request::Patch(Patch { body, hashes }))
        .await
}

/// Waits for permits to change the settings. [`CHANGES_MAX`] permits exclude all other changes.
///
/// # Errors
/// The response if `If-Match` has another version or the server stops.
pub async fn change_permit(call: &Call, permits: u32) -> Result<SemaphorePermit<'_>, Response> {
    let stopping = |_| response::error(StatusCode::SERVICE_UNAVAILABLE, "stopping");
    let permit = call.state.changes.acquire_many(permits).await;
    let permit = permit.map_err(stopping)?;
    if etag::is_outdated(call.headers(), &call.state.settings(&call.state.view()).tag) {
        let changed = response::error(StatusCode::PRECONDITION_FAILED, "settings changed");
        return Err(changed);
    }
    Ok(permit)
}
