//! Notices a height that stands still, so that the upstream can be asked in another way.

use std::time::Duration;

use market::Observation;
use tokio::time::{self, Instant, Interval, MissedTickBehavior};

/// Time between looks at the age of the last block.
pub const STALE_TICK: Duration = Duration::from_secs(5 * 60);

/// Age of the last change of the height from which an upstream is asked beside its socket.
pub const STALE_AFTER: Duration = Duration::from_secs(60 * 60);

/// The last height and since when it is known to be the newest.
#[derive(Debug, Default)]
pub struct Freshness {
    height: Option<u32>,
    since: Option<Instant>,
}

impl Freshness {
    /// Begins anew with a connection.
    pub fn connected(&mut self) {
        self.since = Some(Instant::now());
    }

    /// Takes note of heights. A repeat is no news: an upstream whose own source stands still repeats
    /// itself.
    pub fn take_note(&mut self, observations: &[Observation]) {
        for observation in observations {
            if let Observation::Block(height) = observation
                && self.height != Some(*height)
            {
                self.height = Some(*height);
                self.since = Some(Instant::now());
            }
        }
    }

    /// Tells whether the height has stood still for suspiciously long.
    pub fn is_stale(&self) -> bool {
        self.since
            .is_some_and(|since| since.elapsed() >= STALE_AFTER)
    }

    /// Compares with what the upstream says beside its socket; the same height is a fresh one.
    pub fn confirmed_by(&mut self, tip: u32) -> bool {
        let same = self.height == Some(tip);
        if same {
            self.since = Some(Instant::now());
        }
        same
    }
}

/// The moments at which to look at the age of the last block.
pub fn ticks() -> Interval {
    let mut ticks = time::interval_at(Instant::now() + STALE_TICK, STALE_TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
