//! One request on its way to its handler: who asks, what was matched, and the body, read with bounds.

use std::{sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use device::view::View;
use http::{HeaderMap, header::CONTENT_LENGTH, request::Parts};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;
use tokio::time::timeout;

use super::{parse::query_value, state::ServerState, unread::Unread};

/// Time in which the whole of a small body must arrive.
const BODY_TIME: Duration = Duration::from_secs(15);

/// One request on its way to its handler.
pub struct Call {
    /// What the server knows.
    pub state: Arc<ServerState>,
    /// The device when the request came.
    pub view: Arc<View>,
    /// Head of the request.
    pub parts: Parts,
    /// The part of the path that the route leaves open, decoded.
    pub param: Option<String>,
    body: Unread,
}

/// What came of reading a body.
#[derive(Debug, PartialEq, Eq)]
pub enum Received {
    /// There is none, or it is empty.
    Nothing,
    /// All of it.
    Whole(Bytes),
    /// More than is accepted.
    TooLarge,
    /// It broke off, or came too slowly.
    Broken,
}

impl Call {
    /// Puts a request and what is known about it together.
    pub fn new(
        state: Arc<ServerState>,
        view: Arc<View>,
        request: http::Request<Unread>,
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

    /// Headers of the request.
    pub fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// A header as text; none if it is missing or no text.
    pub fn header(&self, name: impl http::header::AsHeaderName) -> Option<&str> {
        self.parts.headers.get(name)?.to_str().ok()
    }

    /// The declared length of the body.
    pub fn content_length(&self) -> Option<u64> {
        self.header(CONTENT_LENGTH)?.parse().ok()
    }

    /// A value of the query, decoded; none if it is missing or no UTF-8.
    pub fn query(&self, name: &str) -> Option<String> {
        query_value(self.parts.uri.query()?, name)
    }

    /// The body, for whoever reads it piece by piece; none if it is empty.
    pub fn unread(&mut self) -> Option<Incoming> {
        self.body.take()
    }

    /// Gives back a body of which no more is wanted: the rest is discarded.
    pub fn put_back(&mut self, body: Incoming) {
        self.body.put_back(body);
    }

    /// Reads the whole body, if it is not larger than `max` bytes; one that is announced as larger is not read at all.
    pub async fn body(&mut self, max: usize) -> Received {
        let announced = self.content_length().unwrap_or_default();
        if announced > u64::try_from(max).unwrap_or(u64::MAX) {
            return Received::TooLarge;
        }
        let Some(mut body) = self.body.take() else {
            return Received::Nothing;
        };
        let received = timeout(BODY_TIME, read(&mut body, max))
            .await
            .unwrap_or(Received::Broken);
        if received == Received::TooLarge {
            self.body.put_back(body);
        }
        received
    }

    /// Reads the body as JSON; none if it is missing, larger than `max` bytes, or no JSON.
    pub async fn json(&mut self, max: usize) -> Option<Value> {
        match self.body(max).await {
            Received::Whole(bytes) => device::json::parse(&bytes),
            Received::Nothing | Received::TooLarge | Received::Broken => None,
        }
    }
}

async fn read(body: &mut Incoming, max: usize) -> Received {
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            return Received::Broken;
        };
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if bytes.len() + data.len() > max {
            return Received::TooLarge;
        }
        bytes.extend_from_slice(&data);
    }
    if bytes.is_empty() {
        return Received::Nothing;
    }
    Received::Whole(bytes.freeze())
}
