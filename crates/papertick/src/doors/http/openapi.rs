//! The description of the interface, for programs.

use std::sync::LazyLock;

use bytes::Bytes;
use http::{HeaderValue, header::CACHE_CONTROL};
use interface::openapi;

use super::{
    answer::{self, Response},
    call::Call,
    etag,
};

static TEXT: LazyLock<Bytes> = LazyLock::new(|| openapi::document().to_string().into());

/// Answers with the description.
pub(crate) fn read(call: &Call) -> Response {
    let tag = etag::tag(&format!("{:08x}", crc32fast::hash(&TEXT)));
    if etag::is_known(call.headers(), &tag) {
        return etag::not_modified(tag);
    }
    let mut response = etag::tagged(answer::json_bytes(TEXT.clone()), tag);
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
