//! Full or partial refresh.

use core::time::Duration;

use crate::{limits::FULL_REFRESH_GRACE, settings::Settings};

/// How panels are refreshed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refresh {
    /// Through black and white: slow, without ghosts.
    Full,
    /// Only what changed: fast.
    Partial,
}

impl Refresh {
    /// Both of them.
    pub const ALL: [Refresh; 2] = [Refresh::Full, Refresh::Partial];

    /// Word for it in status and events.
    pub fn name(self) -> &'static str {
        match self {
            Refresh::Full => "full",
            Refresh::Partial => "partial",
        }
    }
}

/// Why the panels are painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RefreshCause {
    /// The same screen with new data.
    Data,
    /// Another screen, or a layer that appeared or disappeared; follows from what is visible.
    Change,
    /// A full refresh was requested, or ghosts would show without one.
    Forced,
}

/// Remembers the last full refresh and decides on the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RefreshPolicy {
    last_full: Option<Duration>,
}

impl RefreshPolicy {
    /// Chooses the refresh at this uptime; once a mandatory full refresh is due, the next repaint is a full one.
    pub fn decide(
        &mut self,
        cause: RefreshCause,
        settings: &Settings,
        uptime: Duration,
    ) -> Refresh {
        let is_due = || self.due(settings).is_none_or(|due| due <= uptime);
        let full = match cause {
            RefreshCause::Forced => true,
            // Without a period, data never causes a full refresh, and every change of screen does.
            RefreshCause::Data => settings.full_refresh_min > 0 && is_due(),
            RefreshCause::Change => settings.refr_scrn_change || is_due(),
        };
        if full {
            self.last_full = Some(uptime);
            Refresh::Full
        } else {
            Refresh::Partial
        }
    }

    /// Uptime at which a mandatory full refresh is made if nothing is painted before. `None` without a period.
    pub fn next_deadline(&self, settings: &Settings) -> Option<Duration> {
        let due = self.due(settings).filter(|_| settings.full_refresh_min > 0);
        Some(due? + FULL_REFRESH_GRACE)
    }

    /// Uptime from which on the mandatory full refresh is due; that of the last full refresh if the period is 0. `None`
    /// before the first one.
    fn due(&self, settings: &Settings) -> Option<Duration> {
        let period = Duration::from_secs(u64::from(settings.full_refresh_min) * 60);
        Some(self.last_full? + period)
    }
}
