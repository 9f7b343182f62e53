//! The next moment at which a verdict changes without a new report.

use core::time::Duration;

/// Compares moments with now and collects the first one that is still to come.
#[derive(Debug)]
pub struct NextDeadline {
    now: Duration,
    first: Option<Duration>,
}

impl NextDeadline {
    /// No deadline yet.
    pub fn after(now: Duration) -> NextDeadline {
        NextDeadline { now, first: None }
    }

    /// Now.
    pub fn now(&self) -> Duration {
        self.now
    }

    /// The first deadline.
    pub fn first(&self) -> Option<Duration> {
        self.first
    }

    /// Returns whether a moment has passed. If not, it becomes a deadline.
    pub fn has_passed(&mut self, moment: Duration) -> bool {
        if moment <= self.now {
            return true;
        }
        self.first = Some(self.first.map_or(moment, |first| first.min(moment)));
        false
    }
}
