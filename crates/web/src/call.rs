//! A request with its context, as handlers get it. Bodies are read with limits on size and time.

use std::{sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use device::view::View;
use http::{HeaderMap, header::CONTENT_LENGTH, request::Parts};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;
use tokio::time::timeout;

use super::{parse::query_value, state::ServerState, unread_body::UnreadBody};

const BODY_TIMEOUT: Duration = Duration::from_secs(15);

/// A request with its context.
pub struct Call {
    pub state: Arc<ServerState>,
    /// State of the device when the request arrived.
    pub view: Arc<View>,
    /// Head of the request.
    pub parts: Parts,
    /// The parameter in the path, decoded.
    pub param: Option<String>,
    body: UnreadBody,
}

/// Result of reading a body.
#[derive(Debug, PartialEq, Eq)]
pub enum ReceivedBody {
    /// There is no body, or it is empty.
    Empty,
    Complete(Bytes),
    /// The body is larger than the limit.
    TooLarge,
    /// The connection failed or the timeout passed.
    Incomplete,
}

impl Call {
    /// A request with its context.
    pub fn new(
        state: Arc<ServerState>,
        view: Arc<View>,
        request: http::Request<UnreadBody>,
        param: Option<String>,
    ) -> Call {
        let (parts, body) = request.into_parts();
        Call {
            state,
            view,
            parts,
            param,
            body,
        }
    }

    pub fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// A header as text; `None` if it is missing or not text.
    pub fn header(&self, name: impl http::header::AsHeaderName) -> Option<&str> {
        self.parts.headers.get(name)?.to_str().ok()
    }

    /// The declared length of the body.
    pub fn content_length(&self) -> Option<u64> {
        self.header(CONTENT_LENGTH)?.parse().ok()
    }

    /// A value of the query, decoded; `None` if it is missing or not UTF-8.
    pub fn query(&self, name: &str) -> Option<String> {
        query_value(self.parts.uri.query()?, name)
    }

    /// The body as a stream; `None` if it is empty.
    pub fn take_body(&mut self) -> Option<Incoming> {
        self.body.take()
    }

    /// Returns a body that is not needed any more. The rest of it is read and discarded.
    pub fn discard_body(&mut self, body: Incoming) {
        self.body.discard(body);
    }

    /// Reads the whole body, at most `max` bytes. If `Content-Length` is larger, nothing is read.
    pub async fn body(&mut self, max: usize) -> ReceivedBody {
        let declared = self.content_length().unwrap_or_default();
        if declared > u64::try_from(max).unwrap_or(u64::MAX) {
            return ReceivedBody::TooLarge;
        }
        let Some(mut body) = self.body.take() else {
            return ReceivedBody::Empty;
        };
        let received = timeout(BODY_TIMEOUT, read(&mut body, max))
            .await
            .unwrap_or(ReceivedBody::Incomplete);
        if received == ReceivedBody::TooLarge {
            self.body.discard(body);
        }
        received
    }

    /// Reads the body as JSON; `None` if it is missing, larger than `max` bytes, or not JSON.
    pub async fn json(&mut self, max: usize) -> Option<Value> {
        match self.body(max).await {
            ReceivedBody::Complete(bytes) => device::json::parse(&bytes),
            ReceivedBody::Empty | ReceivedBody::TooLarge | ReceivedBody::Incomplete => None,
        }
    }
}

async fn read(body: &mut Incoming, max: usize) -> ReceivedBody {
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            return ReceivedBody::Incomplete;
        };
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if bytes.len() + data.len() > max {
            return ReceivedBody::TooLarge;
        }
        bytes.extend_from_slice(&data);
    }
    if bytes.is_empty() {
        return ReceivedBody::Empty;
    }
    ReceivedBody::Complete(bytes.freeze())
}
