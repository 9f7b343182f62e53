//! Time: the one place that reads the clocks of the host.
//!
//! *Uptime* counts from the start of the device and never goes backward. It includes the time that the machine sleeps,
//! so data from before a sleep is old after it. The *wall clock* is the host's until a time server sets it; from then
//! on it advances with uptime, whatever the host's clock is set to.
//! set to.
//! A *step* is anything that makes a deadline come sooner than waiting suggests: the clock is set, or the machine
//! wakes.

use std::{
    future::pending,
    io,
    os::fd::OwnedFd,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use market::now::{Now, UtcTime};
use rustix::{
    io::{Errno, read},
    time::{
        ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec,
        clock_gettime, timerfd_create, timerfd_settime,
    },
};
use tokio::{
    io::{Interest, unix::AsyncFd},
    sync::watch,
    time::Instant,
};

/// Least difference of the host's clocks that counts as sleep; less may be scheduling delay.
const SLEEP_MIN: Duration = Duration::from_millis(10);

/// Longest time between two readings of one clock for a reading between them to be used.
const READING_MAX: Duration = Duration::from_millis(1);

/// Attempts to read the host's clocks close enough to each other.
const READING_TRIES: u32 = 3;

/// Reads the time. Clones share the wall clock.
#[derive(Debug, Clone)]
pub struct Clock {
    start: Instant,
    wall: Arc<watch::Sender<Wall>>,
    asleep: Asleep,
}

/// Where the wall clock comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wall {
    Host,
    /// It was set and runs on with uptime.
    Set {
        /// What it was set to, ms since 1970-01-01 UTC.
        unix_ms: i64,
        /// Uptime at which it was set.
        at: Duration,
    },
    Unset,
}

/// How to find out how long the machine has slept since the clock started.
#[derive(Debug, Clone)]
enum Asleep {
    /// The difference of two host clocks, one of which stops during sleep.
    Host {
        /// Time slept before the start.
        before: Duration,
        known: Arc<watch::Sender<Duration>>,
    },
    /// A value set by a test.
    Given(watch::Receiver<Duration>),
}

impl Clock {
    /// A clock that starts at uptime 0 with the host's wall clock.
    pub fn host() -> Clock {
        Clock::with(Wall::Host, Asleep::host())
    }

    /// A clock that starts at uptime 0 without a wall clock.
    pub fn unset() -> Clock {
        Clock::with(Wall::Unset, Asleep::host())
    }

    /// A clock without a wall clock, with the sleep time given by the caller: for tests.
    pub fn with_sleep(asleep: watch::Receiver<Duration>) -> Clock {
        Clock::with(Wall::Unset, Asleep::Given(asleep))
    }

    fn with(wall: Wall, asleep: Asleep) -> Clock {
        Clock {
            start: Instant::now(),
            wall: Arc::new(watch::Sender::new(wall)),
            asleep,
        }
    }

    /// The current time.
    pub fn now(&self) -> Now {
        let uptime = self.uptime();
        let unix_ms = match *self.wall.borrow() {
            Wall::Host => Some(host_unix_ms()),
            Wall::Set { unix_ms, at } => {
                let since = uptime.saturating_sub(at).as_millis();
                Some(unix_ms.saturating_add(i64::try_from(since).unwrap_or(i64::MAX)))
            }
            Wall::Unset => None,
        };
        Now {
            uptime,
            utc: unix_ms.and_then(UtcTime::plausible),
        }
    }

    /// The wall clock in RFC 3339. `None` if the time is unknown.
    pub fn rfc3339(&self) -> Option<String> {
        let utc = self.now().utc?;
        let seconds = jiff::Timestamp::from_second(utc.unix_ms.div_euclid(1000)).ok()?;
        Some(seconds.to_string())
    }

    /// Time since the start, including sleep.
    pub fn uptime(&self) -> Duration {
        self.start.elapsed() + self.asleep.time()
    }

    /// The instant of an uptime if the machine does not sleep until then; far in the future if out of range.
    pub fn instant(&self, uptime: Duration) -> Instant {
        const FAR: Duration = Duration::from_secs(365 * 24 * 3600);
        let awake = uptime.saturating_sub(self.asleep.time());
        self.start
            .checked_add(awake)
            .unwrap_or_else(|| Instant::now() + FAR)
    }

    /// The uptime at an instant that has passed.
    pub fn uptime_at(&self, instant: Instant) -> Duration {
        self.uptime().saturating_sub(instant.elapsed())
    }

    pub fn set(&self, unix_ms: i64) {
        let at = self.uptime();
        self.wall.send_replace(Wall::Set { unix_ms, at });
    }

    pub fn steps(&self) -> watch::Receiver<Wall> {
        self.wall.subscribe()
    }

    /// Notifies the subscribers when the host's clock is set and when its machine wakes, for ever.
    pub async fn follow_host(self) {
        match self.asleep.clone() {
            Asleep::Host { .. } => {
                if let Err(error) = self.follow_host_steps().await {
                    tracing::warn!(%error, "cannot watch the host's clock: steps are noticed late");
                }
            }
            Asleep::Given(mut asleep) => {
                while asleep.changed().await.is_ok() {
                    self.stepped();
                }
            }
        }
        pending().await
    }

