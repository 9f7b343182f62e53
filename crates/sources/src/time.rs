//! Time from NTP servers, in UTC. Never through a proxy, because proxies carry no UDP.
//!
//! A large step needs the agreement of a second server if there is one. A time before the newest validated blocks is
//! rejected.

use std::{
    collections::BTreeSet,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use device::{input::Input, view::View};
use futures_util::future::join_all;
use market::{Connection, now::UtcTime};
use net::{
    backoff::Backoff,
    chance::Chance,
    resolver::{NoAddress, Resolver},
    url::split_authority,
};
use rsntp::{AsyncSntpClient, Config, SynchronizationError, SynchronizationResult};
use runtime::{
    clock::{Clock, host_unix_ms},
    inbox::Inbox,
    outage::Outage,
    tasks::Stop,
};
use tokio::{sync::watch, time};

use super::upstreams::TIME_PORT;

/// Interval of the queries while they succeed.
pub const SYNC_EVERY: Duration = Duration::from_secs(3600);

/// Longest time for a response.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Times from 2100-01-01 UTC on are rejected.
pub const PLAUSIBLE_UNTIL_MS: i64 = 4_102_444_800_000;

/// Longest round trip of a usable response.
pub const ROUND_TRIP_MAX: Duration = Duration::from_secs(2);

/// Step of a synchronised clock that needs a second response, ms: the sum of all steps within [`STEP_PERIOD`], so that
/// a single server cannot move the clock far in small steps.
pub const LARGE_STEP_MS: i64 = 60_000;

/// Time over which unconfirmed steps are added up.
pub const STEP_PERIOD: Duration = Duration::from_secs(24 * 3600);

/// Tolerance for a negative round trip, which results from reading clocks one after the other.
const ROUNDING: Duration = Duration::from_millis(100);

/// Most servers that are queried per synchronisation.
const SERVERS_MAX: usize = 4;

/// Largest difference of two responses that agree, ms.
const AGREEMENT_MS: i64 = 2_000;

/// Difference to the host's clock that needs a second response before the first synchronisation, ms: the host's clock
/// may have stopped for a while, or be set to another time zone.
const FAR_MS: i64 = 12 * 3_600_000;

/// Smallest step that is logged, ms.
const LOGGED_STEP_MS: i64 = 500;

/// Why there is no usable response.
#[derive(Debug, thiserror::Error)]
pub enum NoTime {
    /// The server's name has no address.
    #[error("looking up {0}: {1}")]
    NotFound(String, NoAddress),
    /// No response.
    #[error("no answer")]
    NoAnswer,
    /// The server has sent a kiss-of-death packet.
    #[error("the server refuses requests (kiss of death)")]
    GoAway,
    /// The response is invalid, or the server is not synchronised.
    #[error("invalid answer")]
    Malformed,
    /// The time is outside the plausible range, or the round trip took too long.
    #[error("the answer is not plausible")]
    Implausible,
    /// The time is before the newest blocks.
    #[error("the answer is before the newest blocks")]
    BeforeChain,
    /// Two responses disagree.
    #[error("two answers contradict each other")]
    Contradiction,
}

/// What the synchronisation needs.
#[derive(Debug)]
pub struct Timekeeping {
    /// The clock to set.
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

/// Synchronises the clock for ever.
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
                        let _ = inbox.send(Input::TimeRefused).await;
                    }
                    let least = matches!(error, NoTime::GoAway).then_some(SYNC_EVERY);
                    let retry_in = backoff.failed(least);
                    (retry_in, Connection::Down { reason, retry_in })
                }
            };
            // A stopped device is handled by the main loop.
            let _ = inbox.send(Input::Timed(state)).await;
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
        let named = view.active.time_servers.iter();
        let named = named.filter_map(|place| split_authority(place).ok());
        let named = named.map(|(host, port)| (host.to_owned(), port.unwrap_or(TIME_PORT)));
        let named: ServerAddresses = named.collect();
        match named.is_empty() {
            true => Vec::from([self.server.clone()]),
            false => named,
        }
    }

    async fn correct(&mut self, wanted: &[(String, u16)]) -> Result<(), NoTime> {
        let servers = self.servers(wanted).await?;
        let (mut offset_ms, rest) = query_any(&servers).await?;
        let needs_confirmation = self.needs_confirmation(offset_ms);
        if needs_confirmation {
            // Without another server, the same one must confirm its response.
            let rest = if rest.is_empty() { &servers } else { rest };
            let (again_ms, _) = query_any(rest).await?;
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
    /// one is not set to an unlikely time.
    fn needs_confirmation(&mut self, offset_ms: i64) -> bool {
        if self.is_set {
            let now = self.clock.uptime();
            self.steps.retain(|(at, _)| *at + STEP_PERIOD > now);
            let moved_ms: i64 = self.steps.iter().map(|(_, step_ms)| step_ms).sum();
            return moved_ms + self.step_ms(offset_ms).abs() >= LARGE_STEP_MS;
        }
        let unix_ms = host_unix_ms().saturating_add(offset_ms);
        // No query can happen before the program was built.
        let is_before_build = self.built_ms.is_some_and(|built_ms| unix_ms < built_ms);
        is_before_build || offset_ms.abs() >= FAR_MS
    }

    /// Returns whether the time is before known blocks; such a time is wrong.
    fn is_before_chain(&self, offset_ms: i64) -> bool {
        let unix_ms = host_unix_ms().saturating_add(offset_ms);
        let earliest = self.view.borrow().truth.time.earliest;
        earliest.is_some_and(|first| unix_ms < i64::from(first) * 1000)
    }

    /// Size of the step, ms.
    fn step_ms(&self, offset_ms: i64) -> i64 {
        let unix_ms = host_unix_ms().saturating_add(offset_ms);
        let now_ms = self.clock.now().utc.map_or(unix_ms, |utc| utc.unix_ms);
        unix_ms.saturating_sub(now_ms)
    }

    /// The servers of these names, each once: the first address of every name before the second of any, so that the
    /// second response comes from another name.
    async fn servers(&self, wanted: &[(String, u16)]) -> Result<Vec<SocketAddr>, NoTime> {
        let lookups = wanted.iter().map(|(host, port)| self.named(host, *port));
        let mut failure = None;
        let mut ranked = Vec::new();
        for (found, (host, _)) in join_all(lookups).await.into_iter().zip(wanted) {
            match found {
                Ok(found) => ranked.extend(found.into_iter().enumerate()),
                Err(error) => failure = Some(NoTime::NotFound(host.clone(), error)),
            }
        }
        ranked.sort_by_key(|(rank, _)| *rank);
        let mut known = BTreeSet::new();
        ranked.retain(|(_, server)| known.insert(*server));
        match (ranked.is_empty(), failure) {
            (true, Some(failure)) => Err(failure),
            _ => Ok(ranked.into_iter().map(|(_, server)| server).collect()),
        }
    }

    /// The addresses of a name.
    async fn named(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, NoAddress> {
        let mut found = self.resolver.look_up(host, port).await?;
        // Use one address family: not every host has both.
        if found.iter().any(SocketAddr::is_ipv4) {
            found.retain(SocketAddr::is_ipv4);
        }
        found.truncate(SERVERS_MAX);
        match found.is_empty() {
            true => Err(NoAddress::NotFound),
            false => Ok(found),
        }
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

/// Queries the servers in turn. Returns the first offset of the host's clock, ms, and the remaining servers.
async fn query_any(servers: &[SocketAddr]) -> Result<(i64, &[SocketAddr]), NoTime> {
    let mut failure = NoTime::NoAnswer;
    for (place, server) in servers.iter().enumerate() {
        match query(*server).await {
            Ok(offset_ms) => return Ok((offset_ms, &servers[place + 1..])),
            // A kiss of death is obeyed, whatever the other servers respond.
            Err(_) if matches!(failure, NoTime::GoAway) => {}
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// Queries a server for the offset of the host's clock, ms.
async fn query(server: SocketAddr) -> Result<i64, NoTime> {
    let any: SocketAddr = match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let config = Config::default().bind_address(any).timeout(ANSWER_TIMEOUT);
    let answer = AsyncSntpClient::with_config(config)
        .synchronize(server)
        .await;
    plausible(&answer.map_err(reason)?, host_unix_ms())
}

fn reason(error: SynchronizationError) -> NoTime {
    if error.is_kiss_of_death() {
        return NoTime::GoAway;
    }
    match error {
        SynchronizationError::IOError(_) => NoTime::NoAnswer,
        SynchronizationError::ProtocolError(_) => NoTime::Malformed,
    }
}

fn plausible(answer: &SynchronizationResult, host_unix_ms: i64) -> Result<i64, NoTime> {
    let round_trip = answer.round_trip_delay().as_secs_f64();
    // A clock step between request and response makes the measurement useless.
    let fits = -ROUNDING.as_secs_f64()..=ROUND_TRIP_MAX.as_secs_f64();
    if !fits.contains(&round_trip) {
        return Err(NoTime::Implausible);
    }
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
    let offset_ms = (answer.clock_offset().as_secs_f64() * 1000.0).round() as i64;
    let unix_ms = host_unix_ms.saturating_add(offset_ms);
    match UtcTime::plausible(unix_ms) {
        Some(_) if unix_ms < PLAUSIBLE_UNTIL_MS => Ok(offset_ms),
        Some(_) | None => Err(NoTime::Implausible),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use device::{board::BoardSpec, device::Device, memory::Memory, settings::Settings};
    use market::now::Now;

    use net::resolver::{HostNames, NameService};
    use tokio::net::UdpSocket;

    use super::*;

    /// Seconds from 1900 to 1970.
    const NTP_EPOCH: i64 = 2_208_988_800;

    /// Serves queries with a clock that is off by another amount each time.
    async fn serve(server: UdpSocket, offs_ms: Vec<i64>) {
        for off_ms in offs_ms {
            answer(&server, [off_ms; 2]).await;
        }
    }

    /// Serves a query: the clock's error at its receipt and at the response.
    async fn answer(server: &UdpSocket, offs_ms: [i64; 2]) {
        let mut question = [0; 48];
        let (_, client) = server.recv_from(&mut question).await.unwrap();
        let stamps = offs_ms.map(|off_ms| {
            let now_ms = host_unix_ms() + off_ms;
            // The NTP era rolls over in 2036.
            let secs = (now_ms.div_euclid(1000) + NTP_EPOCH) & i64::from(u32::MAX);
            let secs = u32::try_from(secs).unwrap();
            let fraction = u32::try_from((now_ms.rem_euclid(1000) << 32) / 1000).unwrap();
            [secs.to_be_bytes(), fraction.to_be_bytes()].concat()
        });
        let mut reply = [0; 48];
        (reply[0], reply[1]) = (0x24, 2);
        reply[24..32].copy_from_slice(&question[40..48]);
        reply[32..40].copy_from_slice(&stamps[0]);
        reply[40..48].copy_from_slice(&stamps[1]);
        server.send_to(&reply, client).await.unwrap();
    }

    const HOUR: i64 = 3_600_000;
    const YEAR: i64 = 365 * 24 * HOUR;

    fn sync(built_ms: Option<i64>) -> TimeSync {
        TimeSync {
            server: ("127.0.0.1".to_owned(), TIME_PORT),
            clock: Clock::unset(),
            resolver: Resolver::new(Arc::new(HostNames)),
            built_ms,
            view: watch::Sender::new(Arc::new(view(None))).subscribe(),
            is_set: false,
            steps: Vec::new(),
        }
    }

    fn at(host: &str, port: u16) -> ServerAddresses {
        Vec::from([(host.to_owned(), port)])
    }

    /// A view of a device whose newest blocks were mined by then, Unix seconds.
    fn view(earliest: Option<u32>) -> View {
        let now = Now {
            uptime: Duration::ZERO,
            utc: None,
        };
        let (settings, memory) = (Settings::default(), Memory::default());
        let mut view = Device::new(BoardSpec::EXAMPLE, settings, memory, now).view();
        view.truth.time.earliest = earliest;
        view
    }

    /// Synchronises with a server that gives these responses; returns the clock's offset to the host's, ms.
    async fn corrected(sync: &mut TimeSync, answers: &[i64]) -> (Option<i64>, Result<(), NoTime>) {
        let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let port = server.local_addr().unwrap().port();
        let answering = serve(server, answers.to_vec());
        let place = at("127.0.0.1", port);
        let (corrected, ()) = tokio::join!(sync.correct(&place), answering);
        let utc = sync.clock.now().utc;
        (utc.map(|utc| utc.unix_ms - host_unix_ms()), corrected)
    }

    fn is_about(off_ms: Option<i64>, expected: i64) -> bool {
        off_ms.is_some_and(|off_ms| (off_ms - expected).abs() < 1000)
    }

    #[tokio::test]
    async fn a_large_step_needs_two_answers_that_agree() {
        // The server's error at each query, and the clock's afterwards.
        let rows: [(&[i64], i64); 8] = [
            (&[2 * HOUR], 2 * HOUR),
            (&[2 * HOUR + 30_000], 2 * HOUR + 30_000),
            (&[YEAR, YEAR], YEAR),
            (&[0, HOUR], YEAR),
            (&[-HOUR, -HOUR], -HOUR),
            (&[3 * YEAR, 2 * YEAR], -HOUR),
            (&[12 * YEAR, 12 * YEAR], 12 * YEAR),
            (&[-20 * YEAR], 12 * YEAR),
        ];
        let mut sync = sync(None);
        for (answers, expected) in rows {
            let (off_ms, outcome) = corrected(&mut sync, answers).await;
            assert!(
                is_about(off_ms, expected),
                "{answers:?}: {off_ms:?}, {outcome:?}"
            );
            assert_eq!(outcome.is_ok(), answers.contains(&expected), "{answers:?}");
        }
    }

    #[tokio::test]
    async fn a_single_server_moves_the_clock_by_less_than_a_minute_a_day() {
        const SECOND: i64 = 1000;
        let (asleep, sleep_time) = watch::channel(Duration::ZERO);
        let mut sync = TimeSync {
            clock: Clock::with_sleep(sleep_time),
            ..sync(None)
        };
        // Hours since the row before, the server's error at each query, and the clock's afterwards.
        let rows: [(u64, &[i64], i64); 9] = [
            (0, &[0], 0),
            (1, &[30 * SECOND], 30 * SECOND),
            (1, &[50 * SECOND], 50 * SECOND),
            (1, &[70 * SECOND, 110 * SECOND], 50 * SECOND),
            // Steps in both directions add up.
            (1, &[35 * SECOND, 0], 50 * SECOND),
            // A second response agrees.
            (1, &[70 * SECOND, 70 * SECOND], 70 * SECOND),
            (1, &[75 * SECOND], 75 * SECOND),
            (1, &[85 * SECOND, 120 * SECOND], 75 * SECOND),
            (24, &[130 * SECOND], 130 * SECOND),
        ];
        let mut slept = Duration::ZERO;
        for (hours, answers, expected) in rows {
            // The host's clock does not sleep with this one, so this clock runs ahead.
            slept += Duration::from_secs(hours * 3600);
            asleep.send_replace(slept);
            let now_ms = sync.clock.now().utc.map(|utc| utc.unix_ms);
            let slept_ms = i64::try_from(hours).unwrap() * HOUR;
            if let Some(now_ms) = now_ms {
                sync.clock.set(now_ms - slept_ms);
            }
            let (off_ms, outcome) = corrected(&mut sync, answers).await;
            assert!(
                is_about(off_ms, expected),
                "{answers:?}: {off_ms:?}, {outcome:?}"
            );
        }
    }

    #[tokio::test]
    async fn an_unlikely_first_step_needs_confirmation() {
        // Age of the program by the host's clock, the server's error at each query, and the clock's afterwards. `None`
        // if it is not set.
        let (new, old) = (YEAR / 12, 3 * YEAR);
        let rows: [(Option<i64>, &[i64], Option<i64>); 16] = [
            (Some(new), &[0], Some(0)),
            (Some(new), &[11 * HOUR], Some(11 * HOUR)),
            // A day forward needs a second response.
            (Some(new), &[24 * HOUR, 24 * HOUR], Some(24 * HOUR)),
            (Some(new), &[24 * HOUR, 0], Some(0)),
            (Some(new), &[24 * HOUR, 48 * HOUR], None),
            // A host without a real-time clock starts with any time before the build.
            (
                Some(-10 * YEAR),
                &[10 * YEAR + HOUR, 10 * YEAR + HOUR],
                Some(10 * YEAR + HOUR),
            ),
            (Some(new), &[10 * YEAR, 10 * YEAR], Some(10 * YEAR)),
            (Some(new), &[10 * YEAR, 11 * YEAR], None),
            // The second response is a time that needs no confirmation.
            (Some(new), &[10 * YEAR, 0], Some(0)),
            (Some(new), &[-YEAR, -YEAR], Some(-YEAR)),
            (Some(new), &[-YEAR, -2 * YEAR], None),
            (Some(-YEAR), &[0, 0], Some(0)),
            (Some(old), &[0], Some(0)),
            (Some(old), &[48 * HOUR, 48 * HOUR], Some(48 * HOUR)),
            (None, &[48 * HOUR, 48 * HOUR], Some(48 * HOUR)),
            (None, &[48 * HOUR, 24 * 48 * HOUR], None),
        ];
        for (age_ms, answers, expected) in rows {
            let mut sync = sync(age_ms.map(|age_ms| host_unix_ms() - age_ms));
            let (off_ms, outcome) = corrected(&mut sync, answers).await;
            let context = format!("{age_ms:?} {answers:?}: {off_ms:?}, {outcome:?}");
            match expected {
                Some(expected) => assert!(is_about(off_ms, expected), "{context}"),
                None => assert!(off_ms.is_none(), "{context}"),
            }
            let contradicts = matches!(outcome, Err(NoTime::Contradiction));
            assert_eq!(contradicts, expected.is_none(), "{context}");
        }
    }

    /// Resolves every name to two addresses.
    #[derive(Debug)]
    struct Two;

    impl NameService for Two {
        fn look_up(&self, _: &str) -> io::Result<Vec<SocketAddr>> {
            let both = [[127, 0, 0, 1], [127, 0, 0, 2]];
            Ok(both.map(|address| (address, 0).into()).into())
        }
    }

    fn sync_of_two() -> TimeSync {
        TimeSync {
            resolver: Resolver::new(Arc::new(Two)),
            ..sync(Some(host_unix_ms() - YEAR))
        }
    }

    #[tokio::test]
    async fn the_confirmation_is_from_another_server() {
        let liar = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let port = liar.local_addr().unwrap().port();
        let honest = UdpSocket::bind(("127.0.0.2", port)).await.unwrap();
        let mut sync = sync_of_two();
        let lying = serve(liar, vec![10 * YEAR]);
        let place = at("time.example", port);
        let (corrected, ..) = tokio::join!(sync.correct(&place), lying, serve(honest, vec![0]));
        corrected.unwrap();
        let off_ms = sync.clock.now().utc.map(|utc| utc.unix_ms - host_unix_ms());
        assert!(is_about(off_ms, 0), "{off_ms:?}");
    }

    #[tokio::test]
    async fn the_confirmation_is_from_another_name_if_there_are_two() {
        let first = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let port = first.local_addr().unwrap().port();
        let beside = UdpSocket::bind(("127.0.0.2", port)).await.unwrap();
        let honest = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let named = at("other.example", honest.local_addr().unwrap().port());
        let places = [at("time.example", port), named].concat();
        let mut sync = sync_of_two();
        let lying = serve(first, vec![10 * YEAR]);
        let correcting =
            async { tokio::join!(sync.correct(&places), lying, serve(honest, vec![0])) };
        tokio::select! {
            (corrected, ..) = correcting => corrected.unwrap(),
            () = serve(beside, vec![10 * YEAR]) => panic!("the first name was queried twice"),
        }
        let utc = sync.clock.now().utc;
        let off_ms = utc.map(|utc| utc.unix_ms - host_unix_ms());
        assert!(is_about(off_ms, 0), "{off_ms:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_query_is_in_time_after_a_night_asleep() {
        let (sleep, asleep) = tokio::sync::watch::channel(Duration::ZERO);
        let clock = Clock::with_sleep(asleep);
        let sync = TimeSync {
            clock: clock.clone(),
            ..sync(None)
        };
        let wanted = sync.wanted();
        let night = async {
            time::sleep(SYNC_EVERY / 2).await;
            sleep.send_replace(SYNC_EVERY);
        };
        let start = time::Instant::now();
        tokio::select! {
            (changed, ()) = async { tokio::join!(sync.wait(SYNC_EVERY, &wanted), night) } => assert!(!changed),
            () = clock.follow_host() => {}
        }
        assert!(start.elapsed() < SYNC_EVERY / 2 + Duration::from_secs(1));
    }
}
