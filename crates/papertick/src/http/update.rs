//! Updates of the device: what is refused before a byte is taken.

use http::StatusCode;

use super::{
    answer::{self, Response},
    call::Call,
};

/// Installs a firmware image.
pub(crate) async fn firmware(call: Call) -> Response {
    let max = call.view.board.firmware_slot_bytes;
    refusal(&call, max)
        .unwrap_or_else(|| answer::error(StatusCode::SERVICE_UNAVAILABLE, "no ota partition"))
}

/// Installs a web bundle.
pub(crate) async fn web_bundle(call: Call) -> Response {
    let max = call.view.board.web_slot_bytes;
    let no_place = || {
        answer::error(
            StatusCode::SERVICE_UNAVAILABLE,
            "storage partition not found",
        )
    };
    refusal(&call, max).unwrap_or_else(no_place)
}

/// Fetches and installs the newest release.
pub(crate) async fn automatic(call: Call) -> Response {
    disabled(&call).unwrap_or_else(|| {
        answer::message(
            StatusCode::SERVICE_UNAVAILABLE,
            "Firmware updates are not available",
        )
    })
}

fn disabled(call: &Call) -> Option<Response> {
    let enabled = call.view.active.ota_enabled;
    (!enabled).then(|| answer::error(StatusCode::FORBIDDEN, "ota_disabled"))
}

fn refusal(call: &Call, max: u64) -> Option<Response> {
    disabled(call).or_else(|| match call.content_length() {
        None | Some(0) => Some(answer::error(
            StatusCode::LENGTH_REQUIRED,
            "content-length required",
        )),
        Some(length) if length > max => Some(answer::json_with(
            StatusCode::PAYLOAD_TOO_LARGE,
            &serde_json::json!({ "error": "oversize", "max": max }),
        )),
        Some(_) => None,
    })
}
