//! A peer of the Bitcoin network: who it is, and its headers; the owner's node where it speaks nothing else.

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use chain::{BlockHash, Header, network::Network, rules::HeaderRefusal};
use device::sources::NodeConfig;
use feeds::{
    malformed::Malformed,
    p2p::{self, HEAD_BYTES, HEADERS_MAX, Message, MessageHeader, MessageKind},
};
use market::{HeadersReach, Judged};
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
    by_height::{Astray, is_settled},
    node,
    session::{SessionEnd, SessionLink, SourceSession},
};

/// Longest time until both sides know who the other is.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Longest time for an answer, and for a message to be taken.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// Time between two questions for new headers, which are announced besides.
pub const ASK_EVERY: Duration = Duration::from_secs(5 * 60);

/// Least time between two questions.
pub const ASK_PAUSE: Duration = Duration::from_secs(1);

/// Time after which a block is asked for again whose time had not come.
pub const FUTURE_PAUSE: Duration = Duration::from_secs(60);

/// Messages in a row that nobody has asked for and that bring nothing new.
pub const IDLE_MAX: u32 = 64;

/// Messages other than headers that a peer may send in [`CHATTER_PERIOD`].
pub const CHATTER_MAX: u32 = 120;

/// Time for which [`CHATTER_MAX`] holds.
pub const CHATTER_PERIOD: Duration = Duration::from_secs(60);

/// Longest time that a peer's chain may stay behind the one that is kept.
pub const BEHIND_MAX: Duration = Duration::from_secs(20 * 60);

/// Most headers of an announcement that nobody has asked for.
const ANNOUNCED_MAX: usize = 16;

/// Bytes that are read at once.
const READ_BYTES: usize = 16 * 1024;

/// What is said of a node that has never told a header.
const NOTHING_TOLD: &str =
    "it tells no blocks after those that are known: it may still be catching up";

/// Reason of [`Parted::Behind`].
pub const BEHIND: &str = "its chain stays behind";

/// How this program calls itself among peers.
const AGENT: &str = concat!("/papertick:", env!("CARGO_PKG_VERSION"), "/");

/// Why a peer was left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parted {
    /// The device has stopped.
    Stopped,
    /// It did not answer, or cannot help.
    Failed(String),
    /// Its chain stays behind.
    Behind,
    /// It breaks the rules.
    Faulty(String),
    /// It says what makes no sense.
    Nonsense(Malformed),
}

impl From<Stopped> for Parted {
    fn from(_: Stopped) -> Parted {
        Parted::Stopped
    }
}

impl From<Astray> for Parted {
    fn from(astray: Astray) -> Parted {
        Parted::Faulty(astray.to_string())
    }
}

impl From<Malformed> for Parted {
    fn from(malformed: Malformed) -> Parted {
        Parted::Nonsense(malformed)
    }
}

impl From<io::Error> for Parted {
    fn from(error: io::Error) -> Parted {
        Parted::Failed(format!("the connection broke off ({})", error.kind()))
    }
}

/// A connection to a peer after the handshake.
#[derive(Debug)]
pub struct PeerConnection {
    stream: BoxedStream,
    network: Network,
    read: Vec<u8>,
    /// Bytes of a payload that are of no use and have not come yet.
    skipped: usize,
    /// Messages other than headers since `chatter_since`.
    chatter: u32,
    chatter_since: Instant,
}

impl PeerConnection {
    /// Says who we are, and learns who the peer is.
    ///
    /// # Errors
    /// The peer does not answer in time, or has no headers to tell.
    pub async fn greet(
        stream: BoxedStream,
        network: Network,
        context: &SourceContext,
    ) -> Result<PeerConnection, Parted> {
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
        let greeted = time::timeout(HANDSHAKE_TIMEOUT, async {
            wire.send(&p2p::say_version(network, unix_secs, nonce, AGENT))
                .await?;
            let (mut is_known, mut knows) = (false, false);
            while !is_known || !knows {
                match wire.next().await? {
                    Message::Version(version) if version.is_of_use() => {
                        is_known = true;
                        wire.send(&p2p::say_verack(network)).await?;
                    }
                    Message::Version(_) => {
                        let reason = "it has no blocks, or is too old to tell of them";
                        return Err(Parted::Failed(reason.to_owned()));
                    }
                    Message::Verack => knows = true,
                    Message::Ping(number) => wire.send(&p2p::say_pong(network, number)).await?,
                    Message::Headers(_) | Message::Block | Message::Nothing => {}
                }
            }
            wire.send(&p2p::ask_for_headers_first(network)).await
        });
        let late = || Err(Parted::Failed("it does not say who it is".to_owned()));
        greeted.await.unwrap_or_else(|_| late())?;
        Ok(wire)
    }

