//! Texts as QR codes, for the page: a phone or a tablet reads an address from its screen.

use http::HeaderValue;
use render::png;

use super::{
    call::Call,
    response::{self, Response},
};

/// Longest text, bytes.
const TEXT_MAX: usize = 256;

/// `GET /api/qr.png`.
pub fn png(call: &Call) -> Response {
    let text = call
        .query("text")
        .filter(|text| (1..=TEXT_MAX).contains(&text.len()));
    match text.and_then(|text| render::qr::bitmap(&text)) {
        Some(bitmap) => response::bytes(
            HeaderValue::from_static("image/png"),
            png::panel(&bitmap).into(),
        ),
        None => response::bad_request(&format!("text must have 1 to {TEXT_MAX} bytes")),
    }
}
