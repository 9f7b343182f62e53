//! A connection that fails: what the device is told of it each time, and the log once.

use std::time::Duration;

use device::market::{Connection, Observation};

use super::Context;
use crate::inbox::Stopped;

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
            self.told.push(reason.clone());
        } else {
            tracing::debug!(reason, retry_in_ms = retry_in.as_millis(), "no success");
        }
        let down = Connection::Down { reason, retry_in };
        context.observed(vec![Observation::Connection(down)]).await
    }

    /// Takes note that the connection works.
    pub fn end(&mut self) {
        self.told.clear();
    }

    /// Reasons can hold an upstream's own words, of which there is no end.
    fn is_news(&self, reason: &String) -> bool {
        self.told.len() < REASONS_MAX && !self.told.contains(reason)
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
            if number < REASONS_MAX {
                outage.told.push(reason.clone());
            }
            assert!(!outage.is_news(&reason), "{reason}");
        }
        outage.end();
        assert!(outage.is_news(&"reason 0".to_owned()));
    }
}
