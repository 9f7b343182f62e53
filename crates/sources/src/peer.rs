//! A peer of the Bitcoin network: handshake and headers. Also the owner's node over the P2P protocol.

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use chain::{BlockHash, Header, network::Network, rules::HeaderRefusal};
use device::sources::NodeConfig;
use feeds::{
    malformed::Malformed,
    p2p::{self, HEAD_BYTES, HEADERS_MAX, Message, MessageHeader, MessageKind},
};
use market::{HeadersReach, HeadersReply};
use net::{
    chance::Chance,
    dialer::{BoxedStream, Destination, TransportSecurity},
};
use runtime::{clock::Wall, inbox::Stopped};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::{self, Instant},
};

use super::{
    SourceContext,
    node::{self, WrongHeaders, is_settled},
    session::{SessionEnd, SessionLink, SourceSession},
};

/// Longest time for the handshake.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Longest time for a response, and for sending a message.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// Interval of the requests for new headers, which are also announced by the peer.
pub const REQUEST_EVERY: Duration = Duration::from_secs(5 * 60);

/// Least time between two requests.
pub const REQUEST_PAUSE: Duration = Duration::from_secs(1);

/// Time after which a block from the future is requested again.
pub const FUTURE_PAUSE: Duration = Duration::from_secs(60);

/// Unsolicited messages in a row without anything new.
pub const IDLE_MAX: u32 = 64;

/// Messages other than headers that a peer may send in [`CHATTER_PERIOD`].
pub const CHATTER_MAX: u32 = 120;

/// Time for which [`CHATTER_MAX`] holds.
pub const CHATTER_PERIOD: Duration = Duration::from_secs(60);

/// Longest time that a peer's chain may be behind the device's.
pub const BEHIND_MAX: Duration = Duration::from_secs(20 * 60);

/// Most headers of an unsolicited announcement.
const ANNOUNCED_MAX: usize = 16;

const READ_BYTES: usize = 16 * 1024;

/// Problem report for a node that has not sent a header yet.
const NO_BLOCKS: &str = "it sends no blocks after the known ones: it may still be synchronising";

/// Reason of [`PeerEnd::Behind`].
pub const BEHIND: &str = "its chain stays behind";

/// User agent of this program in the P2P protocol.
const AGENT: &str = concat!("/papertick:", env!("CARGO_PKG_VERSION"), "/");

/// Why a connection to a peer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerEnd {
    /// The device has stopped.
    Stopped,
    /// It did not respond, or is of no use.
    Failed(String),
    /// Its chain stays behind.
    Behind,
    /// It breaks the rules.
    Faulty(String),
    /// It sent a message that cannot be parsed.
    Nonsense(Malformed),
}

impl From<Stopped> for PeerEnd {
    fn from(_: Stopped) -> PeerEnd {
        PeerEnd::Stopped
    }
}

impl From<WrongHeaders> for PeerEnd {
    fn from(wrong: WrongHeaders) -> PeerEnd {
        PeerEnd::Faulty(wrong.to_string())
    }
}

impl From<Malformed> for PeerEnd {
    fn from(malformed: Malformed) -> PeerEnd {
        PeerEnd::Nonsense(malformed)
    }
}

impl From<io::Error> for PeerEnd {
    fn from(error: io::Error) -> PeerEnd {
        PeerEnd::Failed(format!("the connection was lost ({})", error.kind()))
    }
}

/// A connection to a peer after the handshake.
#[derive(Debug)]
pub struct PeerConnection {
    stream: BoxedStream,
    network: Network,
    read: Vec<u8>,
    /// Remaining bytes of an ignored payload.
    skipped: usize,
    /// Messages other than headers since `chatter_since`.
    chatter: u32,
    chatter_since: Instant,
}

