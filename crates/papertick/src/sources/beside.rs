//! Short answers that are asked for beside a socket; without one, all stays as it is.

use std::time::Duration;

use bytes::Bytes;

use super::Context;
use crate::net::{
    http::{self, Answer, Get, Limits},
    url::Url,
};

/// Longest time for an answer beside a socket.
pub const TIMEOUT: Duration = Duration::from_secs(8);

/// The body of an answer, if one was had.
pub async fn ask(context: &Context, url: &str, body_max: usize) -> Option<Bytes> {
    let url = Url::parse(url).ok()?;
    let limits = Limits {
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
        Ok(Answer { status, body, .. }) if status.is_success() => Some(body),
        Ok(Answer { status, .. }) => {
            tracing::debug!(status = status.as_u16(), "no answer beside the socket");
            None
        }
        Err(error) => {
            tracing::debug!(%error, "no answer beside the socket");
            None
        }
    }
}
