//! Detects a height that does not change, so that the upstream can be checked by another request.

use std::time::Duration;

use market::Observation;
use tokio::time::{self, Instant, Interval, MissedTickBehavior};

/// Interval of the checks of the age of the last block.
pub const STALE_TICK: Duration = Duration::from_secs(5 * 60);

/// Age of the last height change after which the tip is checked by a request.
pub const STALE_AFTER: Duration = Duration::from_secs(60 * 60);

/// The last height and when it was last confirmed as the newest.
#[derive(Debug, Default)]
pub struct Freshness {
    height: Option<u32>,
    since: Option<Instant>,
}

impl Freshness {
    /// Resets the state for a new connection.
    pub fn connected(&mut self) {
        self.since = Some(Instant::now());
    }

    /// Records heights. A repeated height is ignored: an upstream whose own source is stuck repeats itself.
    pub fn record(&mut self, observations: &[Observation]) {
        for observation in observations {
            if let Observation::Block(height) = observation
                && self.height != Some(*height)
            {
                self.height = Some(*height);
                self.since = Some(Instant::now());
            }
        }
    }

    /// Returns whether the height has not changed for a long time.
    pub fn is_stale(&self) -> bool {
        self.since
            .is_some_and(|since| since.elapsed() >= STALE_AFTER)
    }

    /// Compares with the tip from a request; an equal height counts as fresh.
    pub fn confirmed_by(&mut self, tip: u32) -> bool {
        let same = self.height == Some(tip);
        if same {
            self.since = Some(Instant::now());
        }
        same
    }
}

/// The times of the checks.
pub fn ticks() -> Interval {
    let mut ticks = time::interval_at(Instant::now() + STALE_TICK, STALE_TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
