//! When to try again: soon at first, later after every failure, never all clocks at once.

use std::time::Duration;

use crate::chance::Chance;

/// Wait after the first failure, before jitter.
pub const RETRY_BASE: Duration = Duration::from_secs(5);

/// Longest wait that repeated failures lead to, before jitter.
pub const RETRY_CAP: Duration = Duration::from_secs(60);

/// Longest wait that an upstream may ask for.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(3600);

/// A connection that was of use for this long counts as a success: the next failure is a first one.
pub const STABLE_AFTER: Duration = Duration::from_secs(30);

/// Part of the wait that jitter adds or takes away, percent.
const JITTER_PCT: u32 = 20;

/// Counts failures in a row and says how long to wait.
#[derive(Debug, Clone)]
pub struct Backoff {
    failures: u32,
    chance: Chance,
}

impl Backoff {
    /// Begins without a failure.
    pub fn new(chance: Chance) -> Backoff {
        Backoff {
            failures: 0,
            chance,
        }
    }

    /// Takes note that something was reached: the next failure is a first one.
    pub fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// The wait after one more failure, not shorter than what the upstream asked for.
    pub fn failed(&mut self, retry_after: Option<Duration>) -> Duration {
        let doublings = self.failures.min(16);
        self.failures = self.failures.saturating_add(1);
        let wait = RETRY_BASE.saturating_mul(1 << doublings).min(RETRY_CAP);
        let asked = retry_after.unwrap_or_default().min(RETRY_AFTER_MAX);
        let spread = wait * JITTER_PCT / 100;
        let jittered = self.chance.between(wait - spread, wait + spread);
        // Clocks that were all told the same moment must not come back in the same moment.
        let asked = self.chance.between(asked, asked + asked * JITTER_PCT / 100);
        jittered.max(asked)
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
    fn waits_grow_to_the_cap_and_start_over_after_a_success() {
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
    fn an_upstreams_wish_is_obeyed_within_reason() {
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
