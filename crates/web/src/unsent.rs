//! Memory of responses to clients that read slowly, or not at all.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, StatusCode, header::RETRY_AFTER};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::response::{self, Response, ResponseBody};

/// Most bytes of all unsent responses together.
const UNSENT_MAX: usize = 32 * 1024 * 1024;

/// Shorter bodies are not counted: they fit into the send buffer of their connection, so that slow clients cannot lock out
/// the control of the clock.
const COUNTED_FROM: usize = 16 * 1024;

/// When a client that was refused should ask again, s. Clients that read nothing are dropped meanwhile.
const RETRY_AFTER_S: u64 = 20;

/// Counts the bytes of unsent responses.
pub struct UnsentBytes {
    available: Arc<Semaphore>,
}

/// Marks a response that is not counted, because its body is shared with all other responses that have it.
#[derive(Debug, Clone, Copy)]
pub struct Uncounted;

/// A body that is counted until it is sent.
struct CountedBody {
    bytes: Bytes,
    _permit: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for CountedBody {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl UnsentBytes {
    /// No bytes are unsent.
    pub fn new() -> UnsentBytes {
        UnsentBytes {
            available: Arc::new(Semaphore::new(UNSENT_MAX)),
        }
    }

    /// Counts a response until it is sent, or replaces it by 503 if too many bytes are unsent.
    pub fn count(&self, mut response: Response) -> Response {
        if response.extensions().get::<Uncounted>().is_some() {
            return response;
        }
        let ResponseBody::Whole(Some(bytes)) = response.body_mut() else {
            return response;
        };
        if bytes.len() < COUNTED_FROM {
            return response;
        }
        // A body above the bound is sent if it is the only one.
        let length = u32::try_from(bytes.len().min(UNSENT_MAX)).unwrap_or(u32::MAX);
        let Ok(permit) = Arc::clone(&self.available).try_acquire_many_owned(length) else {
            let status = StatusCode::SERVICE_UNAVAILABLE;
            let mut refusal = response::error(status, "too many answers are not read");
            let seconds = HeaderValue::from(RETRY_AFTER_S);
            refusal.headers_mut().insert(RETRY_AFTER, seconds);
            return refusal;
        };
        *bytes = Bytes::from_owner(CountedBody {
            bytes: std::mem::take(bytes),
            _permit: permit,
        });
        response
    }
}
