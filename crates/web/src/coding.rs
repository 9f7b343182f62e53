//! Compression of bodies, for clients that accept it.

use std::io::{Read, Write};

use bytes::Bytes;
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use http::{
    HeaderMap, HeaderValue,
    header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, ETAG, VARY},
};

use super::response::{self, Response, ResponseBody};

/// Shorter bodies are not compressed, because they fit into one packet anyway, bytes.
const COMPRESS_FROM: usize = 1024;

/// `Vary` of responses that may be compressed.
pub const VARY_ENCODING: HeaderValue = HeaderValue::from_static("Accept-Encoding");

/// Content coding of compressed bodies.
pub const GZIP: HeaderValue = HeaderValue::from_static("gzip");

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
    let compressed = encoder.finish().ok()?;
    (compressed.len() < plain.len()).then(|| compressed.into())
}

/// Decompresses bytes that the program has compressed itself.
pub fn gunzip(compressed: &[u8]) -> Bytes {
    let mut plain = Vec::new();
    // Reading from memory to memory cannot fail.
    let _ = GzDecoder::new(compressed).read_to_end(&mut plain);
    plain.into()
}

/// Compresses a JSON body if the client accepts gzip. Short and streamed bodies stay plain.
pub fn compress(accepted: bool, mut response: Response) -> Response {
    let is_json = response.headers().get(CONTENT_TYPE) == Some(&response::JSON);
    if !is_json || response.headers().contains_key(CONTENT_ENCODING) {
        return response;
    }
    let ResponseBody::Whole(Some(plain)) = response.body() else {
        return response;
    };
    if plain.len() < COMPRESS_FROM {
        return response;
    }
    let compressed = accepted.then(|| gzip(plain, Compression::fast())).flatten();
    response.headers_mut().insert(VARY, VARY_ENCODING);
    let Some(compressed) = compressed else {
        return response;
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_ENCODING, GZIP);
    // A strong tag would mean equal bytes, but the bytes differ.
    if let Some(weak) = headers.get(ETAG).and_then(weak) {
        headers.insert(ETAG, weak);
    }
    *response.body_mut() = compressed.into();
    response
}

fn weak(tag: &HeaderValue) -> Option<HeaderValue> {
    let text = tag.to_str().ok().filter(|text| text.starts_with('"'))?;
    HeaderValue::from_str(&format!("W/{text}")).ok()
}
