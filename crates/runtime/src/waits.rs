//! Waiting for what may not be there.

use std::future::{Future, pending};

use tokio::time::{Instant, sleep_until};

/// Waits for something to be over; for ever where there is nothing. Dropping the future loses nothing.
pub async fn over<F: Future + Unpin>(wait: &mut Option<F>) -> F::Output {
    match wait {
        Some(wait) => wait.await,
        None => pending().await,
    }
}

/// Waits until a moment; for ever where there is none.
pub async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}
