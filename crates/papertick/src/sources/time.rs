//! Time from a time server, in UTC; asked directly, for proxies carry no such packets.
//!
//! What is kept is how far the host's clock is off. A host whose clock is set meanwhile is noticed by
//! the moment of its start, which then seems to move.

use std::{
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use device::{input::Input, market::Connection, now::UtcTime};
use rsntp::{AsyncSntpClient, Config, SynchronizationError, SynchronizationResult};
use tokio::time::{self, Instant};

use crate::{
    clock::{Clock, host_started_ms, host_unix_ms},
    inbox::Inbox,
    net::{
        backoff::Backoff,
        chance::Chance,
        resolver::{NoAddress, Resolver},
    },
    tasks::Stop,
};

/// Time between two questions while all is well.
pub const ASK_EVERY: Duration = Duration::from_secs(3600);

/// Longest time for an answer.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Wall clocks from 2100-01-01 UTC on are not believed.
pub const PLAUSIBLE_UNTIL_MS: i64 = 4_102_444_800_000;

/// Slowest round trip whose answer is believed.
pub const ROUND_TRIP_MAX: Duration = Duration::from_secs(2);

/// Change of a clock that was already set from which a second answer must agree, ms.
pub const LARGE_STEP_MS: i64 = 60_000;

/// Difference between two answers that agree, ms.
const AGREEMENT_MS: i64 = 2_000;

/// Time between looks at whether the host's clock was set.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Change of the host's clock that counts as setting it, ms.
const HOST_STEP_MS: i64 = 500;

/// An answer that was not had or is not believed.
#[derive(Debug, thiserror::Error)]
pub enum NoTime {
    /// The server's name has no address.
    #[error("looking up {0}: {1}")]
    NotFound(String, NoAddress),
    /// No answer.
    #[error("no answer")]
    NoAnswer,
    /// The server asks to be left alone.
    #[error("the server asks to be left alone")]
    GoAway,
    /// The answer is none, or the server does not know the time itself.
    #[error("the answer makes no sense")]
    Malformed,
    /// The answer is no time that a clock can show today, or took too long.
    #[error("the answer is not plausible")]
    Implausible,
    /// Two answers contradict each other.
    #[error("two answers contradict each other")]
    Contradiction,
}

/// Asks a time server for ever and corrects the clock.
pub async fn keep_time(
    clock: Clock,
    resolver: Resolver,
    (host, port): (String, u16),
    inbox: Inbox,
    mut stop: Stop,
) {
    let corrections = async {
        let mut keeper = Keeper {
            clock,
            resolver,
            set: None,
        };
        let mut backoff = Backoff::new(Chance::new());
        loop {
            let (wait, state) = match keeper.correct(&host, port).await {
                Ok(()) => {
                    backoff.succeeded();
                    (ASK_EVERY, Connection::Up)
                }
                Err(error) => {
                    tracing::debug!(%error, "the time server gave no time");
                    let least = matches!(error, NoTime::GoAway).then_some(ASK_EVERY);
                    let retry_in = backoff.failed(least);
                    let reason = error.to_string();
                    (retry_in, Connection::Down { reason, retry_in })
                }
            };
            // The loss of the device is noticed elsewhere.
            let _ = inbox.tell(Input::Timed(state)).await;
            keeper.wait(wait).await;
        }
    };
    tokio::select! {
        () = stop.stopped() => {}
        () = corrections => {}
    }
}

/// How far the host's clock is off, and when the host started by that clock.
#[derive(Debug, Clone, Copy)]
struct Set {
    offset_ms: i64,
    host_started_ms: i64,
}

struct Keeper {
    clock: Clock,
    resolver: Resolver,
    set: Option<Set>,
}

impl Keeper {
    async fn correct(&mut self, host: &str, port: u16) -> Result<(), NoTime> {
        let server = self.resolve(host, port).await?;
        let offset_ms = ask(server).await?;
        let step_ms = self
            .set
            .map_or(0, |set| offset_ms.saturating_sub(set.offset_ms));
        // A clock that was right once is not thrown off by a single answer.
        if step_ms.abs() >= LARGE_STEP_MS {
            let again_ms = ask(server).await?;
            if again_ms.saturating_sub(offset_ms).abs() > AGREEMENT_MS {
                return Err(NoTime::Contradiction);
            }
        }
        if self.set.is_none() || step_ms.abs() >= HOST_STEP_MS {
            tracing::info!(offset_ms, "the clock was set by a time server");
        }
        self.take(offset_ms);
        Ok(())
    }

    async fn resolve(&self, host: &str, port: u16) -> Result<SocketAddr, NoTime> {
        let not_found = |error| NoTime::NotFound(host.to_owned(), error);
        let found = self.resolver.look_up(host, port).await.map_err(not_found)?;
        let first = found
            .iter()
            .find(|address| address.is_ipv4())
            .or(found.first());
        first.copied().ok_or_else(|| not_found(NoAddress::NotFound))
    }

    fn take(&mut self, offset_ms: i64) {
        self.set = Some(Set {
            offset_ms,
            host_started_ms: host_started_ms(),
        });
        self.clock.correct(offset_ms);
    }

    /// Waits, and keeps the clock right if the host's clock is set meanwhile.
    async fn wait(&mut self, wait: Duration) {
        let until = Instant::now() + wait;
        while Instant::now() < until {
            time::sleep_until(until.min(Instant::now() + LOOK_EVERY)).await;
            if let Some(set) = self.set {
                let moved_ms = host_started_ms().saturating_sub(set.host_started_ms);
                if moved_ms.abs() >= HOST_STEP_MS {
                    tracing::info!(moved_ms, "the host's clock was set");
                    self.take(set.offset_ms.saturating_sub(moved_ms));
                }
            }
        }
    }
}

/// Asks once how far the host's clock is off, ms.
async fn ask(server: SocketAddr) -> Result<i64, NoTime> {
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
    if !(0.0..=ROUND_TRIP_MAX.as_secs_f64()).contains(&round_trip.max(0.0)) {
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
    use std::sync::Arc;

    use tokio::net::UdpSocket;

    use super::*;
    use crate::net::resolver::HostNames;

    /// Seconds from 1900 to 1970.
    const NTP_EPOCH: i64 = 2_208_988_800;

    /// Answers questions as a server whose clock is off, by another time for each.
    async fn serve(server: UdpSocket, offs_ms: Vec<i64>) {
        for off_ms in offs_ms {
            let mut question = [0; 48];
            let (_, client) = server.recv_from(&mut question).await.unwrap();
            let now_ms = host_unix_ms() + off_ms;
            // The count begins anew in 2036.
            let secs = (now_ms.div_euclid(1000) + NTP_EPOCH) & i64::from(u32::MAX);
            let secs = u32::try_from(secs).unwrap();
            let fraction = u32::try_from((now_ms.rem_euclid(1000) << 32) / 1000).unwrap();
            let stamp = [secs.to_be_bytes(), fraction.to_be_bytes()].concat();
            let mut reply = [0; 48];
            (reply[0], reply[1]) = (0x24, 2);
            reply[24..32].copy_from_slice(&question[40..48]);
            reply[32..40].copy_from_slice(&stamp);
            reply[40..48].copy_from_slice(&stamp);
            server.send_to(&reply, client).await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_clock_that_was_set_steps_far_only_if_two_answers_agree() {
        const HOUR: i64 = 3_600_000;
        const YEAR: i64 = 365 * 24 * HOUR;
        // What the server is off by at each question, and what the clock is off by afterwards.
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
        let mut keeper = Keeper {
            clock: Clock::unset(),
            resolver: Resolver::new(Arc::new(HostNames)),
            set: None,
        };
        for (answers, expected) in rows {
            let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let port = server.local_addr().unwrap().port();
            let answering = serve(server, answers.to_vec());
            let (corrected, ()) = tokio::join!(keeper.correct("127.0.0.1", port), answering);
            let off_ms = keeper.clock.now().utc.unwrap().unix_ms - host_unix_ms();
            assert!(
                (off_ms - expected).abs() < 1000,
                "{answers:?}: {off_ms} ms, {corrected:?}"
            );
            assert_eq!(
                corrected.is_ok(),
                answers.contains(&expected),
                "{answers:?}"
            );
        }
    }
}
