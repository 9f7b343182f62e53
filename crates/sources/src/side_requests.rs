//! Short answers that are asked for beside a socket; without one, all stays as it is.

use std::time::Duration;

use bytes::Bytes;
use feeds::malformed::Malformed;
use market::Observation;
use net::{
    http::{self, Get, HttpResponse, RequestLimits},
    url::Url,
};

use super::SourceContext;

/// Longest time for an answer beside a socket.
pub const TIMEOUT: Duration = Duration::from_secs(8);

/// What an answer says, if one was had and is understood.
pub async fn ask<T>(
    context: &SourceContext,
    url: &str,
    body_max: usize,
    read: impl FnOnce(&[u8]) -> Result<T, Malformed>,
) -> Option<T> {
    match read(&body(context, url, body_max).await?) {
        Ok(said) => Some(said),
        Err(Malformed(reason)) => {
            tracing::debug!(reason, "answer beside the socket dropped");
            // A device that has stopped needs no counts.
            let report = vec![Observation::Dropped(reason, 1)];
            let _ = context.observed(report).await;
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
            tracing::debug!(status = status.as_u16(), "no answer beside the socket");
            None
        }
        Err(error) => {
            tracing::debug!(%error, "no answer beside the socket");
            None
        }
    }
}