impl PeerConnection {
    /// Performs the handshake.
    ///
    /// # Errors
    /// The peer does not respond in time, or has no headers.
    pub async fn handshake(
        stream: BoxedStream,
        network: Network,
        context: &SourceContext,
    ) -> Result<PeerConnection, PeerEnd> {
        let mut wire = PeerConnection {
            stream,
            network,
            read: Vec::new(),
            skipped: 0,
            chatter: 0,
            chatter_since: Instant::now(),
        };
        let utc = context.shared.clock.now().utc;
        let unix_secs = utc.map_or(0, |utc| utc.unix_secs());
        let nonce = Chance::new().number();
        let outcome = time::timeout(HANDSHAKE_TIMEOUT, async {
            wire.send(&p2p::encode_version(network, unix_secs, nonce, AGENT))
                .await?;
            let (mut has_version, mut has_verack) = (false, false);
            while !has_version || !has_verack {
                match wire.next().await? {
                    Message::Version(version) if version.is_of_use() => {
                        has_version = true;
                        wire.send(&p2p::encode_verack(network)).await?;
                    }
                    Message::Version(_) => {
                        let reason = "it has no blocks, or is too old to serve them";
                        return Err(PeerEnd::Failed(reason.to_owned()));
                    }
                    Message::Verack => has_verack = true,
                    Message::Ping(number) => wire.send(&p2p::encode_pong(network, number)).await?,
                    Message::Headers(_) | Message::Block | Message::Nothing => {}
                }
            }
            wire.send(&p2p::encode_sendheaders(network)).await
        });
        let late = || Err(PeerEnd::Failed("no handshake in time".to_owned()));
        outcome.await.unwrap_or_else(|_| late())?;
        Ok(wire)
    }

    async fn send(&mut self, message: &[u8]) -> Result<(), PeerEnd> {
        let sent = time::timeout(ANSWER_TIMEOUT, self.stream.write_all(message)).await;
        let late = || Err(PeerEnd::Failed("it takes no messages".to_owned()));
        sent.map_or_else(|_| late(), |sent| Ok(sent?))
    }

    /// Reads the next relevant message. Cancel safe.
    async fn next(&mut self) -> Result<Message, PeerEnd> {
        loop {
            let skipped = self.skipped.min(self.read.len());
            self.read.drain(..skipped);
            self.skipped -= skipped;
            let mut room = READ_BYTES;
            if let Some(head) = self.head()? {
                let end = HEAD_BYTES + head.length;
                if !head.is_of_use() {
                    self.skipped = end;
                    self.count_chatter()?;
                    continue;
                }
                if self.read.len() >= end {
                    if head.kind != MessageKind::Headers {
                        self.count_chatter()?;
                    }
                    let message = p2p::message(&head, &self.read[HEAD_BYTES..end]);
                    self.read.drain(..end);
                    // Release the memory of a long message.
                    self.read.shrink_to(READ_BYTES);
                    return Ok(message?);
                }
                // Reserve exactly the message length instead of doubling.
                let missing = end - self.read.len();
                self.read.reserve_exact(missing);
                room = room.min(missing);
            }
            self.read.reserve_exact(room);
            let next = (&mut self.stream).take(room as u64);
            let count = { next }.read_buf(&mut self.read).await?;
            if count == 0 {
                return Err(PeerEnd::Failed("it has closed the connection".to_owned()));
            }
        }
    }

    /// Counts a message other than headers.
    ///
    /// # Errors
    /// There were too many of them.
    fn count_chatter(&mut self) -> Result<(), PeerEnd> {
        if self.chatter_since.elapsed() >= CHATTER_PERIOD {
            (self.chatter, self.chatter_since) = (0, Instant::now());
        }
        self.chatter += 1;
        if self.chatter > CHATTER_MAX {
            Err(PeerEnd::Faulty("it sends too many messages".to_owned()))
        } else {
            Ok(())
        }
    }

    /// The header of the message at the start of the buffer.
    fn head(&self) -> Result<Option<MessageHeader>, Malformed> {
        if self.skipped > 0 {
            return Ok(None);
        }
        match self.read.first_chunk::<HEAD_BYTES>() {
            Some(bytes) => p2p::head(self.network, bytes).map(Some),
            None => Ok(None),
        }
    }
}

/// Result of a request or an announcement.
#[derive(Debug)]
pub enum PeerReply {
    /// Headers and their verdict.
    Headers(HeadersReply),
    /// The response was empty.
    Nothing,
}

