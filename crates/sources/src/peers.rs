//! Public peers of the Bitcoin network: a few at a time, of different networks, who are asked for headers and nothing else.
//!
//! Each has a *place*, which is whose word it is: two places are never held by peers of one network, so that they agree of
//! their own. Where the owner names peers, those are asked and nobody else; else those that have answered well before, and
//! those that the seeds of the network lead to.
//!
//! **Invariant:** whatever a peer sends, it is left alone for a while, and nothing of it is kept.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    net::IpAddr,
    sync::Arc,
    time::Duration,
};

use chain::{BlockHash, network::Network};
use feeds::{malformed::Malformed, p2p};
use futures_util::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use market::{Connection, Observation};
use net::{
    chance::Chance,
    dialer::{Destination, TransportSecurity, goes_by_name},
    url::{bracketed, split_authority},
};
use runtime::{inbox::Stopped, outage::Outage, waits::over};
use tokio::{
    sync::{Notify, Semaphore, oneshot},
    time::{self, Instant, MissedTickBehavior},
};
use tracing::Instrument;

use super::{
    SourceContext,
    common::SharedValue,
    peer::{BEHIND, Following, Parted, PeerConnection, PeerReply},
};

/// Peers that are asked beside the others while no block comes.
pub const MORE_IN_SILENCE: usize = 2;

/// Time without a block after which more peers are asked: one of twenty blocks comes later.
pub const SILENCE: Duration = Duration::from_secs(30 * 60);

/// Time after which another peer takes the place of one.
pub const TURN_OVER_EVERY: Duration = Duration::from_secs(6 * 60 * 60);

/// Time for which a peer is left alone that breaks the rules.
pub const FAULTY_PAUSE: Duration = Duration::from_secs(24 * 60 * 60);

/// Time for which a peer is left alone that does not answer; less where none does, for then it may not be its fault.
pub const FAILED_PAUSE: Duration = Duration::from_secs(5 * 60);

/// Time between two looks at whether somebody is missing.
pub const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Time between two questions to the seeds.
pub const SEEDS_EVERY: Duration = Duration::from_secs(5 * 60);

/// Peers that are left alone at the same time; the one whose time is soonest over makes room.
pub const LEFT_ALONE_MAX: usize = 64;

/// Addresses of one seed that are tried.
const PER_SEED_MAX: usize = 8;

/// Seeds that are asked at the same time.
const SEEDS_AT_ONCE: usize = 3;

/// Which peers to connect to.
#[derive(Debug, Clone)]
pub struct PeerPlan {
    /// Which chain they follow.
    pub network: Network,
    /// Those that the owner names; empty for whoever can be found.
    pub hosts: Vec<String>,
    /// How many are asked at the same time.
    pub most: u32,
}

/// Somebody who could be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Candidate {
    host: String,
    port: u16,
    /// Whoever has the same one may be the same.
    group: AddressGroup,
    /// It leads to somebody else each time.
    is_seed: bool,
}

/// The part of the internet that an address belongs to. Peers must come from different groups.
#[derive(Debug, Clone, PartialEq, Eq)]
enum AddressGroup {
    /// The first 16 bits of an address.
    V4([u8; 2]),
    /// The first 48 bits of an address.
    V6([u16; 3]),
    /// Somebody who has a name of his own.
    Name(String),
}

impl Candidate {
    fn read(text: &str, network: Network) -> Option<Candidate> {
        let (host, port) = split_authority(text).ok()?;
        Some(Candidate::of(host, port.unwrap_or(p2p::port(network))))
    }

    fn of(host: &str, port: u16) -> Candidate {
        let group = match host.parse::<IpAddr>().map(|address| address.to_canonical()) {
            Ok(IpAddr::V4(address)) => {
                let [first, second, ..] = address.octets();
                AddressGroup::V4([first, second])
            }
            Ok(IpAddr::V6(address)) => {
                let [first, second, third, ..] = address.segments();
                AddressGroup::V6([first, second, third])
            }
            Err(_) => AddressGroup::Name(format!("{host}:{port}")),
        };
        Candidate {
            host: host.to_owned(),
            port,
            group,
            is_seed: false,
        }
    }

    /// How it is called, and found again.
    fn name(&self) -> String {
        format!("{}:{}", bracketed(&self.host), self.port)
    }
}

/// State that all peers share.
#[derive(Debug, Clone)]
struct PeerShared {
    seen: SharedValue<PeerProgress>,
    /// A peer has shown headers.
    shown: Arc<Notify>,
    /// Only one of them is asked at a time.
    turn: Arc<Semaphore>,
}

