//! A connection that fails: what the device is told of it each time, and the log once.

use std::time::Duration;

use device::market::{Connection, Observation};
use runtime::inbox::Stopped;

use super::Context;

/// Different reasons of one outage that stand in the log.
pub const REASONS_MAX: usize = 8;

/// The time from a failure until the connection works again.
#[derive(Debug, Default)]
pub struct Outage {
    /// Reasons that stand in the log.
    told: Vec<String>,
}

impl Outage {
    /// Reports a failure: to the device each time, in the log where its reason is new.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn report(
        &mut self,
        context: &Context,
        reason: String,
        retry_in: Duration,
    ) -> Result<(), Stopped> {
        if self.is_news(&reason) {
            tracing::warn!(reason, "source is down");
        } else {
            tracing::debug!(reason, retry_in_ms = retry_in.as_millis(), "no success");
        }
        let down = Connection::Down { reason, retry_in };
        context.observed(vec![Observation::Connection(down)]).await
    }

    /// Tells whether a reason is to stand in the log, which it is once.
    pub fn is_news(&mut self, reason: &str) -> bool {
        // Reasons can hold an upstream's own words, of which there is no end.
        let is_news = self.told.len() < REASONS_MAX && self.told.iter().all(|told| told != reason);
        if is_news {
            self.told.push(reason.to_owned());
        }
        is_news
    }

    /// Takes note that the connection works; tells whether the log says otherwise.
    pub fn end(&mut self) -> bool {
        let was_told = !self.told.is_empty();
        self.told.clear();
        was_told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_news_once_and_not_without_end() {
        let mut outage = Outage::default();
        for number in 0..2 * REASONS_MAX {
            let reason = format!("reason {number}");
            assert_eq!(outage.is_news(&reason), number < REASONS_MAX, "{reason}");
            assert!(!outage.is_news(&reason), "{reason}");
        }
        assert!(outage.end());
        assert!(!outage.end());
        assert!(outage.is_news("reason 0"));
    }
}
