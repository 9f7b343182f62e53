//! Responses: the body type and common responses.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use api::{answer::Answer, documents::ErrorBody};
use bytes::Bytes;
use futures_util::Stream;
use http::{
    HeaderName, HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION},
};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use serde::Serialize;

use super::parse::percent_encode;

pub type Response = http::Response<ResponseBody>;

/// Content type of JSON.
pub const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Content type of pages.
pub const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// `Cache-Control` that forbids caching.
pub const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// Header with an explanation for people in addition to the body, percent-encoded UTF-8.
pub const REASON: HeaderName = HeaderName::from_static("papertick-reason");

pub enum ResponseBody {
    /// All bytes; `None` if the body is empty or already sent.
    Whole(Option<Bytes>),
    /// Bytes that are produced while they are sent.
    Stream(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

impl ResponseBody {
    /// An empty body.
    pub const EMPTY: ResponseBody = ResponseBody::Whole(None);
}

impl From<Bytes> for ResponseBody {
    fn from(bytes: Bytes) -> ResponseBody {
        ResponseBody::Whole((!bytes.is_empty()).then_some(bytes))
    }
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            ResponseBody::Whole(bytes) => {
                Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes))))
            }
            ResponseBody::Stream(stream) => stream
                .as_mut()
                .poll_next(context)
                .map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, ResponseBody::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            ResponseBody::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            ResponseBody::Stream(_) => SizeHint::default(),
        }
    }
}

/// A response with a status and no body.
pub fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(ResponseBody::EMPTY);
    *response.status_mut() = status;
    response
}

/// 200 without a body.
pub fn done() -> Response {
    empty(StatusCode::OK)
}

/// 200 with a JSON text.
pub fn json_bytes(text: Bytes) -> Response {
    bytes(JSON, text)
}

/// 200 with a JSON document.
pub fn json<T: Serialize>(document: &T) -> Response {
    // Cannot fail, because all documents of this program have string keys only.
    json_bytes(serde_json::to_vec(document).unwrap_or_default().into())
}

pub fn json_with<T: Serialize>(status: StatusCode, document: &T) -> Response {
    let mut response = json(document);
    *response.status_mut() = status;
    response
}

/// 200 with bytes of a content type, not cacheable.
pub fn bytes(content_type: HeaderValue, bytes: Bytes) -> Response {
    let mut response = Response::new(bytes.into());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, content_type);
    headers.insert(CACHE_CONTROL, NO_STORE);
    response
}

/// The HTTP response for an answer of the control interface.
pub fn from_answer(answer: Answer) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = match answer.body {
        Some(body) => json_with(status, &body),
        None => empty(status),
    };
    let reason = answer.reason.as_deref().map(percent_encode);
    if let Some(Ok(reason)) = reason.map(HeaderValue::try_from) {
        response.headers_mut().insert(REASON, reason);
    }
    response
}

/// An error with `{"error": …}`.
pub fn error(status: StatusCode, reason: &str) -> Response {
    from_answer(Answer::error(status.as_u16(), reason))
}

/// An error with `{"error": …, "msg": …}`.
pub fn error_with_reason(status: StatusCode, error: &str, reason: &str) -> Response {
    json_with(status, &ErrorBody::with_reason(error, reason))
}

/// A permanent redirect to another path.
pub fn redirect(path: &str) -> Response {
    let mut response = empty(StatusCode::PERMANENT_REDIRECT);
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(LOCATION, path);
    }
    response
}

/// 400 with `{"error": …}`.
pub fn bad_request(reason: &str) -> Response {
    from_answer(Answer::bad_request(reason))
}

/// 404 with `{"error": …}`.
pub fn not_found() -> Response {
    error(StatusCode::NOT_FOUND, "not found")
}
