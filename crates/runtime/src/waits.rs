//! Waiting for optional futures and times.

use std::future::{Future, pending};

use tokio::time::{Instant, sleep_until};

/// Waits for an optional future; for ever if it is `None`. Cancel safe.
pub async fn over<F: Future + Unpin>(wait: &mut Option<F>) -> F::Output {
    match wait {
        Some(wait) => wait.await,
        None => pending().await,
    }
}

/// Waits until an optional time; for ever if it is `None`.
pub async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}