    async fn send(&mut self, message: &[u8]) -> Result<(), Parted> {
        let sent = time::timeout(ANSWER_TIMEOUT, self.stream.write_all(message)).await;
        let late = || Err(Parted::Failed("it takes no messages".to_owned()));
        sent.map_or_else(|_| late(), |sent| Ok(sent?))
    }

    /// The next message of use. Nothing is lost when this is dropped while it waits.
    async fn next(&mut self) -> Result<Message, Parted> {
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
                    // What a long message has taken is not kept.
                    self.read.shrink_to(READ_BYTES);
                    return Ok(message?);
                }
                // A long message takes its own length, and no more by growing to it.
                let missing = end - self.read.len();
                self.read.reserve_exact(missing);
                room = room.min(missing);
            }
            self.read.reserve_exact(room);
            let next = (&mut self.stream).take(room as u64);
            let count = { next }.read_buf(&mut self.read).await?;
            if count == 0 {
                return Err(Parted::Failed("it has closed the connection".to_owned()));
            }
        }
    }

    /// Counts a message other than headers.
    ///
    /// # Errors
    /// There were too many of them.
    fn count_chatter(&mut self) -> Result<(), Parted> {
        if self.chatter_since.elapsed() >= CHATTER_PERIOD {
            (self.chatter, self.chatter_since) = (0, Instant::now());
        }
        self.chatter += 1;
        match self.chatter > CHATTER_MAX {
            true => Err(Parted::Faulty("it sends too many messages".to_owned())),
            false => Ok(()),
        }
    }

    /// The head of the message that has begun to come.
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

/// What a peer has sent.
#[derive(Debug)]
pub enum PeerReply {
    /// Headers, and what came of them.
    Headers(Judged),
    /// Asked for headers, it has none.
    Nothing,
}

/// Follows the headers of a peer.
#[derive(Debug)]
pub struct Following<'a> {
    context: &'a SourceContext,
    /// Its place among the peers that are asked.
    place: u8,
    wire: PeerConnection,
    /// Only one of all peers is asked at a time: the others go on from what it has told.
    turn: Arc<Semaphore>,
    /// The question that is not answered yet: since when, and the turn that it has.
    asked: Option<(Instant, OwnedSemaphorePermit)>,
    ask_at: Instant,
    /// When it was asked last.
    last_asked: Option<Instant>,
    /// When its newest block was that of the chain that is kept.
    agreed: Instant,
    /// Its newest block, where that is the one of the chain that is kept.
    tip: Option<BlockHash>,
    /// Messages that nobody has asked for since it has told something new.
    idle: u32,
    /// Tells when the wall clock is set and when the machine wakes.
    steps: watch::Receiver<Wall>,
}