#[derive(Debug)]
pub struct Following<'a> {
    context: &'a SourceContext,
    /// Its place among the connected peers.
    place: u8,
    wire: PeerConnection,
    /// Only one peer has a pending request: the others continue from its result.
    turn: Arc<Semaphore>,
    /// The pending request: when it was sent, and its permit.
    pending: Option<(Instant, OwnedSemaphorePermit)>,
    request_at: Instant,
    /// When the last request was sent.
    last_request: Option<Instant>,
    /// When its newest block last was that of the device's chain.
    agreed: Instant,
    /// Its newest block, if that is the one of the device's chain.
    tip: Option<BlockHash>,
    /// Unsolicited messages since it last sent something new.
    idle: u32,
    /// Notifies when the wall clock is set and when the machine wakes.
    steps: watch::Receiver<Wall>,
}

impl<'a> Following<'a> {
    pub fn of(
        context: &'a SourceContext,
        place: u8,
        wire: PeerConnection,
        turn: Arc<Semaphore>,
    ) -> Following<'a> {
        let now = Instant::now();
        Following {
            context,
            place,
            wire,
            turn,
            pending: None,
            request_at: now,
            last_request: None,
            agreed: now,
            tip: None,
            idle: 0,
            steps: context.shared.clock.steps(),
        }
    }

    /// Waits for headers and returns their verdict.
    ///
    /// # Errors
    /// The connection must be closed.
    pub async fn next(&mut self) -> Result<PeerReply, PeerEnd> {
        loop {
            let since = self.pending.as_ref().map(|(since, _)| *since);
            let answer_by = since.map_or(self.request_at, |since| since + ANSWER_TIMEOUT);
            let turn = permit(Arc::clone(&self.turn), self.request_at);
            tokio::select! {
                message = self.wire.next() => match message? {
                    Message::Headers(headers) => {
                        if let Some(reply) = self.handle_headers(headers).await? {
                            return Ok(reply);
                        }
                    }
                    Message::Block => {
                        self.count_idle()?;
                        self.request_soon();
                    }
                    Message::Ping(number) => {
                        let pong = p2p::encode_pong(self.wire.network, number);
                        self.wire.send(&pong).await?;
                    }
                    // Transactions, which this client does not want.
                    Message::Nothing => self.count_idle()?,
                    Message::Version(_) | Message::Verack => {}
                },
                // A block may have arrived while the machine slept, or be valid by the new time.
                Ok(()) = self.steps.changed() => self.request_soon(),
                // Announcements are handled while waiting for the permit.
                turn = turn, if since.is_none() => self.request(turn?).await?,
                () = time::sleep_until(answer_by), if since.is_some() => {
                    return Err(PeerEnd::Failed("no answer in time".to_owned()));
                }
            }
        }
    }

    /// Schedules the next request as soon as allowed.
    fn request_soon(&mut self) {
        let now = Instant::now();
        self.request_at = self
            .last_request
            .map_or(now, |at| now.max(at + REQUEST_PAUSE));
    }

    /// Counts an unsolicited message.
    fn count_idle(&mut self) -> Result<(), PeerEnd> {
        self.idle += 1;
        if self.idle > IDLE_MAX {
            Err(PeerEnd::Faulty("it sends nothing new".to_owned()))
        } else {
            Ok(())
        }
    }

    async fn request(&mut self, turn: OwnedSemaphorePermit) -> Result<(), PeerEnd> {
        if self.agreed.elapsed() > BEHIND_MAX {
            return Err(PeerEnd::Behind);
        }
        let state = self
            .context
            .submit_headers(self.place, Vec::new(), HeadersReach::More);
        let locator = state.await?.locator;
        // Starting one block before the newest known one, the response shows whether the peer has that one too.
        let before = locator.get(1..).filter(|before| !before.is_empty());
        let get_headers = p2p::encode_getheaders(self.wire.network, before.unwrap_or(&locator));
        self.wire.send(&get_headers).await?;
        let now = Instant::now();
        self.last_request = Some(now);
        self.pending = Some((now, turn));
        Ok(())
    }

    async fn handle_headers(&mut self, headers: Vec<Header>) -> Result<Option<PeerReply>, PeerEnd> {
        let is_short = headers.len() <= ANNOUNCED_MAX;
        // The permit is released once the response was handled.
        let pending = self.pending.take();
        if pending.is_none() {
            if !is_short {
                let reason = "it sends headers that were not requested";
                return Err(PeerEnd::Faulty(reason.to_owned()));
            }
            self.count_idle()?;
        }
        if headers.is_empty() {
            self.request_at = Instant::now() + REQUEST_EVERY;
            return Ok(pending.map(|_| PeerReply::Nothing));
        }
        let reach = if headers.len() < HEADERS_MAX {
            HeadersReach::Newest
        } else {
            HeadersReach::More
        };
        let reply = self
            .context
            .submit_headers(self.place, headers, reach)
            .await?;
        if !is_settled(&reply)? {
            match pending {
                Some(_) if !is_short => return Err(WrongHeaders::Elsewhere.into()),
                // It has announced a block meanwhile; the response is still to come.
                Some(_) => self.pending = pending,
                None => self.request_soon(),
            }
            return Ok(None);
        }
        self.request_at = Instant::now() + REQUEST_EVERY;
        let tip = reply.locator.first().filter(|_| reply.is_tip);
        if tip.is_some() {
            self.agreed = Instant::now();
        }
        if reply.is_new || (tip.is_some() && tip != self.tip.as_ref()) {
            self.tip = tip.copied();
            self.idle = 0;
        }
        if reply.refused == Some(HeaderRefusal::Future) {
            self.request_at = Instant::now() + FUTURE_PAUSE;
        } else if reach == HeadersReach::More && reply.is_new {
            self.request_at = Instant::now();
        }
        Ok(Some(PeerReply::Headers(reply)))
    }
}

