//! Public peers of the Bitcoin network: a few connections to different networks, used only for headers.
//!
//! Each connection has a *place* that identifies it in the device. Two places are never held by peers of the same
//! network, so that their agreement means something. If the owner names peers, only those are used; else the known
//! peers and those that the DNS seeds return.
//!
//! **Invariant:** after any protocol violation a peer is paused, and none of its data is kept.

mod candidates;
mod connection;

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    sync::Arc,
    time::Duration,
};

use device::sources::PeersConfig;
use feeds::malformed::Malformed;
use futures_util::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use market::{Connection, Observation};
use net::chance::Chance;
use runtime::{inbox::Stopped, outage::Outage, waits::over};
use tokio::{
    sync::{Semaphore, oneshot},
    time::{self, Instant, MissedTickBehavior},
};
use tracing::Instrument;

use self::{
    candidates::{Candidate, find},
    connection::{PeerProgress, PeerShared, follow_peer, until_released},
};
use super::{
    SourceContext,
    peer::{BEHIND, PeerEnd},
    shared_value::SharedValue,
};

/// Additional peers while no block arrives.
pub const EXTRA_PEERS: usize = 2;

/// Time without a block after which more peers are connected: one block in twenty takes longer.
pub const SILENCE: Duration = Duration::from_secs(30 * 60);

/// Time after which a peer is replaced by another one.
pub const ROTATE_EVERY: Duration = Duration::from_secs(6 * 60 * 60);

/// Pause of a peer that breaks the rules.
pub const FAULTY_PAUSE: Duration = Duration::from_secs(24 * 60 * 60);

/// Pause of a peer that does not respond; shorter if none responds, because the cause may be the network.
pub const FAILED_PAUSE: Duration = Duration::from_secs(5 * 60);

/// Interval of the checks for free places.
pub const CHECK_EVERY: Duration = Duration::from_secs(10);

/// Least time between two queries of the seeds.
pub const SEEDS_EVERY: Duration = Duration::from_secs(5 * 60);

/// Most paused peers; beyond it, the one with the shortest remaining pause is dropped.
pub const PAUSED_MAX: usize = 64;

#[derive(Debug)]
struct PeerSlot {
    number: u64,
    candidate: Candidate,
    since: Instant,
    /// Dropping it ends the connection. `None` if it has ended.
    keep_alive: Option<oneshot::Sender<Infallible>>,
}

/// The connected peers and the candidates.
struct PeerPool<'a> {
    context: &'a SourceContext,
    config: PeersConfig,
    /// By place. The last peer of a free place stays here, so that its network keeps the place until it is taken.
    slots: BTreeMap<u8, PeerSlot>,
    paused: BTreeMap<String, Instant>,
    /// Peers that failed since another peer last sent headers.
    failed: BTreeSet<String>,
    /// Candidates from the seeds.
    found: Vec<Candidate>,
    /// Running query of the seeds.
    finding: Option<BoxFuture<'a, Vec<Candidate>>>,
    /// When the seeds may be queried again. `None` before the first query.
    seeds_at: Option<Instant>,
    rotated_at: Instant,
    shared: PeerShared,
    /// Number of connections so far.
    connections: u64,
    chance: Chance,
    outage: Outage,
    /// The newest reported state.
    reported: Option<Connection>,
    /// Since when no peer responds. `None` while one does.
    no_peer_since: Option<Instant>,
    /// Places with a peer that has disconnected, to be reported.
    disconnected: BTreeSet<u8>,
}

/// The end of a connection to a peer.
struct PeerExit {
    place: u8,
    number: u64,
    reason: PeerEnd,
}

type PeerConnections<'a> = FuturesUnordered<BoxFuture<'a, PeerExit>>;

/// Keeps public peers connected until the device stops.
///
/// # Errors
/// The device has stopped.
pub async fn run(context: &SourceContext, config: PeersConfig) -> Result<Infallible, Stopped> {
    let now = Instant::now();
    let mut pool = PeerPool {
        context,
        config,
        slots: BTreeMap::new(),
        paused: BTreeMap::new(),
        failed: BTreeSet::new(),
        found: Vec::new(),
        finding: None,
        seeds_at: None,
        rotated_at: now,
        shared: PeerShared {
            progress: SharedValue::new(PeerProgress {
                last_block_at: Some(now),
                ..PeerProgress::default()
            }),
            headers_received: Arc::default(),
            turn: Arc::new(Semaphore::new(1)),
        },
        connections: 0,
        chance: Chance::new(),
        outage: Outage::default(),
        reported: None,
        no_peer_since: Some(now),
        disconnected: BTreeSet::new(),
    };
    pool.report(Connection::Connecting).await?;
    let mut connections = PeerConnections::new();
    let mut checks = time::interval(CHECK_EVERY);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let headers_received = Arc::clone(&pool.shared.headers_received);
    loop {
        tokio::select! {
            () = headers_received.notified() => pool.forget_failed().await?,
            _ = checks.tick() => {
                pool.rotate();
                pool.fill(&mut connections);
            }
            found = over(&mut pool.finding) => {
                pool.finding = None;
                pool.found = found;
                pool.fill(&mut connections);
                pool.report_if_no_peer(connections.is_empty()).await?;
            }
            Some(exit) = connections.next() => pool.handle_exit(exit).await?,
        }
        pool.report_state().await?;
    }
}

