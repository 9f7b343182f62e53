//! Waits for optional moments.

use tokio::time::{Instant, sleep_until};

/// Waits until a moment; forever without one.
pub async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
