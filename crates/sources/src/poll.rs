//! Sources that are asked every now and then: ask, report, wait, ask again.

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

/// A source that is asked every now and then.
pub trait Poll: Send {
    /// Asks once; an honest answer may tell nothing.
    fn poll(
        &mut self,
        context: &SourceContext,
    ) -> impl Future<Output = Result<Vec<Observation>, Missed>> + Send;
}

/// A poll that gave nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missed {
    /// Why, in words fit for people; never with a secret.
    pub reason: String,
    /// How long the upstream asks to be left alone.
    pub retry_after: Option<Duration>,
    /// Why an answer that came was dropped.
    pub dropped: Option<Malformed>,
}

impl Missed {
    /// A poll that gave nothing, for a reason fit for people.
    pub fn because(reason: impl ToString) -> Missed {
        Missed {
            reason: reason.to_string(),
            retry_after: None,
            dropped: None,
        }
    }
}

impl From<HttpError> for Missed {
    fn from(error: HttpError) -> Missed {
        let dropped = match error {
            HttpError::TooLarge(_) => Some(Malformed("too-long")),
            HttpError::BadUrl(_)
            | HttpError::Dial(_)
            | HttpError::Timeout
            | HttpError::Redirects
            | HttpError::Downgrade
            | HttpError::OtherOrigin(_)
            | HttpError::Broken
            | HttpError::BadHeader => None,
        };
        Missed {
            dropped,
            ..Missed::because(error)
        }
    }
}

impl From<Stopped> for Missed {
    fn from(stopped: Stopped) -> Missed {
        Missed::because(stopped)
    }
}

impl From<Malformed> for Missed {
    fn from(malformed: Malformed) -> Missed {
        Missed {
            dropped: Some(malformed),
            ..Missed::because(format!("the answer makes no sense ({malformed})"))
        }
    }
}

/// The body of an answer, if its status is a good one.
///
/// # Errors
/// The status is another one.
pub fn body(answer: HttpResponse) -> Result<bytes::Bytes, Missed> {
    if answer.status.is_success() {
        return Ok(answer.body);
    }
    Err(Missed {
        reason: format!("the server answers with status {}", answer.status.as_u16()),
        retry_after: answer.retry_after,
        dropped: None,
    })
}

/// Polls for ever: every so often, and less often while it fails.
///
/// # Errors
/// The device has stopped.
pub async fn keep(
    context: &SourceContext,
    every: Duration,
    mut source: impl Poll,
) -> Result<Infallible, Stopped> {
    let mut backoff = Backoff::new(Chance::new());
    context
        .observed(vec![Observation::Connection(Connection::Connecting)])
        .await?;
    time::sleep(FIRST_POLL_AFTER).await;
    let mut outage = Outage::default();
    let mut is_known_up = false;
    loop {
        match source.poll(context).await {
            Ok(observations) => {
                backoff.succeeded();
                outage.end();
                if !std::mem::replace(&mut is_known_up, true) {
                    tracing::info!("source is up");
                }
                let mut report = vec![Observation::Connection(Connection::Up)];
                report.extend(observations);
                context.observed(report).await?;
                time::sleep(every).await;
            }
            Err(Missed {
                reason,
                retry_after,
                dropped,
            }) => {
                if let Some(Malformed(reason)) = dropped {
                    tracing::debug!(reason, "answer dropped");
                    let report = vec![Observation::Dropped(reason, 1)];
                    context.observed(report).await?;
                }
                let retry_in = backoff.failed(retry_after).max(every);
                is_known_up = false;
                context.report(&mut outage, reason, retry_in).await?;
                time::sleep(retry_in).await;
            }
        }
    }
}
