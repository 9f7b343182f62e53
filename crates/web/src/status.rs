//! How the clock and its host are.

use api::{answer::Answer, status::SystemStatus};
use http::StatusCode;
use serde_json::json;

use super::{
    answer::{self, Response},
    call::Call,
    host,
};
use updates::told;

/// The status.
pub fn status(call: &Call) -> Response {
    answer::json_bytes(call.state.status(&call.view).text)
}

/// The system status.
pub fn system(call: &Call) -> Response {
    let state = &call.state;
    let memory = state.status(&call.view).memory;
    let services = &state.services;
    let disk = host::disk(&services.data_dir);
    let firmware = told::status(services.installer.means());
    answer::json(&SystemStatus::of(
        &call.view,
        state.uptime(),
        memory,
        disk,
        firmware,
    ))
}

/// The server answers.
pub fn health(_call: &Call) -> Response {
    answer::told(Answer::json(&json!({ "ok": true })))
}

/// Whether the clock runs: the device answers through its view, and is not about to stop.
pub fn ready(call: &Call) -> Response {
    let stopping = *call.state.services.shutdown.borrow();
    let status = if stopping {
        StatusCode::SERVICE_UNAVAILABLE
    } else {
        StatusCode::OK
    };
    answer::json_with(status, &json!({ "ok": !stopping }))
}
