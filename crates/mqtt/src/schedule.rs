//! When each retained topic of the clock is published: always with its newest payload, never from a queue of old ones.

use std::time::Duration;

use api::mqtt::topics::RetainedTopic;
use tokio::time::Instant;

/// Interval at which the figures of the host are read again.
pub const HOST_EVERY: Duration = Duration::from_secs(60);

/// State of one topic.
#[derive(Debug)]
struct Row {
    topic: RetainedTopic,
    /// Its payload may differ from the published one.
    is_stale: bool,
    /// Hash of the published payload.
    published: Option<u64>,
    not_before: Instant,
}

/// The retained topics of a connection, in the order in which they are published.
#[derive(Debug)]
pub struct PublishSchedule {
    rows: Vec<Row>,
}

impl PublishSchedule {
    /// All topics of a clock with so many LEDs; none is published yet.
    pub fn new(leds: usize, now: Instant) -> PublishSchedule {
        let row = |topic| Row {
            topic,
            is_stale: true,
            published: None,
            not_before: now,
        };
        PublishSchedule {
            rows: RetainedTopic::all(leds).into_iter().map(row).collect(),
        }
    }

    /// Marks topics whose payload may have changed.
    pub fn mark_stale(&mut self, has_changed: impl Fn(RetainedTopic) -> bool) {
        for row in self.rows.iter_mut().filter(|row| has_changed(row.topic)) {
            row.is_stale = true;
        }
    }

    /// Makes all topics due now, even if their payloads have not changed.
    pub fn publish_all(&mut self, now: Instant) {
        for row in &mut self.rows {
            row.is_stale = true;
            row.published = None;
            row.not_before = now;
        }
    }

    /// The first topic that is due.
    pub fn next(&self, now: Instant) -> Option<RetainedTopic> {
        let mut due = self
            .rows
            .iter()
            .filter(|row| row.is_stale && row.not_before <= now);
        due.next().map(|row| row.topic)
    }

    /// When the next topic is due. `None` if no payload has changed.
    pub fn next_deadline(&self) -> Option<Instant> {
        let stale = self.rows.iter().filter(|row| row.is_stale);
        stale.map(|row| row.not_before).min()
    }

    /// Records the hash of the current payload of a topic (`None` if it has no payload), and returns whether the payload must
    /// be published. It counts as published then.
    pub fn update(&mut self, topic: RetainedTopic, hash: Option<u64>, now: Instant) -> bool {
        let Some(row) = self.rows.iter_mut().find(|row| row.topic == topic) else {
            return false;
        };
        let is_new = hash.is_some() && hash != row.published;
        // No event announces changes of the host, so its figures are read at an interval.
        row.is_stale = topic == RetainedTopic::Host;
        if is_new {
            row.published = hash;
        }
        if is_new || row.is_stale {
            row.not_before = now + interval(topic);
        }
        is_new
    }
}

/// Shortest interval at which a topic is published.
fn interval(topic: RetainedTopic) -> Duration {
    match topic {
        RetainedTopic::Status => Duration::ZERO,
        RetainedTopic::Info
        | RetainedTopic::State
        | RetainedTopic::Update
        | RetainedTopic::Settings
        | RetainedTopic::Reported
        | RetainedTopic::Strip
        | RetainedTopic::Led(_)
        | RetainedTopic::Frontlight => Duration::from_secs(1),
        RetainedTopic::Host => HOST_EVERY,
        // Home Assistant stores much at each of these, and a picture is large.
        RetainedTopic::Market
        | RetainedTopic::Panels
        | RetainedTopic::Displays
        | RetainedTopic::Discovery
        | RetainedTopic::QuietFrom
        | RetainedTopic::QuietUntil => Duration::from_secs(5),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn changed_payloads_are_published_at_most_once_per_interval() {
        let start = Instant::now();
        let mut schedule = PublishSchedule::new(1, start);
        let mut published = Vec::new();
        while let Some(topic) = schedule.next(start) {
            assert!(schedule.update(topic, Some(1), start));
            published.push(topic);
        }
        assert_eq!(published, RetainedTopic::all(1));
        // The figures of the host are read again without a change.
        assert_eq!(schedule.next_deadline(), Some(start + HOST_EVERY));

        schedule.mark_stale(|topic| [RetainedTopic::State, RetainedTopic::Market].contains(&topic));
        assert_eq!(schedule.next(start), None);
        let (second, fifth) = (
            start + Duration::from_secs(1),
            start + Duration::from_secs(5),
        );
        assert_eq!(
            (schedule.next_deadline(), schedule.next(second)),
            (Some(second), Some(RetainedTopic::State))
        );
        // An equal payload is not published again.
        assert!(!schedule.update(RetainedTopic::State, Some(1), second));
        assert_eq!(
            (schedule.next_deadline(), schedule.next(fifth)),
            (Some(fifth), Some(RetainedTopic::Market))
        );
        assert!(schedule.update(RetainedTopic::Market, Some(2), fifth));
        for round in 1..4 {
            let now = start + round * HOST_EVERY;
            assert_eq!(schedule.next(now), Some(RetainedTopic::Host));
            assert!(!schedule.update(RetainedTopic::Host, Some(1), now));
            assert_eq!(schedule.next_deadline(), Some(now + HOST_EVERY));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn publish_all_keeps_the_order_and_ignores_the_intervals() {
        let start = Instant::now();
        let mut schedule = PublishSchedule::new(1, start);
        for _ in 0..2 {
            let mut published = Vec::new();
            while let Some(topic) = schedule.next(start) {
                assert!(schedule.update(topic, Some(1), start), "{topic:?}");
                published.push(topic);
            }
            // Home Assistant loses a state that comes before its discovery.
            assert_eq!(published, RetainedTopic::all(1));
            schedule.publish_all(start);
        }
    }
}