impl<'a> PeerPool<'a> {
    /// Number of peers to connect now.
    fn peers_wanted(&self) -> usize {
        let most = self.config.most as usize;
        let last_block_at = self.shared.progress.with(|progress| progress.last_block_at);
        if last_block_at.is_some_and(|at| at.elapsed() >= SILENCE) {
            most + EXTRA_PEERS
        } else {
            most
        }
    }

    /// Connects a peer for each free place.
    fn fill(&mut self, running: &mut PeerConnections<'a>) {
        let wanted = self.peers_wanted();
        for place in 0..u8::try_from(wanted).unwrap_or(u8::MAX) {
            let is_free = self
                .slots
                .get(&place)
                .is_none_or(|slot| slot.keep_alive.is_none());
            if !is_free {
                continue;
            }
            let Some(candidate) = self.pick(place) else {
                continue;
            };
            let (keep_alive, released) = oneshot::channel();
            self.connections += 1;
            let number = self.connections;
            let (context, shared) = (self.context, self.shared.clone());
            let (network, peer) = (self.config.network, candidate.clone());
            let run = async move {
                let connection = follow_peer(context, network, &peer, place, shared);
                PeerExit {
                    place,
                    number,
                    reason: until_released(connection, released).await,
                }
            };
            let span = tracing::info_span!("peer", place);
            running.push(Box::pin(run.instrument(span)));
            let slot = PeerSlot {
                number,
                candidate,
                since: Instant::now(),
                keep_alive: Some(keep_alive),
            };
            if self.slots.insert(place, slot).is_some() {
                self.disconnected.insert(place);
            }
            self.shared
                .progress
                .with(|progress| progress.up.remove(&place));
        }
        // The additional peers are released once a block has arrived.
        for (_, slot) in self
            .slots
            .iter_mut()
            .filter(|(place, _)| usize::from(**place) >= wanted)
        {
            slot.keep_alive = None;
        }
    }

