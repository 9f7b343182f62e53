//! How long something has been so.

use core::time::Duration;

/// Since when something has been so without a break.
///
/// What is said at one moment counts together: only its end makes a difference, whatever the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Since {
    moment: Duration,
    before: Option<Duration>,
    since: Option<Duration>,
}

impl Since {
    /// It is so.
    pub fn go_on(&mut self, uptime: Duration) {
        self.come_to(uptime);
        self.since = Some(self.before.unwrap_or(uptime));
    }

    /// It is not so.
    pub fn end(&mut self, uptime: Duration) {
        self.come_to(uptime);
        self.since = None;
    }

    /// Since when it has been so; none if it is not.
    pub fn since(&self) -> Option<Duration> {
        self.since
    }

    fn come_to(&mut self, uptime: Duration) {
        if uptime != self.moment {
            (self.moment, self.before) = (uptime, self.since);
        }
    }
}