/// What the peers have sent so far.
#[derive(Debug, Clone, Default)]
struct PeerProgress {
    /// When a block came last, from them or from anybody else.
    news_at: Option<Instant>,
    /// The newest block that they have.
    tip: Option<BlockHash>,
    /// Places whose peers have shown headers.
    up: BTreeSet<u8>,
}

/// A connected peer.
#[derive(Debug)]
struct PeerSlot {
    /// Which connection it is.
    number: u64,
    candidate: Candidate,
    since: Instant,
    /// Dropping it ends the connection; none if it has ended.
    stay: Option<oneshot::Sender<Infallible>>,
}

/// The connected peers and the candidates.
struct PeerPool<'a> {
    context: &'a SourceContext,
    wanted: PeerPlan,
    /// By place; who had a place last keeps the network to it until somebody else has it.
    seats: BTreeMap<u8, PeerSlot>,
    left_alone: BTreeMap<String, Instant>,
    /// Peers that failed since another peer has last sent headers.
    failed: BTreeSet<String>,
    found: Vec<Candidate>,
    /// Seeds that are being asked.
    finding: Option<BoxFuture<'a, Vec<Candidate>>>,
    /// When they may be asked again; none before they were.
    seeds_at: Option<Instant>,
    turned_over: Instant,
    together: PeerShared,
    /// Connections so far.
    connections: u64,
    chance: Chance,
    outage: Outage,
    told: Option<Connection>,
    /// Since when nobody answers; none while somebody does.
    alone: Option<Instant>,
    /// Places whose peer has left, which is to be told.
    parted: BTreeSet<u8>,
}

/// The end of a connection to a peer.
struct PeerExit {
    place: u8,
    number: u64,
    parted: Parted,
}

type Runs<'a> = FuturesUnordered<BoxFuture<'a, PeerExit>>;