    /// A candidate for a place that is not connected, not paused, and in another network than the others.
    fn pick(&mut self, place: u8) -> Option<Candidate> {
        let network = self.config.network;
        if !self.config.hosts.is_empty() {
            let hosts = self.config.hosts.iter();
            let named: Vec<Candidate> = hosts
                .filter_map(|host| Candidate::parse(host, network))
                .collect();
            // The owner's peers may be of the same network.
            return named.into_iter().find(|candidate| {
                let name = candidate.name();
                !self.is_paused(&name) && !self.has_slot(&name)
            });
        }
        let known = self.context.shared.known_peers.list();
        let known = known
            .iter()
            .filter_map(|peer| Candidate::parse(peer, network));
        let known: Vec<Candidate> = known.collect();
        if let Some(candidate) = known
            .into_iter()
            .find(|candidate| self.is_good(place, candidate))
        {
            return Some(candidate);
        }
        if let Some(candidate) = self.next_found(place) {
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

    fn next_found(&mut self, place: u8) -> Option<Candidate> {
        let at = self
            .found
            .iter()
            .position(|found| self.is_good(place, found))?;
        Some(self.found.remove(at))
    }

    fn is_good(&self, place: u8, candidate: &Candidate) -> bool {
        let is_taken = self
            .slots
            .iter()
            .any(|(other, slot)| *other != place && slot.candidate.group == candidate.group);
        !is_taken && !self.is_paused(&candidate.name())
    }

    fn has_slot(&self, name: &str) -> bool {
        let mut connected = self.slots.values().filter(|slot| slot.keep_alive.is_some());
        connected.any(|slot| slot.candidate.name() == name)
    }

    fn is_paused(&self, name: &str) -> bool {
        self.paused
            .get(name)
            .is_some_and(|until| *until > Instant::now())
    }

    fn pause_peer(&mut self, name: String, pause: Duration) {
        let now = Instant::now();
        self.paused.retain(|_, until| *until > now);
        while self.paused.len() >= PAUSED_MAX {
            let soonest = self.paused.iter().min_by_key(|(_, until)| **until);
            let Some(soonest) = soonest.map(|(name, _)| name.clone()) else {
                break;
            };
            self.paused.remove(&soonest);
        }
        self.paused.insert(name, now + pause);
    }

    /// Releases the oldest connection other than the anchor, so that another peer takes its place.
    fn rotate(&mut self) {
        if self.rotated_at.elapsed() < ROTATE_EVERY || !self.config.hosts.is_empty() {
            return;
        }
        self.rotated_at = Instant::now();
        let anchor = self.context.shared.known_peers.list().into_iter().next();
        let others = self
            .slots
            .values_mut()
            .filter(|slot| slot.keep_alive.is_some() && Some(slot.candidate.name()) != anchor);
        if let Some(oldest) = others.min_by_key(|slot| slot.since) {
            oldest.keep_alive = None;
            let candidate = oldest.candidate.clone();
            let pause = if candidate.is_seed { FAILED_PAUSE } else { ROTATE_EVERY };
            self.pause_peer(candidate.name(), pause);
        }
    }

    /// Handles the end of a connection.
    async fn handle_exit(&mut self, exit: PeerExit) -> Result<(), Stopped> {
        let PeerExit { place, number, .. } = exit;
        let slot = self.slots.get_mut(&place);
        // Another peer may have taken the place already.
        let Some(slot) = slot.filter(|slot| slot.number == number) else {
            return Ok(());
        };
        let was_released = slot.keep_alive.take().is_none();
        self.disconnected.insert(place);
        let was_up = self
            .shared
            .progress
            .with(|progress| progress.up.remove(&place));
        let (name, is_seed) = (slot.candidate.name(), slot.candidate.is_seed);
        // A connection that worked and was cut may be made again.
        let is_cut_off = was_up && matches!(exit.reason, PeerEnd::Failed(_));
        let (reason, pause, dropped) = match exit.reason {
            PeerEnd::Stopped if was_released => return Ok(()),
            PeerEnd::Stopped => return Err(Stopped),
            PeerEnd::Behind => (BEHIND.to_owned(), FAILED_PAUSE, None),
            PeerEnd::Failed(reason) => (reason, FAILED_PAUSE, None),
            PeerEnd::Faulty(reason) => (reason, FAULTY_PAUSE, None),
            PeerEnd::Nonsense(malformed) => (
                format!("it sends invalid messages ({malformed})"),
                FAULTY_PAUSE,
                Some(malformed),
            ),
        };
        // The name of a seed leads to another peer the next time.
        let pause = if is_seed { FAILED_PAUSE } else { pause };
        tracing::debug!(peer = name, reason, "peer left");
        let is_alone = self.shared.progress.with(|progress| progress.up.is_empty());
        if is_alone {
            self.no_peer_since.get_or_insert_with(Instant::now);
        }
        let pause = match pause {
            FAILED_PAUSE => self.pause_of_all().min(pause),
            longer => longer,
        };
        self.pause_peer(name.clone(), pause);
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
            self.context.send(vec![dropped]).await?;
        }
        if is_alone {
            self.report_down(format!("{name}: {reason}")).await
        } else {
            Ok(())
        }
    }

    /// Removes failed peers from the known ones once another peer has sent headers, which shows that our network works.
    async fn forget_failed(&mut self) -> Result<(), Stopped> {
        let up = self.shared.progress.with(|progress| progress.up.clone());
        let up = up.iter().filter_map(|place| self.slots.get(place));
        let up: Vec<String> = up.map(|slot| slot.candidate.name()).collect();
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
        self.context.send(vec![Observation::Peers(list)]).await
    }

    /// Pause while no peer responds: as long as the outage so far, because it may be the network.
    fn pause_of_all(&self) -> Duration {
        let no_peer_since = self
            .no_peer_since
            .map(|since| since.elapsed().max(CHECK_EVERY));
        no_peer_since.unwrap_or(Duration::MAX)
    }

    /// Reports that no peer was found.
    async fn report_if_no_peer(&mut self, is_alone: bool) -> Result<(), Stopped> {
        if is_alone {
            self.report_down("no peer was found".to_owned()).await
        } else {
            Ok(())
        }
    }

    async fn report_down(&mut self, reason: String) -> Result<(), Stopped> {
        let retry_in = self.pause_of_all().min(FAILED_PAUSE);
        let down = Connection::Down {
            reason: reason.clone(),
            retry_in,
        };
        if self.reported.replace(down.clone()) == Some(down) {
            return Ok(());
        }
        self.context
            .report(&mut self.outage, reason, retry_in)
            .await
    }

    /// Reports peers that left and that peers are up, and remembers good ones.
    async fn report_state(&mut self) -> Result<(), Stopped> {
        let disconnected = std::mem::take(&mut self.disconnected);
        if !disconnected.is_empty() {
            let disconnected = disconnected.into_iter().map(Observation::PeerDisconnected);
            self.context.send(disconnected.collect()).await?;
        }
        let up: Vec<u8> = self
            .shared
            .progress
            .with(|progress| progress.up.iter().copied().collect());
        if up.is_empty() {
            return Ok(());
        }
        self.no_peer_since = None;
        if self.reported != Some(Connection::Up) {
            tracing::info!("source is up");
            self.outage.end();
            self.report(Connection::Up).await?;
        }
        if !self.config.hosts.is_empty() {
            return Ok(());
        }
        let known = &self.context.shared.known_peers;
        let slots = up.iter().filter_map(|place| self.slots.get(place));
        let good = slots.filter(|slot| !slot.candidate.is_seed);
        let added = good.map(|slot| known.add(&slot.candidate.name()));
        if added.filter(|is_new| *is_new).count() > 0 {
            let list = known.list();
            self.context.send(vec![Observation::Peers(list)]).await?;
        }
        Ok(())
    }

    async fn report(&mut self, connection: Connection) -> Result<(), Stopped> {
        self.reported = Some(connection.clone());
        let reported = Observation::Connection(connection);
        self.context.send(vec![reported]).await
    }
}
