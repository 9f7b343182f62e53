//! How good the time is: who has set the clock, and whether the chain that is kept allows what it shows.

use core::time::Duration;

use super::source_state::SourceState;
use crate::now::{Now, UtcTime};

/// How good the time is, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum TimeState {
    /// A time server has set the clock, and it is after the newest blocks.
    Bounded,
    /// A time server has set the clock; there are no blocks to hold it to.
    Server,
    /// It is the host's.
    Host,
    /// It is before the newest blocks, or what the time server said last was.
    Refused,
    /// Nobody knows the time.
    #[default]
    Unknown,
}

impl TimeState {
    /// All of them, best first.
    pub const ALL: [TimeState; 5] = [
        TimeState::Bounded,
        TimeState::Server,
        TimeState::Host,
        TimeState::Refused,
        TimeState::Unknown,
    ];

    /// Word for it in the status.
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

/// What is known of how true the time is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeTruth {
    /// How good it is.
    pub state: TimeState,
    /// The middle time of the newest blocks, Unix seconds: it cannot be earlier than that. None where too few are known.
    pub earliest: Option<u32>,
}

/// Who tells the time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TimeServer {
    /// Its state; none before it was asked.
    pub state: Option<SourceState>,
    /// What it said last is before the newest blocks.
    pub is_refused: bool,
}

/// Uptime at which a time that is before the newest blocks no longer is; none if it is not before them.
pub fn catches_up(now: Now, earliest: Option<u32>) -> Option<Duration> {
    let earliest_ms = i64::from(earliest?).saturating_mul(1000);
    let ahead_ms = u64::try_from(earliest_ms.saturating_sub(now.utc?.unix_ms)).ok()?;
    (ahead_ms > 0).then(|| now.uptime + Duration::from_millis(ahead_ms))
}

/// How true the time is.
pub fn judge(utc: Option<UtcTime>, earliest: Option<u32>, server: &TimeServer) -> TimeTruth {
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
