//! Retry delays: short at first, longer after every failure, with jitter so that not all clocks retry together.

use std::time::Duration;

use crate::chance::Chance;

/// Delay after the first failure, before jitter.
pub const RETRY_BASE: Duration = Duration::from_secs(5);

/// Longest delay after repeated failures, before jitter.
pub const RETRY_CAP: Duration = Duration::from_secs(60);

/// Longest delay that an upstream can request.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(3600);

/// A connection that worked for this long resets the delay.
pub const STABLE_AFTER: Duration = Duration::from_secs(30);

/// Jitter, percent of the delay in each direction.
const JITTER_PCT: u32 = 20;

/// Counts failures in a row and computes the delay.
#[derive(Debug, Clone)]
pub struct Backoff {
    failures: u32,
    chance: Chance,
}

impl Backoff {
    /// A counter without failures.
    pub fn new(chance: Chance) -> Backoff {
        Backoff {
            failures: 0,
            chance,
        }
    }

    /// Resets the count.
    pub fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// Counts a failure and returns the delay, at least the one that the upstream requested.
    pub fn failed(&mut self, retry_after: Option<Duration>) -> Duration {
        let doublings = self.failures.min(16);
        self.failures = self.failures.saturating_add(1);
        let wait = RETRY_BASE.saturating_mul(1 << doublings).min(RETRY_CAP);
        let requested = retry_after.unwrap_or_default().min(RETRY_AFTER_MAX);
        let spread = wait * JITTER_PCT / 100;
        let jittered = self.chance.between(wait - spread, wait + spread);
        // Jitter here too: the upstream may have sent all clocks the same time.
        let requested = self
            .chance
            .between(requested, requested + requested * JITTER_PCT / 100);
        jittered.max(requested)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(range: std::ops::RangeInclusive<u64>, wait: Duration) {
        let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        assert!(
            (range.start() * 1000..=range.end() * 1000).contains(&millis),
            "{wait:?}"
        );
    }

    #[test]
    fn delays_grow_to_the_cap_and_restart_after_a_success() {
        for seed in 0..50 {
            let mut backoff = Backoff::new(Chance::seeded(seed));
            secs(4..=6, backoff.failed(None));
            secs(8..=12, backoff.failed(None));
            secs(16..=24, backoff.failed(None));
            for _ in 0..40 {
                secs(32..=72, backoff.failed(None));
            }
            backoff.succeeded();
            secs(4..=6, backoff.failed(None));
        }
    }

    #[test]
    fn a_requested_delay_is_obeyed_up_to_a_limit() {
        let mut backoff = Backoff::new(Chance::seeded(7));
        secs(120..=144, backoff.failed(Some(Duration::from_secs(120))));
        backoff.succeeded();
        secs(4..=6, backoff.failed(Some(Duration::ZERO)));
        secs(
            3600..=4320,
            backoff.failed(Some(Duration::from_secs(1 << 40))),
        );
    }
}
