//! The OpenAPI document of the control interface.

use api::openapi;
use http::{HeaderValue, header::CACHE_CONTROL};

use super::{
    call::Call,
    etag,
    response::{self, Response},
};

/// The OpenAPI document.
pub fn read(call: &Call) -> Response {
    let make = || openapi::document_of(&call.view.board).to_string().into();
    let text = call.state.openapi.get_or_init(make);
    let tag = etag::tag(&format!("{:08x}", crc32fast::hash(text)));
    if etag::is_known(call.headers(), &tag) {
        return etag::not_modified(tag);
    }
    let mut response = etag::tagged(response::json_bytes(text.clone()), tag);
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
