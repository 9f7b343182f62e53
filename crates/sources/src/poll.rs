//! Sources that are polled: request, report, wait, repeat.

use std::{convert::Infallible, time::Duration};

use feeds::malformed::Malformed;
use market::{Connection, Observation};
use net::{
    backoff::Backoff,
    chance::Chance,
    http::{HttpError, HttpResponse},
};
use runtime::{inbox::Stopped, outage::Outage};
use tokio::time;

use super::SourceContext;

/// Time from the start of a source to its first poll.
pub const FIRST_POLL_AFTER: Duration = Duration::from_secs(3);

pub trait Poll: Send {
    /// Polls once.
    fn poll(
        &mut self,
        context: &SourceContext,
    ) -> impl Future<Output = Result<Vec<Observation>, PollFailure>> + Send;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollFailure {
    /// Why, in words for the owner, without secrets.
    pub reason: String,
    /// Delay requested by the upstream.
    pub retry_after: Option<Duration>,
    /// Why a response was discarded.
    pub dropped: Option<Malformed>,
}

impl PollFailure {
    /// A failure with a reason for the owner.
    pub fn because(reason: impl ToString) -> PollFailure {
        PollFailure {
            reason: reason.to_string(),
            retry_after: None,
            dropped: None,
        }
    }
}

impl From<HttpError> for PollFailure {
    fn from(error: HttpError) -> PollFailure {
        let dropped = match error {
            HttpError::TooLarge(_) => Some(Malformed("too-long")),
            _ => None,
        };
        PollFailure {
            dropped,
            ..PollFailure::because(error)
        }
    }
}

impl From<Stopped> for PollFailure {
    fn from(stopped: Stopped) -> PollFailure {
        PollFailure::because(stopped)
    }
}

impl From<Malformed> for PollFailure {
    fn from(malformed: Malformed) -> PollFailure {
        PollFailure {
            dropped: Some(malformed),
            ..PollFailure::because(format!("invalid answer ({malformed})"))
        }
    }
}

/// The body of a response with a success status.
///
/// # Errors
/// The status is not a success.
pub fn body(answer: HttpResponse) -> Result<bytes::Bytes, PollFailure> {
    if answer.status.is_success() {
        return Ok(answer.body);
    }
    Err(PollFailure {
        reason: format!("the server answers with status {}", answer.status.as_u16()),
        retry_after: answer.retry_after,
        dropped: None,
    })
}

/// Polls for ever, less often while the polls fail.
///
/// # Errors
/// The device has stopped.
pub async fn run(
    context: &SourceContext,
    every_secs: u32,
    mut source: impl Poll,
) -> Result<Infallible, Stopped> {
    let every = Duration::from_secs(every_secs.into());
    let mut backoff = Backoff::new(Chance::new());
    context
        .send(vec![Observation::Connection(Connection::Connecting)])
        .await?;
    time::sleep(FIRST_POLL_AFTER).await;
    let mut outage = Outage::default();
    let mut is_reported_up = false;
    loop {
        match source.poll(context).await {
            Ok(observations) => {
                backoff.succeeded();
                outage.end();
                if !std::mem::replace(&mut is_reported_up, true) {
                    tracing::info!("source is up");
                }
                let mut report = vec![Observation::Connection(Connection::Up)];
                report.extend(observations);
                context.send(report).await?;
                time::sleep(every).await;
            }
            Err(PollFailure {
                reason,
                retry_after,
                dropped,
            }) => {
                if let Some(Malformed(reason)) = dropped {
                    tracing::debug!(reason, "response dropped");
                    let report = vec![Observation::Dropped(reason, 1)];
                    context.send(report).await?;
                }
                let retry_in = backoff.failed(retry_after).max(every);
                is_reported_up = false;
                context.report(&mut outage, reason, retry_in).await?;
                time::sleep(retry_in).await;
            }
        }
    }
}
