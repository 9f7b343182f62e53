//! Entity tags: names for versions, so that a client need not fetch or overwrite what it does not know.

use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{ETAG, IF_MATCH, IF_NONE_MATCH},
};

use super::answer::{self, Response};

/// Whether a request wants only what it does not have, and has this.
pub(crate) fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    // For reading, weak and strong tags are as good.
    names(headers, &IF_NONE_MATCH, tag).unwrap_or(false)
}

/// Whether a request would change another version than the one it knows.
pub(crate) fn is_outdated(headers: &HeaderMap, tag: &str) -> bool {
    names(headers, &IF_MATCH, tag).is_some_and(|named| !named)
}

/// Whether a header names a tag; none if it is not there.
fn names(headers: &HeaderMap, header: &HeaderName, tag: &str) -> Option<bool> {
    let list = headers.get(header)?.to_str().ok()?;
    let known = |item: &str| item == "*" || item.strip_prefix("W/").unwrap_or(item) == tag;
    Some(list.split(',').map(str::trim).any(known))
}

/// Answers that the client has it already.
pub(crate) fn not_modified(tag: &str) -> Response {
    tagged(answer::empty(StatusCode::NOT_MODIFIED), tag)
}

/// Puts a tag on an answer.
pub(crate) fn tagged(mut response: Response, tag: &str) -> Response {
    if let Ok(tag) = HeaderValue::from_str(tag) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}
