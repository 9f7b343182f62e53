//! The OpenAPI document of the control interface.

use api::documents::lights;
use bytes::Bytes;
use device::board::BoardSpec;
use serde_json::Value;

use super::{
    call::Call,
    embedded::{DOCUMENTS, EmbeddedFile},
    etag,
    response::Response,
};

pub fn read(call: &Call) -> Response {
    let text = call
        .state
        .openapi
        .get_or_init(|| document_for(&call.view.board));
    etag::json(call.headers(), text.clone())
}

/// The document of a clock with this board: its lists have one entry per LED or panel.
fn document_for(board: &BoardSpec) -> Bytes {
    let mut document = document();
    let schemas = &mut document["components"]["schemas"];
    lights::set_lengths(schemas, board.leds, board.panel_count());
    document.to_string().into()
}

/// The document of any clock, which is one of the documents built into the program: generating it takes 400 KB of code.
pub fn document() -> Value {
    let file = EmbeddedFile::find(DOCUMENTS, "openapi.json").map(EmbeddedFile::plain);
    let document = file.and_then(|file| serde_json::from_slice(&file).ok());
    document.unwrap_or_default()
}
