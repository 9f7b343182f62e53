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

/// Tells whether an image of this size, bytes, has a place; there is no image of nothing.
fn fits(size: u64, place: u64) -> bool {
    (1..=place).contains(&size)
}

fn refusal(call: &Call, max: u64) -> Option<Response> {
    disabled(call).or_else(|| match call.content_length() {
        None | Some(0) => Some(answer::error(
            StatusCode::LENGTH_REQUIRED,
            "content-length required",
        )),
        Some(length) if !fits(length, max) => Some(answer::json_with(
            StatusCode::PAYLOAD_TOO_LARGE,
            &serde_json::json!({ "error": "oversize", "max": max }),
        )),
        Some(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_has_to_fit_its_place() {
        for (size, place, expected) in [
            (0, 0x1B_0000, false),
            (0, 0, false),
            (1, 0, false),
            (1, 0x1B_0000, true),
            (1500 * 1024, 0x1B_0000, true),
            (0x60_0000, 0x1B_0000, false),
            (1024, 0x6_7000, true),
            (0xC_D000, 0x6_7000, false),
        ] {
            assert_eq!(fits(size, place), expected, "{size} in {place}");
        }
        for place in [
            0x1B_0000, 0x37_0000, 0x60_0000, 0x6_7000, 0xC_D000, 0x20_0000,
        ] {
            assert!(fits(place, place) && !fits(place + 1, place), "{place}");
        }
    }
}
