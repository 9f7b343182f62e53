//! Entity tags: versions of documents, for conditional requests.

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{CACHE_CONTROL, ETAG, IF_MATCH, IF_NONE_MATCH},
};

use super::response::{self, Response};

/// Whether the client has this version (`If-None-Match`).
fn is_known(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    lists(headers, &IF_NONE_MATCH, tag).unwrap_or(false)
}

/// Whether the client would change another version than the one it knows (`If-Match`).
pub fn is_outdated(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    lists(headers, &IF_MATCH, tag).is_some_and(|listed| !listed)
}

/// Whether a header lists a tag, weak or strong; `None` if the header is missing.
fn lists(headers: &HeaderMap, header: &HeaderName, tag: &HeaderValue) -> Option<bool> {
    let matches = |item: &str| item == "*" || *tag == item.strip_prefix("W/").unwrap_or(item);
    let mut lines = headers.get_all(header).iter();
    let has_match = |line: &HeaderValue| {
        let list = line.to_str().unwrap_or_default();
        list.split(',').map(str::trim).any(matches)
    };
    headers.contains_key(header).then(|| lines.any(has_match))
}

/// A strong tag with this content.
pub fn tag(content: &str) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{content}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

/// A JSON document with a tag of its content, or 304 if the client has it.
pub fn json(headers: &HeaderMap, text: Bytes) -> Response {
    let tag = tag(&format!("{:08x}-{}", crc32fast::hash(&text), text.len()));
    let mut response = versioned(headers, tag, || response::json_bytes(text));
    let no_cache = HeaderValue::from_static("no-cache");
    response.headers_mut().insert(CACHE_CONTROL, no_cache);
    response
}

/// A document with its tag, or 304 if the client has this version.
pub fn versioned(
    headers: &HeaderMap,
    tag: HeaderValue,
    document: impl FnOnce() -> Response,
) -> Response {
    let mut response = if is_known(headers, &tag) {
        response::empty(StatusCode::NOT_MODIFIED)
    } else {
        document()
    };
    response.headers_mut().insert(ETAG, tag);
    response
}