/// Waits for the time of the request, and then for the permit.
async fn permit(turn: Arc<Semaphore>, at: Instant) -> Result<OwnedSemaphorePermit, PeerEnd> {
    time::sleep_until(at).await;
    turn.acquire_owned().await.map_err(|_| PeerEnd::Stopped)
}

/// The owner's node as a peer.
#[derive(Debug)]
pub struct OwnPeer {
    node: NodeConfig,
}

impl OwnPeer {
    pub fn of(node: NodeConfig) -> OwnPeer {
        OwnPeer { node }
    }
}

impl SourceSession for OwnPeer {
    async fn run(&mut self, link: &mut SessionLink<'_>) -> Result<Infallible, SessionEnd> {
        let usual = p2p::port(self.node.network);
        let (host, port) = node::place(&self.node.host, self.node.port, usual)?;
        let destination = Destination {
            host,
            port,
            security: TransportSecurity::Plain,
        };
        let stream = link.dial(destination).await?;
        let context = link.context();
        let wire = PeerConnection::handshake(stream, self.node.network, context).await?;
        let mut following = Following::of(context, 0, wire, Arc::new(Semaphore::new(1)));
        loop {
            match following.next().await? {
                PeerReply::Headers(reply) => match reply.refused {
                    Some(refusal) => link.report_problem(refusal.to_string()).await?,
                    None => link.report_up().await?,
                },
                // A node just one block behind also returns none; one that never returns any is still synchronising.
                PeerReply::Nothing if !link.is_up() => {
                    link.report_problem(NO_BLOCKS.to_owned()).await?
                }
                PeerReply::Nothing => {}
            }
        }
    }
}

impl From<PeerEnd> for SessionEnd {
    fn from(end: PeerEnd) -> SessionEnd {
        match end {
            PeerEnd::Stopped => SessionEnd::Stopped,
            PeerEnd::Failed(reason) => SessionEnd::because(reason),
            PeerEnd::Behind => SessionEnd::because(BEHIND.to_owned()),
            PeerEnd::Nonsense(malformed) => node::bad_answer(malformed),
            PeerEnd::Faulty(reason) => SessionEnd::Failed {
                reason,
                retry_after: Some(node::BAD_NODE_PAUSE),
            },
        }
    }
}
