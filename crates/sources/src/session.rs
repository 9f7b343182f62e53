//! Sources that hold a socket open: connect, say what is wanted, report what comes, begin again.

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

/// Longest time from an open socket to the first frame that is understood.
pub const FIRST_FRAME_TIMEOUT: Duration = Duration::from_secs(60);

/// Frames in a row that may be nonsense before the connection is given up.
pub const NONSENSE_MAX: u32 = 64;

/// Least time between two complaints of one connection.
pub const COMPLAINT_EVERY: Duration = Duration::from_secs(10);

/// A source that keeps a connection open.
pub trait SourceSession: Send {
    /// Connects, subscribes and reports until something fails; it never ends well.
    fn run(
        &mut self,
        link: &mut SessionLink<'_>,
    ) -> impl Future<Output = Result<Infallible, SessionEnd>> + Send;
}

/// Why a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionEnd {
    /// The device has stopped.
    Stopped,
    /// Something failed.
    Failed {
        /// Why, in words fit for people.
        reason: String,
        /// How long the upstream asks to be left alone.
        retry_after: Option<Duration>,
    },
}

impl SessionEnd {
    /// Something failed, for a reason fit for people.
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
    /// Frames in a row that were nonsense.
    nonsense: u32,
    /// Frames that were nonsense and of which the device was not told, by reason.
    untold: BTreeMap<&'static str, u32>,
    complained: Option<Instant>,
    /// The device knows of a complaint that was not followed by anything of use.
    is_disturbed: bool,
}

impl<'a> SessionLink<'a> {
    fn new(context: &'a SourceContext) -> SessionLink<'a> {
        SessionLink {
            context,
            opened: Instant::now(),
            up_since: None,
            nonsense: 0,
            untold: BTreeMap::new(),
            complained: None,
            is_disturbed: false,
        }
    }

    /// What the source works with.
    pub fn context(&self) -> &'a SourceContext {
        self.context
    }

    /// Tells whether a frame was understood on this connection.
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

    /// Opens a connection for something else than a web socket.
    ///
    /// # Errors
    /// It was not made.
    pub async fn dial(&mut self, destination: Destination<'_>) -> Result<BoxedStream, SessionEnd> {
        let SourceContext { route, shared, .. } = self.context;
        let stream = shared.dialer.connect(route, destination).await;
        let stream = stream.map_err(|error| SessionEnd::because(error.to_string()))?;
        self.opened = Instant::now();
        Ok(stream)
    }

    /// The next frame; the first one must be understood in time. Nothing is lost when this is dropped
    /// while it waits.
    ///
    /// # Errors
    /// The socket is of no use any more.
    pub async fn next(&mut self, socket: &mut WebSocket) -> Result<WsMessage, SessionEnd> {
        let frame = if self.is_up() {
            socket.next().await
        } else {
            let deadline = self.opened + FIRST_FRAME_TIMEOUT;
            time::timeout_at(deadline, socket.next())
                .await
                .map_err(|_| SessionEnd::because("connected, but nothing of use came"))?
        };
        if let Err(WsError::TooLarge(_)) = frame {
            *self.untold.entry("too-long").or_default() += 1;
        }
        Ok(frame?)
    }

    /// Reports what a frame said, and that the connection is up if it is the first one understood.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn understood(&mut self, observations: Vec<Observation>) -> Result<(), SessionEnd> {
        self.nonsense = 0;
        let mut report = Vec::with_capacity(observations.len() + 1);
        let is_well = self.is_disturbed && !observations.is_empty();
        if !self.is_up() || is_well {
            report.push(self.come_up());
        }
        report.extend(observations);
        if !report.is_empty() {
            self.context.observed(report).await?;
        }
        Ok(())
    }

    /// Reports that the connection is up, and that whatever was complained about is over.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn well(&mut self) -> Result<(), SessionEnd> {
        self.nonsense = 0;
        if !self.is_up() || self.is_disturbed {
            let up = self.come_up();
            self.context.observed(vec![up]).await?;
        }
        Ok(())
    }

    fn come_up(&mut self) -> Observation {
        if self.up_since.is_none() {
            tracing::info!("source is up");
            self.up_since = Some(Instant::now());
        }
        self.is_disturbed = false;
        Observation::Connection(Connection::Up)
    }

    /// Reports what was learned beside the socket, which says nothing about the socket.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn learned_beside(&self, observations: Vec<Observation>) -> Result<(), SessionEnd> {
        Ok(self.context.observed(observations).await?)
    }

    /// Takes note of a frame that was not understood.
    ///
    /// # Errors
    /// Nothing but nonsense comes, or the device has stopped.
    pub async fn nonsense(&mut self, malformed: Malformed) -> Result<(), SessionEnd> {
        self.nonsense += 1;
        *self.untold.entry(malformed.0).or_default() += 1;
        tracing::debug!(
            reason = malformed.0,
            in_a_row = self.nonsense,
            "frame dropped"
        );
        if self.nonsense >= NONSENSE_MAX {
            return Err(SessionEnd::because(format!(
                "only frames that make no sense ({malformed})"
            )));
        }
        let untold: u32 = self.untold.values().sum();
        let frames = if untold == 1 { "frame" } else { "frames" };
        let complaint = format!("{untold} {frames} dropped ({malformed})");
        if self.may_complain() {
            let mut report = vec![Observation::Complaint(complaint)];
            report.extend(self.dropped());
            self.context.observed(report).await?;
        }
        Ok(())
    }

    /// How many frames were dropped since the device was told last, and why.
    fn dropped(&mut self) -> impl Iterator<Item = Observation> + use<> {
        let untold = std::mem::take(&mut self.untold);
        let told = |(reason, count)| Observation::Dropped(reason, count);
        untold.into_iter().map(told)
    }

    /// Tells the device what went wrong although the connection holds, but not too often.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn complain(&mut self, complaint: String) -> Result<(), SessionEnd> {
        if self.may_complain() {
            let report = vec![Observation::Complaint(complaint)];
            self.context.observed(report).await?;
        }
        Ok(())
    }

    /// Tells whether the last complaint is long enough ago, and takes note of a new one if it is.
    fn may_complain(&mut self) -> bool {
        let is_due = self
            .complained
            .is_none_or(|last| last.elapsed() >= COMPLAINT_EVERY);
        if is_due {
            self.complained = Some(Instant::now());
            self.is_disturbed = true;
        }
        is_due
    }

    fn was_stable(&self) -> bool {
        self.up_since
            .is_some_and(|since| since.elapsed() >= STABLE_AFTER)
    }
}

/// Runs a session for ever, waiting a little longer after every failure.
///
/// # Errors
/// The device has stopped.
pub async fn keep(
    context: &SourceContext,
    mut session: impl SourceSession,
) -> Result<Infallible, Stopped> {
    let mut backoff = Backoff::new(Chance::new());
    let mut outage = Outage::default();
    loop {
        context
            .observed(vec![Observation::Connection(Connection::Connecting)])
            .await?;
        let mut link = SessionLink::new(context);
        let Err(ended) = session.run(&mut link).await;
        let dropped: Vec<Observation> = link.dropped().collect();
        if !dropped.is_empty() {
            context.observed(dropped).await?;
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
