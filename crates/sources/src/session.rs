//! Sources that keep a connection open: connect, subscribe, report what arrives, reconnect.

use std::{collections::BTreeMap, convert::Infallible, time::Duration};

use feeds::malformed::Malformed;
use market::{Connection, Observation};
use net::{
    backoff::{Backoff, STABLE_AFTER},
    chance::Chance,
    dialer::{BoxedStream, Destination},
    url::{BadUrl, Url},
    ws::{Policy, WebSocket, WsError, WsMessage},
};
use runtime::{inbox::Stopped, outage::Outage};
use tokio::time::{self, Instant};

use super::SourceContext;

/// Longest time from an open socket to the first valid frame.
pub const FIRST_FRAME_TIMEOUT: Duration = Duration::from_secs(60);

/// Invalid frames in a row after which the connection is closed.
pub const BAD_FRAMES_MAX: u32 = 64;

/// Least time between two problem reports of one connection.
pub const PROBLEM_EVERY: Duration = Duration::from_secs(10);

/// A source that keeps a connection open.
pub trait SourceSession: Send {
    /// Connects, subscribes and reports until something fails.
    fn run(
        &mut self,
        link: &mut SessionLink<'_>,
    ) -> impl Future<Output = Result<Infallible, SessionEnd>> + Send;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionEnd {
    /// The device has stopped.
    Stopped,
    Failed {
        /// Why, in words for the owner.
        reason: String,
        /// Delay requested by the upstream.
        retry_after: Option<Duration>,
    },
}

impl SessionEnd {
    /// A failure with a reason for the owner.
    pub fn because(reason: impl Into<String>) -> SessionEnd {
        SessionEnd::Failed {
            reason: reason.into(),
            retry_after: None,
        }
    }
}

impl From<Stopped> for SessionEnd {
    fn from(_: Stopped) -> SessionEnd {
        SessionEnd::Stopped
    }
}

impl From<WsError> for SessionEnd {
    fn from(error: WsError) -> SessionEnd {
        SessionEnd::Failed {
            reason: error.to_string(),
            retry_after: error.retry_after(),
        }
    }
}

impl From<BadUrl> for SessionEnd {
    fn from(error: BadUrl) -> SessionEnd {
        SessionEnd::because(error.to_string())
    }
}

/// The current connection of a session and its state.
#[derive(Debug)]
pub struct SessionLink<'a> {
    context: &'a SourceContext,
    opened: Instant,
    up_since: Option<Instant>,
    /// Invalid frames in a row.
    bad_frames: u32,
    /// Dropped frames that were not reported yet, by reason.
    unreported: BTreeMap<&'static str, u32>,
    problem_at: Option<Instant>,
    /// A problem was reported, and no observation has followed it.
    has_problem: bool,
}

impl<'a> SessionLink<'a> {
    fn new(context: &'a SourceContext) -> SessionLink<'a> {
        SessionLink {
            context,
            opened: Instant::now(),
            up_since: None,
            bad_frames: 0,
            unreported: BTreeMap::new(),
            problem_at: None,
            has_problem: false,
        }
    }

    pub fn context(&self) -> &'a SourceContext {
        self.context
    }

    /// Returns whether this connection has received a valid frame.
    pub fn is_up(&self) -> bool {
        self.up_since.is_some()
    }

    /// Opens the socket of this connection.
    ///
    /// # Errors
    /// The socket was not opened.
    pub async fn open(&mut self, url: &Url, policy: Policy) -> Result<WebSocket, SessionEnd> {
        let SourceContext { route, shared, .. } = self.context;
        let socket = WebSocket::open(&shared.dialer, route, url, policy).await?;
        self.opened = Instant::now();
        Ok(socket)
    }

    /// Opens a connection that is not a WebSocket.
    ///
    /// # Errors
    /// The connection failed.
    pub async fn dial(&mut self, destination: Destination<'_>) -> Result<BoxedStream, SessionEnd> {
        let SourceContext { route, shared, .. } = self.context;
        let stream = shared.dialer.connect(route, destination).await;
        let stream = stream.map_err(|error| SessionEnd::because(error.to_string()))?;
        self.opened = Instant::now();
        Ok(stream)
    }

    /// Reads the next frame; the first valid one must come in time. Cancel safe.
    ///
    /// # Errors
    /// The socket has failed.
    pub async fn next(&mut self, socket: &mut WebSocket) -> Result<WsMessage, SessionEnd> {
        let frame = if self.is_up() {
            socket.next().await
        } else {
            let deadline = self.opened + FIRST_FRAME_TIMEOUT;
            time::timeout_at(deadline, socket.next())
                .await
                .map_err(|_| SessionEnd::because("connected, but no valid message came"))?
        };
        if let Err(WsError::TooLarge(_)) = frame {
            *self.unreported.entry("too-long").or_default() += 1;
        }
        Ok(frame?)
    }

