//! How long a condition has lasted.

use core::time::Duration;

/// Since when a condition has been met without a break.
///
/// Of several calls at one moment only the last one counts, so that their order does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConditionTimer {
    moment: Duration,
    since_before_moment: Option<Duration>,
    since: Option<Duration>,
}

impl ConditionTimer {
    /// Records whether the condition is met.
    pub fn set(&mut self, is_met: bool, uptime: Duration) {
        if uptime != self.moment {
            (self.moment, self.since_before_moment) = (uptime, self.since);
        }
        self.since = is_met.then(|| self.since_before_moment.unwrap_or(uptime));
    }

    /// Since when the condition has been met; `None` if it is not.
    pub fn since(&self) -> Option<Duration> {
        self.since
    }
}