    async fn follow_host_steps(&self) -> io::Result<()> {
        let timer = step_timer()?;
        loop {
            host_step(&timer, FAR_SECS).await?;
            self.stepped();
        }
    }

    fn stepped(&self) {
        self.wall.send_modify(|_| {});
    }
}

impl Asleep {
    fn host() -> Asleep {
        Asleep::Host {
            before: host_asleep().unwrap_or_default(),
            known: Arc::new(watch::Sender::new(Duration::ZERO)),
        }
    }

    fn time(&self) -> Duration {
        match self {
            Asleep::Given(asleep) => *asleep.borrow(),
            Asleep::Host { before, known } => {
                let time = host_asleep().map(|time| time.saturating_sub(*before));
                // It never shrinks, and ignores noise of the readings.
                known.send_if_modified(|known| {
                    let grows = time.is_some_and(|time| time >= *known + SLEEP_MIN);
                    if grows {
                        *known = time.unwrap_or_default();
                    }
                    grows
                });
                *known.borrow()
            }
        }
    }
}

/// A timer that is cancelled by each step of the host's wall clock, and also when its machine wakes.
#[expect(
    deprecated,
    reason = "the replacement is unsafe; this one is unsound only for types that change their descriptor, which OwnedFd does not"
)]
fn step_timer() -> io::Result<AsyncFd<OwnedFd>> {
    let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
    let timer = timerfd_create(TimerfdClockId::Realtime, flags)?;
    AsyncFd::with_interest(timer, Interest::READABLE)
}

/// A wall clock time that never comes, s since 1970-01-01 UTC.
const FAR_SECS: i64 = 1 << 40;

/// Waits until the host's wall clock steps or reaches a time.
async fn host_step(timer: &AsyncFd<OwnedFd>, until_secs: i64) -> io::Result<()> {
    let nothing = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let moment = Itimerspec {
        it_interval: nothing,
        it_value: Timespec {
            tv_sec: until_secs,
            tv_nsec: 0,
        },
    };
    let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
    timerfd_settime(timer, flags, &moment)?;
    loop {
        let mut ready = timer.readable().await?;
        match read(timer, &mut [0; 8]) {
            Ok(_) | Err(Errno::CANCELED) => return Ok(()),
            Err(Errno::AGAIN) => ready.clear_ready(),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// How long the machine has slept since boot. `None` if the clocks could not be read close enough together.
fn host_asleep() -> Option<Duration> {
    let read = |clock| {
        let time = clock_gettime(clock);
        let secs = Duration::from_secs(time.tv_sec.try_into().unwrap_or_default());
        secs + Duration::from_nanos(time.tv_nsec.try_into().unwrap_or_default())
    };
    (0..READING_TRIES).find_map(|_| {
        let before = read(ClockId::Monotonic);
        let with_sleep = read(ClockId::Boottime);
        let is_close = read(ClockId::Monotonic).saturating_sub(before) <= READING_MAX;
        is_close.then(|| with_sleep.saturating_sub(before))
    })
}

/// The host's wall clock, ms since 1970-01-01 UTC.
pub fn host_unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

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
    async fn uptime_includes_sleep() {
        const NIGHT: Duration = Duration::from_secs(8 * 3600);
        let (sleep, asleep) = watch::channel(Duration::ZERO);
        let clock = Clock::with_sleep(asleep);
        clock.set(NEW_YEAR_2026);
        tokio::time::advance(Duration::from_secs(60)).await;
        let (evening, pressed) = (clock.now(), Instant::now());
        let due = evening.uptime + NIGHT;
        assert_eq!(clock.instant(due), Instant::now() + NIGHT);

        sleep.send_replace(NIGHT);
        let morning = clock.now();
        assert_eq!(morning.uptime, due);
        let passed = morning.utc.zip(evening.utc);
        let passed = passed.map(|(morning, evening)| morning.unix_ms - evening.unix_ms);
        assert_eq!(passed.map(i64::unsigned_abs), Some(1000 * NIGHT.as_secs()));
        assert_eq!(clock.instant(due), Instant::now(), "it is due");
        assert!(clock.instant(evening.uptime) <= Instant::now());
        assert_eq!(clock.uptime_at(pressed), morning.uptime);
    }

    #[tokio::test]
    async fn no_sleep_is_counted_while_awake() {
        let clock = Clock::host();
        let mut before = Duration::ZERO;
        for _ in 0..100_000 {
            let uptime = clock.uptime();
            assert!(uptime >= before, "{uptime:?} < {before:?}");
            before = uptime;
        }
        assert!(before < clock.start.elapsed() + SLEEP_MIN);
        assert!(clock.asleep.time() < SLEEP_MIN, "{:?}", clock.asleep);
    }

    #[tokio::test]
    async fn a_reached_time_ends_the_wait_for_a_step() {
        let timer = step_timer().unwrap();
        let short = Duration::from_millis(50);
        for _ in 0..2 {
            // A test must not set the host's clock, but a reached time returns in the same way.
            host_step(&timer, 1 + host_unix_ms() / 1000).await.unwrap();
            let never = tokio::time::timeout(short, host_step(&timer, FAR_SECS)).await;
            assert!(never.is_err(), "{never:?}");
        }
    }
}