impl<'a> Following<'a> {
    /// Follows a peer from now on.
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
            asked: None,
            ask_at: now,
            last_asked: None,
            agreed: now,
            tip: None,
            idle: 0,
            steps: context.shared.clock.steps(),
        }
    }

    /// Waits for headers; tells what came of them.
    ///
    /// # Errors
    /// The peer is to be left.
    pub async fn next(&mut self) -> Result<PeerReply, Parted> {
        loop {
            let since = self.asked.as_ref().map(|(since, _)| *since);
            let answer_by = since.map_or(self.ask_at, |since| since + ANSWER_TIMEOUT);
            let turn = turn(Arc::clone(&self.turn), self.ask_at);
            tokio::select! {
                message = self.wire.next() => match message? {
                    Message::Headers(headers) => {
                        if let Some(heard) = self.hear(headers).await? {
                            return Ok(heard);
                        }
                    }
                    Message::Block => {
                        self.put_up_with()?;
                        self.ask_soon();
                    }
                    Message::Ping(number) => {
                        let pong = p2p::say_pong(self.wire.network, number);
                        self.wire.send(&pong).await?;
                    }
                    // It was asked not to announce transactions.
                    Message::Nothing => self.put_up_with()?,
                    Message::Version(_) | Message::Verack => {}
                },
                // A block may have come while the machine slept, or its time by another clock.
                Ok(()) = self.steps.changed() => self.ask_soon(),
                // Who waits for its turn hears all the same.
                turn = turn, if since.is_none() => self.ask(turn?).await?,
                () = time::sleep_until(answer_by), if since.is_some() => {
                    return Err(Parted::Failed("no answer in time".to_owned()));
                }
            }
        }
    }

    /// Asks as soon as it may be asked again.
    fn ask_soon(&mut self) {
        let now = Instant::now();
        self.ask_at = self.last_asked.map_or(now, |at| now.max(at + ASK_PAUSE));
    }

    /// Takes note of a message that nobody has asked for.
    fn put_up_with(&mut self) -> Result<(), Parted> {
        self.idle += 1;
        match self.idle > IDLE_MAX {
            true => Err(Parted::Faulty("it tells nothing new".to_owned())),
            false => Ok(()),
        }
    }

    async fn ask(&mut self, turn: OwnedSemaphorePermit) -> Result<(), Parted> {
        if self.agreed.elapsed() > BEHIND_MAX {
            return Err(Parted::Behind);
        }
        let kept = self
            .context
            .judge(self.place, Vec::new(), HeadersReach::More);
        let locator = kept.await?.locator;
        // Asked from the block before the newest one on, a peer tells whether it has the newest one too.
        let before = locator.get(1..).filter(|before| !before.is_empty());
        let question = p2p::ask_for_headers(self.wire.network, before.unwrap_or(&locator));
        self.wire.send(&question).await?;
        let now = Instant::now();
        self.last_asked = Some(now);
        self.asked = Some((now, turn));
        Ok(())
    }

    async fn hear(&mut self, headers: Vec<Header>) -> Result<Option<PeerReply>, Parted> {
        let is_short = headers.len() <= ANNOUNCED_MAX;
        // The turn ends with what came of the answer.
        let asked = self.asked.take();
        if asked.is_none() {
            if !is_short {
                let reason = "it sends headers that nobody has asked for";
                return Err(Parted::Faulty(reason.to_owned()));
            }
            self.put_up_with()?;
        }
        if headers.is_empty() {
            self.ask_at = Instant::now() + ASK_EVERY;
            return Ok(asked.map(|_| PeerReply::Nothing));
        }
        let reach = match headers.len() < HEADERS_MAX {
            true => HeadersReach::Newest,
            false => HeadersReach::More,
        };
        let judged = self.context.judge(self.place, headers, reach).await?;
        if !is_settled(&judged)? {
            match asked {
                Some(_) if !is_short => return Err(Astray::Elsewhere.into()),
                // It has announced a block meanwhile; the answer is still to come.
                Some(_) => self.asked = asked,
                None => self.ask_soon(),
            }
            return Ok(None);
        }
        self.ask_at = Instant::now() + ASK_EVERY;
        let tip = judged.locator.first().filter(|_| judged.is_tip);
        if tip.is_some() {
            self.agreed = Instant::now();
        }
        if judged.is_new || (tip.is_some() && tip != self.tip.as_ref()) {
            self.tip = tip.copied();
            self.idle = 0;
        }
        if judged.refused == Some(HeaderRefusal::Future) {
            self.ask_at = Instant::now() + FUTURE_PAUSE;
        } else if reach == HeadersReach::More && judged.is_new {
            self.ask_at = Instant::now();
        }
        Ok(Some(PeerReply::Headers(judged)))
    }
}

/// Waits for the time to ask, and then for the turn.
async fn turn(turn: Arc<Semaphore>, at: Instant) -> Result<OwnedSemaphorePermit, Parted> {
    time::sleep_until(at).await;
    turn.acquire_owned().await.map_err(|_| Parted::Stopped)
}

/// The owner's node as a peer.
#[derive(Debug)]
pub struct OwnPeer {
    node: NodeConfig,
}

impl OwnPeer {
    /// The node of this place.
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
        let wire = PeerConnection::greet(stream, self.node.network, context).await?;
        let mut following = Following::of(context, 0, wire, Arc::new(Semaphore::new(1)));
        loop {
            match following.next().await? {
                PeerReply::Headers(judged) => match judged.refused {
                    Some(refusal) => link.complain(refusal.to_string()).await?,
                    None => link.well().await?,
                },
                // Who is just a block behind has none either; who never tells one is still catching up.
                PeerReply::Nothing if !link.is_up() => {
                    link.complain(NOTHING_TOLD.to_owned()).await?
                }
                PeerReply::Nothing => {}
            }
        }
    }
}

impl From<Parted> for SessionEnd {
    fn from(parted: Parted) -> SessionEnd {
        match parted {
            Parted::Stopped => SessionEnd::Stopped,
            Parted::Failed(reason) => SessionEnd::because(reason),
            Parted::Behind => SessionEnd::because(BEHIND.to_owned()),
            Parted::Nonsense(malformed) => node::useless(malformed),
            Parted::Faulty(reason) => SessionEnd::Failed {
                reason,
                retry_after: Some(node::LEFT_ALONE),
            },
        }
    }
}
