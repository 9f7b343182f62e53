//! Problems of a connection that the device shows in its status: dropped messages and refusals by the broker.

use std::{collections::BTreeMap, time::Duration};

use api::mqtt::topics::RESPONSE_TOPIC_MAX;
use device::input::BrokerEvent;
use runtime::outage::Outage;
use tokio::time::Instant;

/// Shortest interval between two reports of dropped messages.
const REPORT_EVERY: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct ConnectionProblems {
    /// Messages dropped since the last report, by reason.
    dropped: BTreeMap<&'static str, u32>,
    report_at: Option<Instant>,
    /// Refusals that were logged.
    logged: Outage,
}

impl ConnectionProblems {
    /// Counts a dropped message.
    pub(super) fn drop_one(&mut self, reason: &'static str) {
        self.drop_many(reason, 1);
    }

    /// Counts dropped messages.
    pub(super) fn drop_many(&mut self, reason: &'static str, count: u64) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let dropped = self.dropped.entry(reason).or_default();
        *dropped = dropped.saturating_add(count);
        self.report_at
            .get_or_insert_with(|| Instant::now() + REPORT_EVERY);
    }

    /// Counts and logs a response topic that is not allowed; the response goes to the clock's own topic.
    pub(super) fn refuse_response_topic(&mut self, topic: &str) {
        self.drop_one("foreign-topic");
        let topic = &topic[..topic.floor_char_boundary(RESPONSE_TOPIC_MAX)];
        if self.logged.is_new(topic) {
            tracing::warn!(
                topic,
                "a response topic outside of the clock's own was refused"
            );
        }
    }

    /// When dropped messages are to be reported.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.report_at
    }

    /// The reports of dropped messages, if they are due.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<BrokerEvent> {
        if self.report_at.take_if(|at| *at <= now).is_none() {
            return Vec::new();
        }
        let dropped = std::mem::take(&mut self.dropped).into_iter();
        dropped
            .map(|(reason, count)| BrokerEvent::Dropped(reason, count))
            .collect()
    }

    /// The report of a refusal by the broker; logs it once per connection, because every message may be refused.
    pub(super) fn refusal(&mut self, reason: String) -> BrokerEvent {
        if self.logged.is_new(&reason) {
            tracing::warn!(reason, "the MQTT broker refused a request");
        }
        BrokerEvent::Error(reason)
    }
}
