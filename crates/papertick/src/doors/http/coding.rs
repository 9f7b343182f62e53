//! Packing what is sent, for clients that take it packed.

use std::io::Write;

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::{
    HeaderMap, HeaderValue,
    header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, ETAG, VARY},
};

use super::answer::{self, Body, Response};

/// A document shorter than this fits into one packet anyway, bytes.
const PACKED_FROM: usize = 1024;

/// What says that another client may be sent another form.
pub(crate) const VARIES: HeaderValue = HeaderValue::from_static("Accept-Encoding");

/// A way to pack what is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    /// Brotli, RFC 7932.
    Brotli,
    /// Gzip, RFC 1952.
    Gzip,
}

impl Coding {
    /// All of them, the one that packs better first.
    pub(crate) const ALL: [Coding; 2] = [Coding::Brotli, Coding::Gzip];

    /// Its name in HTTP.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Coding::Brotli => "br",
            Coding::Gzip => "gzip",
        }
    }

    /// The end of the names of files that are packed so.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Coding::Brotli => "br",
            Coding::Gzip => "gz",
        }
    }

    /// Its name as a header.
    pub(crate) fn header(self) -> HeaderValue {
        HeaderValue::from_static(self.name())
    }

    /// Whether a client takes it.
    pub(crate) fn is_accepted(self, headers: &HeaderMap) -> bool {
        let accepted = headers
            .get(ACCEPT_ENCODING)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        accepted.split(',').any(|coding| {
            let mut parts = coding.split(';').map(str::trim);
            let refused = |quality: &str| matches!(quality, "q=0" | "q=0.0" | "q=0.00" | "q=0.000");
            parts.next() == Some(self.name()) && !parts.any(refused)
        })
    }
}

/// Packs a JSON document for a client that takes it packed; what is short or changes on its way stays as it is.
pub(crate) fn pack(accepted: bool, mut response: Response) -> Response {
    let is_json = response.headers().get(CONTENT_TYPE) == Some(&answer::JSON);
    if !is_json || response.headers().contains_key(CONTENT_ENCODING) {
        return response;
    }
    let Body::Whole(Some(plain)) = response.body() else {
        return response;
    };
    if plain.len() < PACKED_FROM {
        return response;
    }
    response.headers_mut().append(VARY, VARIES);
    let Some(packed) = accepted.then(|| response.body()).and_then(gzip) else {
        return response;
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_ENCODING, Coding::Gzip.header());
    // The same document in another form: a strong tag would say that the bytes are the same.
    if let Some(weak) = headers.get(ETAG).and_then(weak) {
        headers.insert(ETAG, weak);
    }
    *response.body_mut() = packed.into();
    response
}

fn gzip(body: &Body) -> Option<Bytes> {
    let Body::Whole(Some(plain)) = body else {
        return None;
    };
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(plain).ok()?;
    let packed = encoder.finish().ok()?;
    (packed.len() < plain.len()).then(|| packed.into())
}

fn weak(tag: &HeaderValue) -> Option<HeaderValue> {
    let text = tag.to_str().ok().filter(|text| text.starts_with('"'))?;
    HeaderValue::from_str(&format!("W/{text}")).ok()
}
