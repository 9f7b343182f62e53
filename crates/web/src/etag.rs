//! Entity tags: names for versions, so that a client need not fetch or overwrite what it does not know.

use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{ETAG, IF_MATCH, IF_NONE_MATCH},
};

use super::answer::{self, Response};

/// Whether a request wants only what it does not have, and has this.
pub fn is_known(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    // For reading, weak and strong tags are as good.
    names(headers, &IF_NONE_MATCH, tag).unwrap_or(false)
}

/// Whether a request would change another version than the one it knows.
pub fn is_outdated(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    names(headers, &IF_MATCH, tag).is_some_and(|named| !named)
}

/// Whether a header names a tag, which one that is no text does not; none if it is not there.
fn names(headers: &HeaderMap, header: &HeaderName, tag: &HeaderValue) -> Option<bool> {
    let known = |item: &str| item == "*" || *tag == item.strip_prefix("W/").unwrap_or(item);
    let mut lines = headers.get_all(header).iter();
    let named = |line: &HeaderValue| {
        let list = line.to_str().unwrap_or_default();
        list.split(',').map(str::trim).any(known)
    };
    headers.contains_key(header).then(|| lines.any(named))
}

/// A tag of these words.
pub fn tag(words: &str) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{words}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

/// Answers that the client has it already.
pub fn not_modified(tag: HeaderValue) -> Response {
    tagged(answer::empty(StatusCode::NOT_MODIFIED), tag)
}

/// Puts a tag on an answer.
pub fn tagged(mut response: Response, tag: HeaderValue) -> Response {
    response.headers_mut().insert(ETAG, tag);
    response
}
