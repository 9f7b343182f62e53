//! Timeouts that count only the time in which this process ran.
//!
//! A process that was stopped by a signal, or suspended with its machine, resumes with all deadlines passed although
//! its peers had no chance to meet them.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Longest time that is counted at once; a running process wakes more often.
const STEP: Duration = Duration::from_secs(1);

/// The remaining time of a timeout.
#[derive(Debug)]
pub struct TimeBudget {
    left: Duration,
    looked: Instant,
}

impl TimeBudget {
    /// A timeout that starts now.
    pub fn of(limit: Duration) -> TimeBudget {
        TimeBudget {
            left: limit,
            looked: Instant::now(),
        }
    }

    /// Waits until the time is used up. Cancel safe.
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
    async fn a_timeout_ends_after_its_time() {
        for limit in [300, 1000, 30_000].map(Duration::from_millis) {
            let (start, mut budget) = (Instant::now(), TimeBudget::of(limit));
            budget.ended().await;
            let passed = start.elapsed();
            assert!(passed >= limit && passed < limit + STEP, "{passed:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_the_process_did_not_run_does_not_count() {
        let mut budget = TimeBudget::of(Duration::from_secs(30));
        for _ in 0..5 {
            // The wait is dropped and resumed.
            assert!(
                timeout(Duration::from_secs(2), budget.ended())
                    .await
                    .is_err()
            );
            advance(Duration::from_secs(3600)).await;
        }
        let left = timeout(Duration::from_secs(9), budget.ended()).await;
        assert!(left.is_err(), "two seconds each at most");
        budget.ended().await;
    }
}