/// Asks public peers for ever.
///
/// # Errors
/// The device has stopped.
pub async fn keep(context: &SourceContext, wanted: PeerPlan) -> Result<Infallible, Stopped> {
    let now = Instant::now();
    let mut crew = PeerPool {
        context,
        wanted,
        seats: BTreeMap::new(),
        left_alone: BTreeMap::new(),
        failed: BTreeSet::new(),
        found: Vec::new(),
        finding: None,
        seeds_at: None,
        turned_over: now,
        together: PeerShared {
            seen: SharedValue::new(PeerProgress {
                news_at: Some(now),
                ..PeerProgress::default()
            }),
            shown: Arc::default(),
            turn: Arc::new(Semaphore::new(1)),
        },
        connections: 0,
        chance: Chance::new(),
        outage: Outage::default(),
        told: None,
        alone: Some(now),
        parted: BTreeSet::new(),
    };
    crew.tell(Connection::Connecting).await?;
    let mut runs = Runs::new();
    let mut looks = time::interval(LOOK_EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let shown = Arc::clone(&crew.together.shown);
    loop {
        tokio::select! {
            () = shown.notified() => crew.forget_failed().await?,
            _ = looks.tick() => {
                crew.turn_over();
                crew.fill(&mut runs);
            }
            found = over(&mut crew.finding) => {
                crew.finding = None;
                crew.found = found;
                crew.fill(&mut runs);
                crew.tell_if_alone(runs.is_empty()).await?;
            }
            Some(left) = runs.next() => crew.left(left).await?,
        }
        crew.tell_how_it_is().await?;
    }
}

impl<'a> PeerPool<'a> {
    /// How many are to be asked now.
    fn wanted_now(&self) -> usize {
        let most = self.wanted.most as usize;
        let news_at = self.together.seen.with(|seen| seen.news_at);
        match news_at.is_some_and(|at| at.elapsed() >= SILENCE) {
            true => most + MORE_IN_SILENCE,
            false => most,
        }
    }

    /// Asks somebody in each place that is free.
    fn fill(&mut self, runs: &mut Runs<'a>) {
        let wanted = self.wanted_now();
        for place in 0..u8::try_from(wanted).unwrap_or(u8::MAX) {
            let is_free = self
                .seats
                .get(&place)
                .is_none_or(|seat| seat.stay.is_none());
            if !is_free {
                continue;
            }
            let Some(candidate) = self.pick(place) else {
                continue;
            };
            let (stay, leave) = oneshot::channel();
            self.connections += 1;
            let number = self.connections;
            let (context, together) = (self.context, self.together.clone());
            let (network, who) = (self.wanted.network, candidate.clone());
            let run = async move {
                let asked = ask(context, network, &who, place, together);
                PeerExit {
                    place,
                    number,
                    parted: until_let_go(asked, leave).await,
                }
            };
            let span = tracing::info_span!("peer", place);
            runs.push(Box::pin(run.instrument(span)));
            let seat = PeerSlot {
                number,
                candidate,
                since: Instant::now(),
                stay: Some(stay),
            };
            if self.seats.insert(place, seat).is_some() {
                self.parted.insert(place);
            }
            self.together.seen.with(|seen| seen.up.remove(&place));
        }
        // Who was asked only while no block came is left when one has come.
        for (_, seat) in self
            .seats
            .iter_mut()
            .filter(|(place, _)| usize::from(**place) >= wanted)
        {
            seat.stay = None;
        }
    }

    /// Somebody for a place who is not asked, not left alone, and of another network than the others.
    fn pick(&mut self, place: u8) -> Option<Candidate> {
        let network = self.wanted.network;
        if !self.wanted.hosts.is_empty() {
            let hosts = self.wanted.hosts.iter();
            let named: Vec<Candidate> = hosts
                .filter_map(|host| Candidate::read(host, network))
                .collect();
            // The owner has chosen them, whatever networks they are of.
            return named.into_iter().find(|candidate| {
                let name = candidate.name();
                !self.is_left_alone(&name) && !self.has_seat(&name)
            });
        }
        let known = self.context.shared.known_peers.list();
        let known = known
            .iter()
            .filter_map(|peer| Candidate::read(peer, network));
        let known: Vec<Candidate> = known.collect();
        if let Some(candidate) = known
            .into_iter()
            .find(|candidate| self.is_good(place, candidate))
        {
            return Some(candidate);
        }
        if let Some(candidate) = self.found_one(place) {
            return Some(candidate);
        }
        let now = Instant::now();
        if self.finding.is_none() && self.seeds_at.is_none_or(|at| at <= now) {
            self.seeds_at = Some(now + self.pause_of_all().min(SEEDS_EVERY));
            let chance = Chance::seeded(self.chance.number());
            self.finding = Some(Box::pin(find(self.context, network, chance)));
        }
        None
    }

    fn found_one(&mut self, place: u8) -> Option<Candidate> {
        let at = self
            .found
            .iter()
            .position(|found| self.is_good(place, found))?;
        Some(self.found.remove(at))
    }

    fn is_good(&self, place: u8, candidate: &Candidate) -> bool {
        let is_taken = self
            .seats
            .iter()
            .any(|(other, seat)| *other != place && seat.candidate.group == candidate.group);
        !is_taken && !self.is_left_alone(&candidate.name())
    }

    fn has_seat(&self, name: &str) -> bool {
        let mut asked = self.seats.values().filter(|seat| seat.stay.is_some());
        asked.any(|seat| seat.candidate.name() == name)
    }

    fn is_left_alone(&self, name: &str) -> bool {
        self.left_alone
            .get(name)
            .is_some_and(|until| *until > Instant::now())
    }

    fn leave_alone(&mut self, name: String, pause: Duration) {
        let now = Instant::now();
        self.left_alone.retain(|_, until| *until > now);
        while self.left_alone.len() >= LEFT_ALONE_MAX {
            let soonest = self.left_alone.iter().min_by_key(|(_, until)| **until);
            let Some(soonest) = soonest.map(|(name, _)| name.clone()) else {
                break;
            };
            self.left_alone.remove(&soonest);
        }
        self.left_alone.insert(name, now + pause);
    }

    /// Lets go of the peer that was asked for longest, but not of the anchor, so that another one takes its place.
    fn turn_over(&mut self) {
        if self.turned_over.elapsed() < TURN_OVER_EVERY || !self.wanted.hosts.is_empty() {
            return;
        }
        self.turned_over = Instant::now();
        let anchor = self.context.shared.known_peers.list().into_iter().next();
        let others = self
            .seats
            .values_mut()
            .filter(|seat| seat.stay.is_some() && Some(seat.candidate.name()) != anchor);
        if let Some(oldest) = others.min_by_key(|seat| seat.since) {
            oldest.stay = None;
            let candidate = oldest.candidate.clone();
            let pause = match candidate.is_seed {
                true => FAILED_PAUSE,
                false => TURN_OVER_EVERY,
            };
            self.leave_alone(candidate.name(), pause);
        }
    }

    /// Takes note of how a connection ended.
    async fn left(&mut self, left: PeerExit) -> Result<(), Stopped> {
        let PeerExit { place, number, .. } = left;
        let seat = self.seats.get_mut(&place);
        // Somebody else may have its place already.
        let Some(seat) = seat.filter(|seat| seat.number == number) else {
            return Ok(());
        };
        let was_let_go = seat.stay.take().is_none();
        self.parted.insert(place);
        let was_up = self.together.seen.with(|seen| seen.up.remove(&place));
        let (name, is_seed) = (seat.candidate.name(), seat.candidate.is_seed);
        // A connection that worked and broke off may be made again.
        let is_cut_off = was_up && matches!(left.parted, Parted::Failed(_));
        let (reason, pause, dropped) = match left.parted {
            Parted::Stopped if was_let_go => return Ok(()),
            Parted::Stopped => return Err(Stopped),
            Parted::Behind => (BEHIND.to_owned(), FAILED_PAUSE, None),
            Parted::Failed(reason) => (reason, FAILED_PAUSE, None),
            Parted::Faulty(reason) => (reason, FAULTY_PAUSE, None),
            Parted::Nonsense(malformed) => (
                format!("it says what makes no sense ({malformed})"),
                FAULTY_PAUSE,
                Some(malformed),
            ),
        };
        let pause = match is_seed {
            // Behind its name is somebody else the next time.
            true => FAILED_PAUSE,
            false => pause,
        };
        tracing::debug!(peer = name, reason, "peer left");
        let is_alone = self.together.seen.with(|seen| seen.up.is_empty());
        if is_alone {
            self.alone.get_or_insert_with(Instant::now);
        }
        let pause = match pause {
            FAILED_PAUSE => self.pause_of_all().min(pause),
            longer => longer,
        };
        self.leave_alone(name.clone(), pause);
        if pause == FAULTY_PAUSE {
            self.forget(std::slice::from_ref(&name)).await?;
        } else if is_alone {
            // Our own network may be down.
            self.failed.clear();
        } else if !is_cut_off {
            self.failed.insert(name.clone());
        }
        if let Some(Malformed(reason)) = dropped {
            let dropped = Observation::Dropped(reason, 1);
            self.context.observed(vec![dropped]).await?;
        }
        match is_alone {
            true => self.tell_down(format!("{name}: {reason}")).await,
            false => Ok(()),
        }
    }

    /// Forgets the peers that failed, now that another peer has sent headers, so that our own network works.
    async fn forget_failed(&mut self) -> Result<(), Stopped> {
        let up = self.together.seen.with(|seen| seen.up.clone());
        let up = up.iter().filter_map(|place| self.seats.get(place));
        let up: Vec<String> = up.map(|seat| seat.candidate.name()).collect();
        let failed = std::mem::take(&mut self.failed).into_iter();
        let failed: Vec<String> = failed.filter(|name| !up.contains(name)).collect();
        self.forget(&failed).await
    }

    async fn forget(&mut self, names: &[String]) -> Result<(), Stopped> {
        let known = &self.context.shared.known_peers;
        if names.iter().filter(|name| known.remove(name)).count() == 0 {
            return Ok(());
        }
        let list = known.list();
        self.context.observed(vec![Observation::Peers(list)]).await
    }

    /// How long is waited where nobody answers: as long as that has been so, for it may be the network.
    fn pause_of_all(&self) -> Duration {
        let alone = self.alone.map(|since| since.elapsed().max(LOOK_EVERY));
        alone.unwrap_or(Duration::MAX)
    }

    /// Tells that nobody was found who could be asked.
    async fn tell_if_alone(&mut self, is_alone: bool) -> Result<(), Stopped> {
        match is_alone {
            true => {
                self.tell_down("nobody was found who could be asked".to_owned())
                    .await
            }
            false => Ok(()),
        }
    }

    async fn tell_down(&mut self, reason: String) -> Result<(), Stopped> {
        let retry_in = self.pause_of_all().min(FAILED_PAUSE);
        let down = Connection::Down {
            reason: reason.clone(),
            retry_in,
        };
        if self.told.replace(down.clone()) == Some(down) {
            return Ok(());
        }
        self.context
            .report(&mut self.outage, reason, retry_in)
            .await
    }

    /// Tells who has left and that peers are up, and remembers those that have answered well.
    async fn tell_how_it_is(&mut self) -> Result<(), Stopped> {
        let parted = std::mem::take(&mut self.parted);
        if !parted.is_empty() {
            let parted = parted.into_iter().map(Observation::Left);
            self.context.observed(parted.collect()).await?;
        }
        let up: Vec<u8> = self
            .together
            .seen
            .with(|seen| seen.up.iter().copied().collect());
        if up.is_empty() {
            return Ok(());
        }
        self.alone = None;
        if self.told != Some(Connection::Up) {
            tracing::info!("source is up");
            self.outage.end();
            self.tell(Connection::Up).await?;
        }
        if !self.wanted.hosts.is_empty() {
            return Ok(());
        }
        let known = &self.context.shared.known_peers;
        let seats = up.iter().filter_map(|place| self.seats.get(place));
        let good = seats.filter(|seat| !seat.candidate.is_seed);
        let added = good.map(|seat| known.add(&seat.candidate.name()));
        if added.filter(|is_new| *is_new).count() > 0 {
            let list = known.list();
            self.context
                .observed(vec![Observation::Peers(list)])
                .await?;
        }
        Ok(())
    }

    async fn tell(&mut self, connection: Connection) -> Result<(), Stopped> {
        self.told = Some(connection.clone());
        let told = Observation::Connection(connection);
        self.context.observed(vec![told]).await
    }
}

/// Finds peers by the seeds: by their names where a proxy looks names up, else by their addresses.
async fn find(context: &SourceContext, network: Network, mut chance: Chance) -> Vec<Candidate> {
    let resolver = context.shared.dialer.resolver();
    let port = p2p::port(network);
    let mut seeds = context.shared.upstreams.seeds(network);
    chance.shuffle(&mut seeds);
    let (by_name, by_address): (Vec<&str>, Vec<&str>) = seeds
        .into_iter()
        .partition(|seed| goes_by_name(&context.route, seed));
    let by_name = by_name.into_iter().map(|seed| Candidate {
        is_seed: true,
        ..Candidate::of(seed, port)
    });
    let mut found: Vec<Candidate> = by_name.collect();
    let asked = by_address.into_iter().take(SEEDS_AT_ONCE);
    let mut answers: FuturesUnordered<_> = asked.map(|seed| resolver.look_up(seed, port)).collect();
    while let Some(answer) = answers.next().await {
        let mut addresses = answer.unwrap_or_default();
        chance.shuffle(&mut addresses);
        let addresses = addresses.into_iter().take(PER_SEED_MAX);
        found.extend(addresses.map(|address| Candidate::of(&address.ip().to_string(), port)));
    }
    chance.shuffle(&mut found);
    found
}

/// Asks a peer until it is let go. Its place may be somebody else's by then, so that it must not get another word in.
async fn until_let_go(
    asked: impl Future<Output = Result<Infallible, Parted>>,
    leave: oneshot::Receiver<Infallible>,
) -> Parted {
    tokio::select! {
        biased;
        _ = leave => Parted::Stopped,
        asked = asked => {
            let Err(parted) = asked;
            parted
        }
    }
}

/// Asks a peer for as long as it answers well.
async fn ask(
    context: &SourceContext,
    network: Network,
    candidate: &Candidate,
    place: u8,
    together: PeerShared,
) -> Result<Infallible, Parted> {
    let destination = Destination {
        host: &candidate.host,
        port: candidate.port,
        security: TransportSecurity::Plain,
    };
    let dialer = &context.shared.dialer;
    let stream = dialer.connect(&context.route, destination).await;
    let stream = stream.map_err(|error| Parted::Failed(error.to_string()))?;
    let wire = PeerConnection::greet(stream, network, context).await?;
    let mut following = Following::of(context, place, wire, Arc::clone(&together.turn));
    loop {
        let PeerReply::Headers(judged) = following.next().await? else {
            continue;
        };
        together.seen.with(|seen| {
            if judged.refused.is_none() {
                seen.up.insert(place);
            }
            let tip = judged.locator.first().filter(|_| judged.is_tip);
            if judged.is_new || (tip.is_some() && tip != seen.tip.as_ref()) {
                seen.news_at = Some(Instant::now());
                seen.tip = tip.copied();
            }
        });
        together.shown.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, task::Poll};

    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn who_is_let_go_says_no_more() {
        // By chance it would, every other time.
        for _ in 0..64 {
            let (stay, leave) = oneshot::channel();
            let mut words = 0;
            {
                let asked = async {
                    poll_fn(|_| {
                        words += 1;
                        Poll::Pending
                    })
                    .await
                };
                let mut asked = std::pin::pin!(until_let_go(asked, leave));
                assert_eq!(asked.as_mut().now_or_never(), None);
                drop(stay);
                assert_eq!(asked.await, Parted::Stopped);
            }
            assert_eq!(words, 1);
        }
    }
}
