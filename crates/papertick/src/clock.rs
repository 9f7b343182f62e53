//! Time: the one place that reads the clocks of the host.
//!
//! *Uptime* counts from the start of the device and never goes backward.
//! The *wall clock* is the host's, corrected by what time servers say.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use device::now::{Now, UtcTime};
use rustix::time::{ClockId, clock_gettime};
use tokio::{sync::watch, time::Instant};

/// Tells the time; clones tell the same.
#[derive(Debug, Clone)]
pub struct Clock {
    start: Instant,
    wall: Arc<watch::Sender<Wall>>,
}

/// Where the wall clock comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wall {
    /// The host's clock, off by so many milliseconds.
    Host {
        /// What must be added to the host's clock, ms.
        offset_ms: i64,
    },
    /// A clock that was set by hand and runs on with uptime.
    Set {
        /// What it was set to, ms since 1970-01-01 UTC.
        unix_ms: i64,
        /// When it was set.
        at: Instant,
    },
    /// Nobody knows.
    Unset,
}

impl Clock {
    /// A clock that starts at uptime 0 with the host's wall clock.
    pub fn host() -> Clock {
        Clock::with(Wall::Host { offset_ms: 0 })
    }

    /// A clock that starts at uptime 0 without a wall clock.
    pub fn unset() -> Clock {
        Clock::with(Wall::Unset)
    }

    fn with(wall: Wall) -> Clock {
        Clock {
            start: Instant::now(),
            wall: Arc::new(watch::Sender::new(wall)),
        }
    }

    /// The moment it is.
    pub fn now(&self) -> Now {
        let instant = Instant::now();
        let unix_ms = match *self.wall.borrow() {
            Wall::Host { offset_ms } => Some(host_unix_ms().saturating_add(offset_ms)),
            Wall::Set { unix_ms, at } => {
                let since = instant.saturating_duration_since(at).as_millis();
                Some(unix_ms.saturating_add(i64::try_from(since).unwrap_or(i64::MAX)))
            }
            Wall::Unset => None,
        };
        Now {
            uptime: instant.saturating_duration_since(self.start),
            utc: unix_ms.and_then(UtcTime::plausible),
        }
    }

    /// The instant at which the uptime is this; far in the future if there is no such instant.
    pub fn instant(&self, uptime: Duration) -> Instant {
        const FAR: Duration = Duration::from_secs(365 * 24 * 3600);
        self.start
            .checked_add(uptime)
            .unwrap_or_else(|| Instant::now() + FAR)
    }

    /// The uptime at an instant that has passed.
    pub fn uptime_at(&self, instant: Instant) -> Duration {
        self.now().uptime.saturating_sub(instant.elapsed())
    }

    /// Sets the wall clock to what a time server or a test says.
    pub fn set(&self, unix_ms: i64) {
        let at = Instant::now();
        self.wall.send_replace(Wall::Set { unix_ms, at });
    }

    /// Corrects the host's clock by what a time server says.
    pub fn correct(&self, offset_ms: i64) {
        self.wall.send_replace(Wall::Host { offset_ms });
    }

    /// Hears of every step of the wall clock, so that the device can be told at once.
    pub fn steps(&self) -> watch::Receiver<Wall> {
        self.wall.subscribe()
    }
}

/// The host's wall clock, ms since 1970-01-01 UTC.
pub(crate) fn host_unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

/// Moment at which the host started by its own wall clock, ms since 1970-01-01 UTC; moves exactly
/// when that clock is set.
pub(crate) fn host_started_ms() -> i64 {
    let since = clock_gettime(ClockId::Boottime);
    let since_ms = since
        .tv_sec
        .saturating_mul(1000)
        .saturating_add(since.tv_nsec / 1_000_000);
    host_unix_ms().saturating_sub(since_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW_YEAR_2026: i64 = 1_767_225_600_000;

    #[tokio::test(start_paused = true)]
    async fn uptime_and_a_set_wall_clock_run_together() {
        let clock = Clock::unset();
        assert_eq!(clock.now().utc, None);
        clock.set(NEW_YEAR_2026);
        tokio::time::advance(Duration::from_millis(1500)).await;
        let now = clock.now();
        assert_eq!(now.uptime, Duration::from_millis(1500));
        assert_eq!(now.utc.map(|utc| utc.unix_ms), Some(NEW_YEAR_2026 + 1500));
        assert_eq!(clock.instant(now.uptime), Instant::now());
        let then = Instant::now();
        tokio::time::advance(Duration::from_secs(3)).await;
        assert_eq!(clock.uptime_at(then), now.uptime);
    }

    #[tokio::test(start_paused = true)]
    async fn an_implausible_wall_clock_is_none() {
        let clock = Clock::unset();
        clock.set(1_000);
        assert_eq!(clock.now().utc, None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_host_clock_can_be_corrected() {
        let clock = Clock::host();
        let before = clock.now().utc.map(|utc| utc.unix_ms);
        clock.correct(3_600_000);
        let after = clock.now().utc.map(|utc| utc.unix_ms);
        let step = after.zip(before).map(|(after, before)| after - before);
        assert!(
            step.is_some_and(|step| (3_600_000..3_700_000).contains(&step)),
            "{step:?}"
        );
        assert!(clock.instant(Duration::MAX) > Instant::now());
    }
}
