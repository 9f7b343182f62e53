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
            // Without a period only a change of screen is refreshed fully.
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

    /// Uptime from which on the mandatory full refresh is due. `None` before the first one.
    fn due(&self, settings: &Settings) -> Option<Duration> {
        let period = Duration::from_secs(u64::from(settings.full_refresh_min) * 60);
        Some(self.last_full? + period)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEVER: Option<u64> = None;

    /// Last full refresh, then rows of (time, cause, refrScrnChange, fullRefreshMin, full refresh expected).
    fn check(last_full_ms: Option<u64>, rows: &[(u64, RefreshCause, bool, u32, bool)]) {
        let mut policy = RefreshPolicy {
            last_full: last_full_ms.map(Duration::from_millis),
        };
        for &(at_ms, cause, refr_scrn_change, full_refresh_min, full) in rows {
            let settings = Settings {
                refr_scrn_change,
                full_refresh_min,
                ..Settings::default()
            };
            let expected = if full {
                Refresh::Full
            } else {
                Refresh::Partial
            };
            let decided = policy.decide(cause, &settings, Duration::from_millis(at_ms));
            assert_eq!(decided, expected, "{last_full_ms:?} then {at_ms} {cause:?}");
        }
    }

    #[test]
    fn full_refreshes_follow_the_table() {
        const MIN: u64 = 60_000;
        check(NEVER, &[(0, RefreshCause::Change, false, 10, true)]);
        check(NEVER, &[(0, RefreshCause::Data, false, 10, true)]);
        check(NEVER, &[(0, RefreshCause::Data, false, 0, false)]);
        check(
            Some(0),
            &[
                (MIN, RefreshCause::Change, true, 10, true),
                (2 * MIN, RefreshCause::Change, true, 10, true),
            ],
        );
        check(
            Some(0),
            &[(5 * MIN, RefreshCause::Change, false, 10, false)],
        );
        check(
            Some(0),
            &[
                (10 * MIN, RefreshCause::Change, false, 10, true),
                (10 * MIN + 1, RefreshCause::Change, false, 10, false),
            ],
        );
        check(Some(0), &[(MIN, RefreshCause::Forced, false, 10, true)]);
        check(
            Some(0),
            &[
                (5 * MIN, RefreshCause::Forced, false, 10, true),
                (12 * MIN, RefreshCause::Change, false, 10, false),
            ],
        );
        check(
            Some(0),
            &[
                (10 * MIN - 1, RefreshCause::Data, false, 10, false),
                (10 * MIN, RefreshCause::Data, false, 10, true),
                (10 * MIN + 1, RefreshCause::Data, false, 10, false),
            ],
        );
        check(Some(0), &[(60 * MIN, RefreshCause::Data, true, 0, false)]);
        check(
            Some(0),
            &[
                (1, RefreshCause::Change, false, 0, true),
                (2, RefreshCause::Data, false, 0, false),
            ],
        );
        let mut rows = alloc::vec![(0, RefreshCause::Change, false, 60, true)];
        rows.extend((1..=30).map(|step| (step * 10_000, RefreshCause::Change, false, 60, false)));
        rows.push((60 * MIN, RefreshCause::Change, false, 60, true));
        check(NEVER, &rows);
    }
}
