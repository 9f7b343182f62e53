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

/// Queries the servers in turn. Returns the first offset of the host's clock, ms, and the remaining servers.
pub(super) async fn query_any(servers: &[SocketAddr]) -> Result<(i64, &[SocketAddr]), NoTime> {
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