    /// Reports the observations of a valid frame, and on the first one that the connection is up.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn accept_frame(&mut self, observations: Vec<Observation>) -> Result<(), SessionEnd> {
        self.bad_frames = 0;
        let mut report = Vec::with_capacity(observations.len() + 1);
        let is_well = self.has_problem && !observations.is_empty();
        if !self.is_up() || is_well {
            report.push(self.mark_up());
        }
        report.extend(observations);
        if !report.is_empty() {
            self.context.send(report).await?;
        }
        Ok(())
    }

    /// Reports that the connection is up and that an earlier problem is over.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn report_up(&mut self) -> Result<(), SessionEnd> {
        self.bad_frames = 0;
        if !self.is_up() || self.has_problem {
            let up = self.mark_up();
            self.context.send(vec![up]).await?;
        }
        Ok(())
    }

    fn mark_up(&mut self) -> Observation {
        if self.up_since.is_none() {
            tracing::info!("source is up");
            self.up_since = Some(Instant::now());
        }
        self.has_problem = false;
        Observation::Connection(Connection::Up)
    }

    /// Reports observations from an HTTP request; they do not change the state of the connection.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn report_values(&self, observations: Vec<Observation>) -> Result<(), SessionEnd> {
        Ok(self.context.send(observations).await?)
    }

    /// Counts a frame that could not be parsed.
    ///
    /// # Errors
    /// Too many invalid frames in a row, or the device has stopped.
    pub async fn reject_frame(&mut self, malformed: Malformed) -> Result<(), SessionEnd> {
        self.bad_frames += 1;
        *self.unreported.entry(malformed.0).or_default() += 1;
        tracing::debug!(
            reason = malformed.0,
            in_a_row = self.bad_frames,
            "frame dropped"
        );
        if self.bad_frames >= BAD_FRAMES_MAX {
            return Err(SessionEnd::because(format!(
                "only invalid frames ({malformed})"
            )));
        }
        let unreported: u32 = self.unreported.values().sum();
        let frames = if unreported == 1 { "frame" } else { "frames" };
        let problem = format!("{unreported} {frames} dropped ({malformed})");
        if self.may_report_problem() {
            let mut report = vec![Observation::Complaint(problem)];
            report.extend(self.dropped());
            self.context.send(report).await?;
        }
        Ok(())
    }

    /// Takes the number of frames dropped since the last report, by reason.
    fn dropped(&mut self) -> impl Iterator<Item = Observation> + use<> {
        let unreported = std::mem::take(&mut self.unreported);
        let observation = |(reason, count)| Observation::Dropped(reason, count);
        unreported.into_iter().map(observation)
    }

    /// Reports a problem that did not end the connection; rate limited.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn report_problem(&mut self, problem: String) -> Result<(), SessionEnd> {
        if self.may_report_problem() {
            let report = vec![Observation::Complaint(problem)];
            self.context.send(report).await?;
        }
        Ok(())
    }

    /// Returns whether a problem may be reported now, and if so starts the next interval.
    fn may_report_problem(&mut self) -> bool {
        let is_due = self
            .problem_at
            .is_none_or(|last| last.elapsed() >= PROBLEM_EVERY);
        if is_due {
            self.problem_at = Some(Instant::now());
            self.has_problem = true;
        }
        is_due
    }

    fn was_stable(&self) -> bool {
        self.up_since
            .is_some_and(|since| since.elapsed() >= STABLE_AFTER)
    }
}

/// Runs a session for ever, with a growing delay after each failure.
///
/// # Errors
/// The device has stopped.
pub async fn run(
    context: &SourceContext,
    mut session: impl SourceSession,
) -> Result<Infallible, Stopped> {
    let mut backoff = Backoff::new(Chance::new());
    let mut outage = Outage::default();
    loop {
        context
            .send(vec![Observation::Connection(Connection::Connecting)])
            .await?;
        let mut link = SessionLink::new(context);
        let Err(ended) = session.run(&mut link).await;
        let dropped: Vec<Observation> = link.dropped().collect();
        if !dropped.is_empty() {
            context.send(dropped).await?;
        }
        if link.is_up() {
            outage.end();
        }
        if link.was_stable() {
            backoff.succeeded();
        }
        match ended {
            SessionEnd::Stopped => return Err(Stopped),
            SessionEnd::Failed {
                reason,
                retry_after,
            } => {
                let retry_in = backoff.failed(retry_after);
                context.report(&mut outage, reason, retry_in).await?;
                time::sleep(retry_in).await;
            }
        }
    }
}
