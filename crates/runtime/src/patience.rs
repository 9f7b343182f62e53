//! Waiting that counts only the time in which this process ran.
//!
//! Whoever is stopped by a signal, or frozen with its machine, wakes to deadlines that have all passed although nobody
//! had a chance to meet them.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Longest time that is counted at once: a process that runs looks more often.
const STEP: Duration = Duration::from_secs(1);

/// The rest of a time limit.
#[derive(Debug)]
pub struct TimeBudget {
    left: Duration,
    looked: Instant,
}

impl TimeBudget {
    /// A limit that begins now.
    pub fn of(limit: Duration) -> TimeBudget {
        TimeBudget {
            left: limit,
            looked: Instant::now(),
        }
    }

    /// Waits until the limit has passed; dropping the future loses nothing.
    pub async fn ended(&mut self) {
        while !self.left.is_zero() {
            let step = self.left.min(STEP);
            sleep_until(self.looked + step).await;
            let passed = self.looked.elapsed();
            self.looked = Instant::now();
            self.left = self.left.saturating_sub(passed.min(2 * step));
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, timeout};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_limit_passes_in_its_time() {
        for limit in [300, 1000, 30_000].map(Duration::from_millis) {
            let (begun, mut patience) = (Instant::now(), TimeBudget::of(limit));
            patience.ended().await;
            let passed = begun.elapsed();
            assert!(passed >= limit && passed < limit + STEP, "{passed:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_nothing_ran_does_not_count() {
        let mut patience = TimeBudget::of(Duration::from_secs(30));
        for _ in 0..5 {
            // What waits is dropped for something else now and then.
            assert!(
                timeout(Duration::from_secs(2), patience.ended())
                    .await
                    .is_err()
            );
            advance(Duration::from_secs(3600)).await;
        }
        let left = timeout(Duration::from_secs(9), patience.ended()).await;
        assert!(left.is_err(), "two seconds each at most");
        patience.ended().await;
    }
}
