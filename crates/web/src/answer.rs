//! Answers: the body type, and the few shapes that all answers have.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use api::answer::Answer;
use bytes::Bytes;
use futures_util::Stream;
use http::{
    HeaderName, HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION},
};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use serde::Serialize;

use super::parse::percent_encode;

/// An answer to a request.
pub type Response = http::Response<ResponseBody>;

/// Content type of JSON.
pub const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Not to be kept by anybody.
pub const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// A sentence for people beside the body, percent-encoded UTF-8.
pub const REASON: HeaderName = HeaderName::from_static("papertick-reason");

/// The body of a response.
pub enum ResponseBody {
    /// All bytes are known; none once they were taken.
    Whole(Option<Bytes>),
    /// Bytes come as they are made.
    Stream(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

impl ResponseBody {
    /// No bytes at all.
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

/// Answers with a status and nothing else.
pub fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(ResponseBody::EMPTY);
    *response.status_mut() = status;
    response
}

/// Answers 200 and nothing else.
pub fn done() -> Response {
    empty(StatusCode::OK)
}

/// Answers 200 with a JSON text.
pub fn json_bytes(text: Bytes) -> Response {
    bytes(JSON, text)
}

/// Answers 200 with a document.
pub fn json<T: Serialize>(document: &T) -> Response {
    // A document of this program has string keys alone, and cannot fail.
    json_bytes(serde_json::to_vec(document).unwrap_or_default().into())
}

/// Answers with a document and another status than 200.
pub fn json_with<T: Serialize>(status: StatusCode, document: &T) -> Response {
    let mut response = json(document);
    *response.status_mut() = status;
    response
}

/// Answers 200 with bytes of a type, not to be kept by anybody.
pub fn bytes(content_type: HeaderValue, bytes: Bytes) -> Response {
    let mut response = Response::new(bytes.into());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, content_type);
    headers.insert(CACHE_CONTROL, NO_STORE);
    response
}

/// The response to an answer of the interface.
pub fn told(answer: Answer) -> Response {
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

/// Refuses with `{"error": …}`.
pub fn error(status: StatusCode, reason: &str) -> Response {
    told(Answer::error(status.as_u16(), reason))
}

/// Sends the client to another path.
pub fn redirect(path: &str) -> Response {
    let mut response = empty(StatusCode::PERMANENT_REDIRECT);
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(LOCATION, path);
    }
    response
}

/// Refuses with 400 and `{"error": …}`.
pub fn bad_request(reason: &str) -> Response {
    told(Answer::bad_request(reason))
}

/// Refuses what is not there.
pub fn not_found() -> Response {
    error(StatusCode::NOT_FOUND, "not found")
}
