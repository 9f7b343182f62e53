//! Time from NTP servers, in UTC. Never through a proxy, because proxies carry no UDP.
//!
//! A large step needs the agreement of a second server if there is one. A time before the newest validated blocks or
//! the build of the program is rejected. `query` queries the servers.

mod query;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use device::{input::Input, view::View};
use futures_util::future::join_all;
use market::Connection;
use net::{
    backoff::Backoff,
    chance::Chance,
    resolver::{NoAddress, Resolver},
    url::split_authority,
};
use runtime::{
    clock::{Clock, host_unix_ms},
    inbox::Inbox,
    outage::Outage,
    tasks::Stop,
};
use tokio::{sync::watch, time};

use self::query::{TimeServerAddress, query_any};
use super::upstreams::TIME_PORT;

pub use self::query::{ANSWER_TIMEOUT, NoTime, PLAUSIBLE_UNTIL_MS, ROUND_TRIP_MAX, ZERO_TIME_MS};

/// Interval of the queries while they succeed.
pub const SYNC_EVERY: Duration = Duration::from_secs(3600);

/// Step of a synchronised clock that needs a second response, ms: the sum of all steps within [`STEP_PERIOD`], so that
/// a single server cannot move the clock far in small steps.
pub const LARGE_STEP_MS: i64 = 60_000;

/// Time over which unconfirmed steps are added up.
pub const STEP_PERIOD: Duration = Duration::from_secs(24 * 3600);

/// Largest number of addresses per name.
const SERVERS_MAX: usize = 4;

/// Largest difference of two responses that agree, ms.
const AGREEMENT_MS: i64 = 2_000;

/// Difference to the host's clock that needs a second response before the first synchronisation, ms: the host's clock
/// may have stopped for a while, or be set to another time zone.
const FAR_MS: i64 = 12 * 3_600_000;

/// Smallest step that is logged, ms.
const LOGGED_STEP_MS: i64 = 500;

/// What the synchronisation needs.
#[derive(Debug)]
pub struct Timekeeping {
    pub clock: Clock,
    /// Resolves the name of the server.
    pub resolver: Resolver,
    /// Name and port of the server that is used if the owner names none.
    pub server: (String, u16),
    /// Build time of the program, ms since 1970-01-01 UTC. `None` if unknown.
    pub built_ms: Option<i64>,
    /// State of the device: its chain bounds the time.
    pub view: watch::Receiver<Arc<View>>,
    /// Where the state of the server is reported.
    pub inbox: Inbox,
}

/// Synchronises the clock until the task is stopped.
pub async fn synchronise(timekeeping: Timekeeping, mut stop: Stop) {
    let Timekeeping {
        clock,
        resolver,
        server,
        built_ms,
        view,
        inbox,
    } = timekeeping;
    let mut sync = TimeSync {
        server,
        clock,
        resolver,
        built_ms,
        view,
        is_set: false,
        steps: Vec::new(),
    };
    let corrections = async {
        let mut backoff = Backoff::new(Chance::new());
        let mut outage = Outage::default();
        loop {
            let wanted = sync.wanted();
            let (wait, state) = match sync.correct(&wanted).await {
                Ok(()) => {
                    backoff.succeeded();
                    if outage.end() {
                        tracing::info!("the time server answers again");
                    }
                    (SYNC_EVERY, Connection::Up)
                }
                Err(error) => {
                    let reason = error.to_string();
                    if outage.is_new(&reason) {
                        tracing::warn!(reason, "the time server failed");
                    }
                    if matches!(error, NoTime::BeforeChain) {
                        let _ = inbox.send(Input::TimeServerRejected).await;
                    }
                    let least = matches!(error, NoTime::GoAway).then_some(SYNC_EVERY);
                    let retry_in = backoff.failed(least);
                    (retry_in, Connection::Down { reason, retry_in })
                }
            };
            // A stopped device is handled by the main loop.
            let _ = inbox.send(Input::TimeServer(state)).await;
            if sync.wait(wait, &wanted).await {
                backoff.succeeded();
            }
        }
    };
    tokio::select! {
        () = stop.stopped() => {}
        () = corrections => {}
    }
}

/// Hosts and ports of time servers.
type ServerAddresses = Vec<(String, u16)>;

/// Synchronises the clock with time servers.
struct TimeSync {
    server: (String, u16),
    clock: Clock,
    resolver: Resolver,
    built_ms: Option<i64>,
    view: watch::Receiver<Arc<View>>,
    /// The clock was synchronised before.
    is_set: bool,
    /// Unconfirmed steps within [`STEP_PERIOD`]: uptime and size, ms.
    steps: Vec<(Duration, i64)>,
}

impl TimeSync {
    /// The servers that the owner names, or the default.
    fn wanted(&self) -> ServerAddresses {
        let view = self.view.borrow();
        let named = view.settings.active.time_servers.iter();
        let named = named.filter_map(|place| split_authority(place).ok());
        let named = named.map(|(host, port)| (host.to_owned(), port.unwrap_or(TIME_PORT)));
        let named: ServerAddresses = named.collect();
        if named.is_empty() { Vec::from([self.server.clone()]) } else { named }
    }

