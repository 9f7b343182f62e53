//! Small HTTP requests of sources that receive their values over a WebSocket. A failed request is logged and has no other effect.

use std::time::Duration;

use bytes::Bytes;
use feeds::malformed::Malformed;
use market::Observation;
use net::{
    http::{self, Get, HttpResponse, RequestLimits},
    url::Url,
};

use super::SourceContext;

/// Longest time for a response.
pub const TIMEOUT: Duration = Duration::from_secs(8);

/// Fetches and parses a response. `None` if either fails.
pub async fn fetch<T>(
    context: &SourceContext,
    url: &str,
    body_max: usize,
    read: impl FnOnce(&[u8]) -> Result<T, Malformed>,
) -> Option<T> {
    match read(&body(context, url, body_max).await?) {
        Ok(value) => Some(value),
        Err(Malformed(reason)) => {
            tracing::debug!(reason, "response dropped");
            // A stopped device needs no counts.
            let report = vec![Observation::Dropped(reason, 1)];
            let _ = context.send(report).await;
            None
        }
    }
}

async fn body(context: &SourceContext, url: &str, body_max: usize) -> Option<Bytes> {
    let url = Url::parse(url).ok()?;
    let limits = RequestLimits {
        timeout: TIMEOUT,
        body_max,
    };
    match http::get(
        &context.shared.dialer,
        &context.route,
        Get::new(url),
        limits,
    )
    .await
    {
        Ok(HttpResponse { status, body, .. }) if status.is_success() => Some(body),
        Ok(HttpResponse { status, .. }) => {
            tracing::debug!(status = status.as_u16(), "no response to a side request");
            None
        }
        Err(error) => {
            tracing::debug!(%error, "no response to a side request");
            None
        }
    }
}
