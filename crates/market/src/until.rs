//! Until when a verdict holds, if nobody says anything more.

use core::time::Duration;

/// The first moment after now at which something is over.
#[derive(Debug)]
pub struct Until {
    now: Duration,
    first: Option<Duration>,
}

impl Until {
    /// Nothing is waited for yet.
    pub fn after(now: Duration) -> Until {
        Until { now, first: None }
    }

    /// Now.
    pub fn now(&self) -> Duration {
        self.now
    }

    /// The first moment that is waited for.
    pub fn first(&self) -> Option<Duration> {
        self.first
    }

    /// Tells whether a moment has passed; one that has not is waited for.
    pub fn is_over(&mut self, moment: Duration) -> bool {
        if moment <= self.now {
            return true;
        }
        self.first = Some(self.first.map_or(moment, |first| first.min(moment)));
        false
    }
}
