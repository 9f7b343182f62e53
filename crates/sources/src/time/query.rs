//! Queries of NTP servers.

use std::{
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use market::now::UtcTime;
use net::resolver::NoAddress;
use rsntp::{AsyncSntpClient, Config, SynchronizationError, SynchronizationResult};
use runtime::clock::host_unix_ms;

/// Longest time for a response.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Times from 2100-01-01 UTC on are rejected.
pub const PLAUSIBLE_UNTIL_MS: i64 = 4_102_444_800_000;

/// The time of a zero timestamp, 2036-02-07 06:28:16 UTC: a server without a time sends zeros.
pub const ZERO_TIME_MS: i64 = 2_085_978_496_000;

/// Longest difference of a time to that of zero timestamps, ms: the delay of the network and of this program.
const ZERO_RANGE_MS: i64 = 10_000;

/// Longest round trip of a usable response.
pub const ROUND_TRIP_MAX: Duration = Duration::from_secs(2);

/// Tolerance for a negative round trip, which results from reading clocks one after the other.
const ROUNDING: Duration = Duration::from_millis(100);

/// Why there is no usable response.
#[derive(Debug, thiserror::Error)]
pub enum NoTime {
    /// The server's name has no address.
    #[error("looking up {0}: {1}")]
    NotFound(String, NoAddress),
    #[error("no answer")]
    NoAnswer,
    /// The server has sent a kiss-of-death packet.
    #[error("the server refuses requests (kiss of death)")]
    GoAway,
    /// The response is invalid, or the server is not synchronised.
    #[error("invalid answer")]
    Malformed,
    /// The time is that of zero timestamps, before the build of the program or outside the plausible range, or the round trip took
    /// too long.
    #[error("the answer is not plausible")]
    Implausible,
    /// The time is before the newest blocks.
    #[error("the answer is before the newest blocks")]
    BeforeChain,
    /// A large step, and no other server responds.
    #[error("no other server confirms the time")]
    Unconfirmed,
    /// Two responses disagree.
    #[error("two answers contradict each other")]
    Contradiction,
}

/// An address of a time server, and the index of its name among the configured ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimeServerAddress {
    pub(super) name_index: usize,
    pub(super) address: SocketAddr,
}

/// Queries the servers in turn. Returns the first offset of the host's clock, ms, and its server. Times before the build of
/// the program, ms since 1970-01-01 UTC, are rejected.
pub(super) async fn query_any(
    servers: &[TimeServerAddress],
    built_ms: Option<i64>,
) -> Result<(i64, TimeServerAddress), NoTime> {
    let mut failure = NoTime::NoAnswer;
    for server in servers {
        match query(server.address, built_ms).await {
            Ok(offset_ms) => return Ok((offset_ms, *server)),
            // A kiss of death is obeyed, whatever the other servers respond.
            Err(_) if matches!(failure, NoTime::GoAway) => {}
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// Queries a server for the offset of the host's clock, ms.
async fn query(server: SocketAddr, built_ms: Option<i64>) -> Result<i64, NoTime> {
    let any: SocketAddr = match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let config = Config::default().bind_address(any).timeout(ANSWER_TIMEOUT);
    let answer = AsyncSntpClient::with_config(config)
        .synchronize(server)
        .await;
    plausible(&answer.map_err(reason)?, host_unix_ms(), built_ms)
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

fn plausible(
    answer: &SynchronizationResult,
    host_unix_ms: i64,
    built_ms: Option<i64>,
) -> Result<i64, NoTime> {
    let round_trip = answer.round_trip_delay().as_secs_f64();
    // A clock step between request and response makes the measurement useless.
    let fits = -ROUNDING.as_secs_f64()..=ROUND_TRIP_MAX.as_secs_f64();
    if !fits.contains(&round_trip) {
        return Err(NoTime::Implausible);
    }
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
    let offset_ms = (answer.clock_offset().as_secs_f64() * 1000.0).round() as i64;
    let unix_ms = host_unix_ms.saturating_add(offset_ms);
    let is_zero = (unix_ms - ZERO_TIME_MS).abs() < ZERO_RANGE_MS;
    let is_before_build = built_ms.is_some_and(|built_ms| unix_ms < built_ms);
    match UtcTime::plausible(unix_ms) {
        Some(_) if unix_ms < PLAUSIBLE_UNTIL_MS && !is_zero && !is_before_build => Ok(offset_ms),
        Some(_) | None => Err(NoTime::Implausible),
    }
}
