//! What is published on one connection: results of commands first, then events, then the retained topics that have
//! changed.

use std::{
    collections::VecDeque,
    hash::{DefaultHasher, Hash, Hasher as _},
    sync::Arc,
    time::Duration,
};

use api::mqtt::{
    documents::{self, OFFLINE, SettingsReport},
    topics::{self, RetainedTopic},
};
use device::{
    mqtt::{Broker, MqttPlan},
    view::View,
};
use net::chance::Chance;
use serde_json::Value;
use tokio::time::Instant;

use super::{
    context::MqttContext,
    events::EventQueue,
    payloads::Payloads,
    protocol::{OutgoingMessage, ResponseTarget},
    schedule::PublishSchedule,
};

/// Results that may wait to be published.
const RESULTS_MAX: usize = 32;

/// Longest delay of the messages after a start of Home Assistant; random, so that clocks do not publish all at once.
const REPUBLISH_DELAY_MAX: Duration = Duration::from_secs(5);

/// What is published on one connection.
pub(super) struct Publisher<'a> {
    payloads: Payloads<'a>,
    schedule: PublishSchedule,
    /// When all retained topics are published again, because Home Assistant has started.
    republish_at: Option<Instant>,
    events: EventQueue,
    results: VecDeque<OutgoingMessage>,
    chance: Chance,
}

impl<'a> Publisher<'a> {
    /// A publisher for a new connection: all retained topics are due.
    pub(super) fn new(
        context: &'a MqttContext,
        broker: Arc<Broker>,
        now: Instant,
    ) -> Publisher<'a> {
        let view = Arc::clone(&context.view.borrow());
        Publisher {
            schedule: PublishSchedule::new(view.board.leds, now),
            republish_at: None,
            events: EventQueue::new(&view.event_log),
            results: VecDeque::new(),
            chance: Chance::new(),
            payloads: Payloads::new(context, broker, view, now),
        }
    }

    /// The state that is published.
    pub(super) fn view(&self) -> &Arc<View> {
        self.payloads.view()
    }

    /// Publishes a new state of the device. Returns how many events are lost.
    pub(super) fn set_view(&mut self, view: Arc<View>) -> u64 {
        let missed = self.events.read(&view.event_log);
        let has_changed = self.payloads.set_view(view);
        self.schedule.mark_stale(has_changed);
        missed
    }

    /// The panels show something else.
    pub(super) fn glass_changed(&mut self) {
        self.schedule
            .mark_stale(|topic| matches!(topic, RetainedTopic::Panels | RetainedTopic::State));
    }

    /// There are new results of retained settings.
    pub(super) fn reports_changed(&mut self) {
        self.schedule
            .mark_stale(|topic| topic == RetainedTopic::Reported);
    }

    /// Publishes all retained topics again after a random delay. Further starts do not extend it.
    pub(super) fn home_assistant_started(&mut self, now: Instant) {
        let delay = self.chance.between(Duration::ZERO, REPUBLISH_DELAY_MAX);
        self.republish_at.get_or_insert(now + delay);
    }

    /// Queues the result of a command. Without a response topic it goes to the clock's topic for results.
    /// Returns whether the oldest result was dropped for it.
    pub(super) fn queue_result(
        &mut self,
        response: Option<ResponseTarget>,
        result: &Value,
    ) -> bool {
        let broker = self.payloads.broker();
        let ResponseTarget { topic, correlation } = response.unwrap_or_else(|| ResponseTarget {
            topic: topics::result_topic(broker),
            correlation: None,
        });
        let is_full = self.results.len() >= RESULTS_MAX;
        if is_full {
            self.results.pop_front();
        }
        self.results.push_back(OutgoingMessage {
            topic,
            payload: result.to_string().into_bytes(),
            retain: false,
            qos1: false,
            correlation,
        });
        is_full
    }

    /// When [`advance`](Self::advance) is due.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let check = Some(self.payloads.next_deadline());
        [check, self.republish_at].into_iter().flatten().min()
    }

    /// When a retained topic is due.
    pub(super) fn next_publish(&self) -> Option<Instant> {
        self.schedule.next_deadline()
    }

    /// Marks what is due by time.
    pub(super) fn advance(&mut self, now: Instant) {
        if self.payloads.check_updatable(now) {
            self.schedule.mark_stale(|topic| {
                matches!(topic, RetainedTopic::Discovery | RetainedTopic::Update)
            });
        }
        if self.payloads.is_redrawn(now) {
            self.schedule
                .mark_stale(|topic| topic == RetainedTopic::Panels);
        }
        if self.republish_at.take_if(|at| *at <= now).is_some() {
            self.schedule.publish_all(now);
        }
    }

    /// Takes the next message. `reports` are the results of retained settings.
    pub(super) fn next(
        &mut self,
        reports: Option<&[SettingsReport]>,
        now: Instant,
    ) -> Option<OutgoingMessage> {
        if let Some(result) = self.next_result() {
            return Some(result);
        }
        if let Some(event) = self.events.pop() {
            return Some(OutgoingMessage {
                topic: topics::event_topic(&event, self.payloads.broker()),
                payload: documents::event(&event).to_string().into_bytes(),
                retain: false,
                qos1: false,
                correlation: None,
            });
        }
        while let Some(topic) = self.schedule.next(now) {
            if let Some(message) = self.next_retained(topic, reports, now) {
                return Some(message);
            }
        }
        None
    }

    /// Takes the next result of a command.
    pub(super) fn next_result(&mut self) -> Option<OutgoingMessage> {
        self.results.pop_front()
    }

    /// The message of a retained topic. `None` if it equals the published one, or there is none.
    fn next_retained(
        &mut self,
        topic: RetainedTopic,
        reports: Option<&[SettingsReport]>,
        now: Instant,
    ) -> Option<OutgoingMessage> {
        let name = topic.name(self.payloads.broker());
        let message = name.and_then(|name| Some((name, self.payloads.payload(topic, reports)?)));
        let hash = message.as_ref().map(|(_, payload)| {
            let mut hasher = DefaultHasher::new();
            payload.hash(&mut hasher);
            hasher.finish()
        });
        let is_due = self.schedule.update(topic, hash, now);
        let (name, payload) = message.filter(|_| is_due)?;
        Some(OutgoingMessage {
            topic: name,
            payload,
            retain: true,
            qos1: topic.uses_qos1(),
            correlation: None,
        })
    }

    /// The last messages before the clock disconnects to follow another plan: they remove the retained messages that are
    /// not published any more, and set the status to offline.
    pub(super) fn farewell(&self, next: &MqttPlan) -> VecDeque<OutgoingMessage> {
        let broker = self.payloads.broker();
        let mut messages = VecDeque::new();
        for topic in RetainedTopic::all(self.view().board.leds) {
            let Some(name) = topic.name(broker) else {
                continue;
            };
            let is_removed = match next {
                MqttPlan::On(next) if (&next.host, next.port) != (&broker.host, broker.port) => {
                    true
                }
                MqttPlan::On(next) => topic.name(next).as_ref() != Some(&name),
                MqttPlan::Off => true,
                MqttPlan::Paused => false,
            };
            let payload = match (is_removed, topic) {
                (true, _) => "",
                (false, RetainedTopic::Status) => OFFLINE,
                (false, _) => continue,
            };
            messages.push_back(OutgoingMessage {
                topic: name,
                payload: payload.into(),
                retain: true,
                qos1: true,
                correlation: None,
            });
        }
        messages
    }
}