    async fn correct(&mut self, wanted: &[(String, u16)]) -> Result<(), NoTime> {
        let servers = self.servers(wanted).await?;
        let (mut offset_ms, first) = query_any(&servers, self.built_ms).await?;
        let needs_confirmation = self.needs_confirmation(offset_ms);
        if needs_confirmation {
            // With several names, a server of another name must confirm. With one name, another of its addresses, or the
            // same server if no other answers.
            let is_other = |server: &TimeServerAddress| match wanted {
                [_] => *server != first,
                [..] => server.name_index != first.name_index,
            };
            let mut others = servers.clone();
            others.retain(is_other);
            if let [_] = wanted {
                others.push(first);
            }
            let again = query_any(&others, self.built_ms).await;
            if matches!(again, Err(NoTime::NoAnswer)) {
                return Err(NoTime::Unconfirmed);
            }
            let (again_ms, _) = again?;
            let agrees = again_ms.saturating_sub(offset_ms).abs() <= AGREEMENT_MS;
            if !agrees && self.needs_confirmation(again_ms) {
                return Err(NoTime::Contradiction);
            }
            offset_ms = again_ms;
        }
        if self.is_before_chain(offset_ms) {
            return Err(NoTime::BeforeChain);
        }
        let step_ms = self.step_ms(offset_ms);
        if !self.is_set || step_ms.abs() >= LOGGED_STEP_MS {
            tracing::info!(offset_ms, step_ms, "the clock was set by a time server");
        }
        if self.is_set && !needs_confirmation {
            self.steps.push((self.clock.uptime(), step_ms.abs()));
        }
        self.is_set = true;
        self.clock.set(host_unix_ms().saturating_add(offset_ms));
        Ok(())
    }

    /// Returns whether a second response is needed: a synchronised clock is not moved far by a single one, and a new
    /// one is not set far from the host's.
    fn needs_confirmation(&mut self, offset_ms: i64) -> bool {
        if self.is_set {
            let now = self.clock.uptime();
            self.steps.retain(|(at, _)| *at + STEP_PERIOD > now);
            let moved_ms: i64 = self.steps.iter().map(|(_, step_ms)| step_ms).sum();
            return moved_ms + self.step_ms(offset_ms).abs() >= LARGE_STEP_MS;
        }
        offset_ms.abs() >= FAR_MS
    }

    /// Returns whether the time is before known blocks; such a time is wrong.
    fn is_before_chain(&self, offset_ms: i64) -> bool {
        let unix_ms = host_unix_ms().saturating_add(offset_ms);
        let earliest = self.view.borrow().truth.time.earliest;
        earliest.is_some_and(|first| unix_ms < i64::from(first) * 1000)
    }

    fn step_ms(&self, offset_ms: i64) -> i64 {
        let unix_ms = host_unix_ms().saturating_add(offset_ms);
        let now_ms = self.clock.now().utc.map_or(unix_ms, |utc| utc.unix_ms);
        unix_ms.saturating_sub(now_ms)
    }

    /// The servers of these names: the first address of every name before the second of any, so that the second response
    /// comes from another name.
    async fn servers(&self, wanted: &[(String, u16)]) -> Result<Vec<TimeServerAddress>, NoTime> {
        let lookups = wanted.iter().map(|(host, port)| self.named(host, *port));
        let mut failure = None;
        let mut ranked = Vec::new();
        let found = join_all(lookups).await.into_iter().zip(wanted);
        for (name_index, (found, (host, _))) in found.enumerate() {
            let server = |address| TimeServerAddress {
                name_index,
                address,
            };
            match found {
                Ok(found) => ranked.extend(found.into_iter().map(server).enumerate()),
                Err(error) => failure = Some(NoTime::NotFound(host.clone(), error)),
            }
        }
        ranked.sort_by_key(|(rank, _)| *rank);
        match (ranked.is_empty(), failure) {
            (true, Some(failure)) => Err(failure),
            _ => Ok(ranked.into_iter().map(|(_, server)| server).collect()),
        }
    }

    async fn named(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, NoAddress> {
        let mut found = self.resolver.look_up(host, port).await?;
        // Use one address family: not every host has both.
        if found.iter().any(SocketAddr::is_ipv4) {
            found.retain(SocketAddr::is_ipv4);
        }
        found.truncate(SERVERS_MAX);
        if found.is_empty() { Err(NoAddress::NotFound) } else { Ok(found) }
    }

    /// Waits, also while the machine sleeps. Returns whether the configured servers have changed.
    async fn wait(&self, wait: Duration, servers: &[(String, u16)]) -> bool {
        let until = self.clock.uptime() + wait;
        let (mut steps, mut views) = (self.clock.steps(), self.view.clone());
        while self.clock.uptime() < until {
            if self.wanted() != servers {
                return true;
            }
            tokio::select! {
                () = time::sleep_until(self.clock.instant(until)) => {}
                // An error means that the clock can no longer be set.
                _ = steps.changed() => {}
                Ok(()) = views.changed() => {}
            }
        }
        false
    }
}

#[cfg(test)]
mod tests;
