//! Status of the clock and its host.

use api::{documents::page::Health, status::SystemStatus};
use http::StatusCode;

use super::{
    call::Call,
    host,
    response::{self, Response},
};

pub fn status(call: &Call) -> Response {
    response::json_bytes(call.state.status(&call.view).text)
}

pub fn system(call: &Call) -> Response {
    let state = &call.state;
    let memory = state.status(&call.view).memory;
    let services = &state.services;
    let disk = host::disk(&services.data_dir);
    let firmware = updates::status::firmware(services.installer.config());
    response::json(&SystemStatus::of(
        &call.view,
        state.uptime(),
        memory,
        disk,
        firmware,
    ))
}

/// Liveness: the server responds.
pub fn health(_call: &Call) -> Response {
    response::json(&Health { ok: true })
}

/// Readiness: 503 while the clock is stopping.
pub fn ready(call: &Call) -> Response {
    let stopping = *call.state.services.shutdown.borrow();
    let status = if stopping { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    response::json_with(status, &Health { ok: !stopping })
}
