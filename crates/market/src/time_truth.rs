//! How good the time is: what has set the clock, and whether the chain of headers allows its time.

use core::time::Duration;

use crate::{
    now::{Now, UtcTime},
    source_state::SourceState,
};

/// How good the time is, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum TimeState {
    /// A time server has set the clock, and the time is after the newest blocks.
    Bounded,
    /// A time server has set the clock; there are no blocks to compare it with.
    Server,
    /// The time of the host.
    Host,
    /// The time, or the newest time of the time server, is before the newest blocks.
    Refused,
    /// The clock is not set.
    #[default]
    Unknown,
}

impl TimeState {
    /// All states, best first.
    pub const ALL: [TimeState; 5] = [
        TimeState::Bounded,
        TimeState::Server,
        TimeState::Host,
        TimeState::Refused,
        TimeState::Unknown,
    ];

    /// Name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            TimeState::Bounded => "bounded",
            TimeState::Server => "server",
            TimeState::Host => "host",
            TimeState::Refused => "refused",
            TimeState::Unknown => "unknown",
        }
    }
}

/// How good the time is, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeTruth {
    /// How good it is.
    pub state: TimeState,
    /// Median time of the newest blocks, Unix seconds: the time cannot be earlier. `None` if too few blocks are known.
    pub earliest: Option<u32>,
}

/// The time server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TimeServer {
    /// Its state; `None` before the first request.
    pub state: Option<SourceState>,
    /// Its newest time is before the newest blocks.
    pub is_refused: bool,
}

/// Uptime at which our time reaches that of the newest blocks; `None` if it is not before them.
pub fn catches_up(now: Now, earliest: Option<u32>) -> Option<Duration> {
    let earliest_ms = i64::from(earliest?).saturating_mul(1000);
    let ahead_ms = u64::try_from(earliest_ms.saturating_sub(now.utc?.unix_ms)).ok()?;
    (ahead_ms > 0).then(|| now.uptime + Duration::from_millis(ahead_ms))
}

/// Decides how good the time is.
pub fn decide(utc: Option<UtcTime>, earliest: Option<u32>, server: &TimeServer) -> TimeTruth {
    let has_set = server
        .state
        .as_ref()
        .is_some_and(|state| state.last_success.is_some());
    let is_before = |utc: UtcTime| earliest.is_some_and(|first| utc.unix_secs() < first.into());
    let state = match utc {
        None => TimeState::Unknown,
        Some(utc) if server.is_refused || is_before(utc) => TimeState::Refused,
        Some(_) if !has_set => TimeState::Host,
        Some(_) if earliest.is_some() => TimeState::Bounded,
        Some(_) => TimeState::Server,
    };
    TimeTruth { state, earliest }
}
