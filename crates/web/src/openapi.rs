//! The OpenAPI document of the control interface.

use api::openapi;
use bytes::Bytes;
use device::board::BoardSpec;
use http::{HeaderValue, header::CACHE_CONTROL};
use serde_json::Value;

use super::{
    call::Call,
    embedded::{DOCUMENTS, EmbeddedFile},
    etag,
    response::{self, Response},
};

/// The OpenAPI document.
pub fn read(call: &Call) -> Response {
    let text = call
        .state
        .openapi
        .get_or_init(|| document(&call.view.board));
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

/// The document among the documents of the program, with the lists of this board. Making it of the table of operations would
/// put the generator of schemas into the program.
fn document(board: &BoardSpec) -> Bytes {
    let file = EmbeddedFile::find(DOCUMENTS, "openapi.json").map(EmbeddedFile::plain);
    let mut document: Value = file
        .and_then(|file| serde_json::from_slice(&file).ok())
        .unwrap_or_default();
    openapi::narrow(&mut document, board);
    document.to_string().into()
}
