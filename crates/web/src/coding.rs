//! Compression of bodies, for clients that accept it.

use std::io::Write;

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::{
    HeaderMap, HeaderValue,
    header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, ETAG, VARY},
};

use super::answer::{self, Response, ResponseBody};

/// A document shorter than this fits into one packet anyway, bytes.
const PACKED_FROM: usize = 1024;

/// What says that another client may be sent another form.
pub const VARIES: HeaderValue = HeaderValue::from_static("Accept-Encoding");

/// The name of the compression in HTTP, RFC 1952.
pub const GZIP: HeaderValue = HeaderValue::from_static("gzip");

/// Returns whether a client accepts compressed bodies.
pub fn is_gzip_accepted(headers: &HeaderMap) -> bool {
    let accepted = headers
        .get(ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    accepted.split(',').any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let refused = |quality: &str| matches!(quality, "q=0" | "q=0.0" | "q=0.00" | "q=0.000");
        parts.next() == Some("gzip") && !parts.any(refused)
    })
}

/// Compresses bytes; `None` if that saves nothing.
pub fn gzip(plain: &[u8], level: Compression) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(plain).ok()?;
    let packed = encoder.finish().ok()?;
    (packed.len() < plain.len()).then(|| packed.into())
}

/// Compresses a JSON body if the client accepts gzip. Short and streamed bodies stay plain.
pub fn pack(accepted: bool, mut response: Response) -> Response {
    let is_json = response.headers().get(CONTENT_TYPE) == Some(&answer::JSON);
    if !is_json || response.headers().contains_key(CONTENT_ENCODING) {
        return response;
    }
    let ResponseBody::Whole(Some(plain)) = response.body() else {
        return response;
    };
    if plain.len() < PACKED_FROM {
        return response;
    }
    let packed = accepted.then(|| gzip(plain, Compression::fast())).flatten();
    response.headers_mut().insert(VARY, VARIES);
    let Some(packed) = packed else {
        return response;
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_ENCODING, GZIP);
    // The same document in another form: a strong tag would say that the bytes are the same.
    if let Some(weak) = headers.get(ETAG).and_then(weak) {
        headers.insert(ETAG, weak);
    }
    *response.body_mut() = packed.into();
    response
}

fn weak(tag: &HeaderValue) -> Option<HeaderValue> {
    let text = tag.to_str().ok().filter(|text| text.starts_with('"'))?;
    HeaderValue::from_str(&format!("W/{text}")).ok()
}
