//! The session on one connection: moves messages between the broker, the command queue, the retained settings and the
//! publisher.
//!
//! All memory is bounded: payloads of retained topics are made when they are sent, and every queue has a limit.

use std::{collections::VecDeque, convert::Infallible, io, sync::Arc, time::Duration};

use api::{
    answer::Answer,
    mqtt::{
        commands::{self, InvalidSettings, PAYLOAD_MAX},
        documents::{ONLINE, SettingsReport},
        topics::{self, IncomingTopic},
    },
};
use device::{
    input::{BrokerEvent, Input},
    mqtt::{Broker, MqttPlan},
};
use futures_util::{FutureExt as _, future::BoxFuture};
use market::Connection;
use mqtt_protocol_core::mqtt::Version;
use net::dialer::BoxedStream;
use runtime::{
    inbox::Stopped,
    waits::{over, until},
};
use tokio::{
    io::{AsyncReadExt, ReadHalf},
    time::{Instant, sleep_until},
};

use super::{
    command_queue::{CommandQueue, DelayedCommands, FinishedCommand, StartedCommand},
    connection::ConnectionEnd,
    context::MqttContext,
    executor::CommandExecutor,
    problems::ConnectionProblems,
    protocol::{
        IncomingMessage, OutgoingMessage, ProtocolEnd, ProtocolSession, PublishError,
        ResponseTarget, SessionEvent,
    },
    publisher::Publisher,
    retained_settings::SettingsDocuments,
    writer::{BrokerWriter, WRITE_TIMEOUT},
};

/// Bytes to send from which on no further message is made.
const OUT_FULL: usize = 16 * 1024;

/// Longest time that disconnecting waits for the running task.
const LAST_TASK_TIMEOUT: Duration = Duration::from_millis(1500);

/// Error of a message that is larger than [`PAYLOAD_MAX`].
const TOO_LARGE: &str = "too large";

enum TaskResult {
    Command(Box<FinishedCommand>),
    Settings(Vec<SettingsReport>),
}

pub struct MqttSession<'a> {
    context: &'a MqttContext,
    broker: Arc<Broker>,
    protocol: ProtocolSession,
    publisher: Publisher<'a>,
    commands: CommandQueue<'a>,
    settings: SettingsDocuments<'a>,
    /// The only task: a command, or retained settings being applied.
    running: Option<BoxFuture<'static, TaskResult>>,
    problems: ConnectionProblems,
}

impl<'a> MqttSession<'a> {
    /// Starts a session on a new connection.
    ///
    /// # Errors
    /// A setting of the connection cannot be encoded.
    pub fn new(
        context: &'a MqttContext,
        executor: &'a CommandExecutor,
        broker: Arc<Broker>,
        version: Version,
        delayed: &'a mut DelayedCommands,
    ) -> Result<MqttSession<'a>, ProtocolEnd> {
        let now = Instant::now();
        Ok(MqttSession {
            protocol: ProtocolSession::new(&broker, version, now)?,
            publisher: Publisher::new(context, Arc::clone(&broker), now),
            commands: CommandQueue::new(context, executor, Arc::clone(&broker), delayed, now),
            settings: SettingsDocuments::new(executor),
            running: None,
            problems: ConnectionProblems::default(),
            context,
            broker,
        })
    }

    /// When the broker answered the subscription. `None` before that.
    pub fn subscribed_at(&self) -> Option<Instant> {
        self.protocol.subscribed_at()
    }

    /// Runs until the connection ends.
    pub async fn run(
        &mut self,
        reader: &mut ReadHalf<BoxedStream>,
        writer: &mut BrokerWriter,
    ) -> ConnectionEnd {
        match self.exchange(reader, writer).await {
            Ok(never) => match never {},
            Err(ProtocolEnd::UnsupportedVersion) => ConnectionEnd::UnsupportedVersion,
            Err(ProtocolEnd::NoConnack(reason)) => ConnectionEnd::NoConnack(reason),
            Err(ProtocolEnd::Failed(reason)) => ConnectionEnd::Failed {
                reason,
                subscribed_at: self.subscribed_at(),
            },
        }
    }

    async fn exchange(
        &mut self,
        reader: &mut ReadHalf<BoxedStream>,
        writer: &mut BrokerWriter,
    ) -> Result<Infallible, ProtocolEnd> {
        let mut views = self.context.view.clone();
        let mut glasses = self.context.glass.clone();
        let mut bytes = [0; 4096];
        loop {
            self.publish_pending();
            self.start_tasks();
            let is_busy = writer.is_busy(self.protocol.out());
            let write_deadline = writer.deadline(self.protocol.out());
            let deadlines = [write_deadline, self.next_deadline()];
            let deadline = deadlines.into_iter().flatten().min();
            tokio::select! {
                count = reader.read(&mut bytes), if self.protocol.out().len() < 2 * OUT_FULL => {
                    let count = self.received(count)?;
                    for report in self.receive(&bytes[..count])? {
                        self.report(report).await?;
                    }
                }
                count = writer.send(self.protocol.out()), if is_busy => self.sent(count)?,
                result = over(&mut self.running) => self.finish(result),
                Ok(()) = views.changed() => {
                    let view = Arc::clone(&views.borrow_and_update());
                    let missed = self.publisher.set_view(view);
                    if missed > 0 {
                        self.problems.drop_many("events", missed);
                    }
                }
                Ok(()) = glasses.changed() => {
                    glasses.mark_unchanged();
                    self.publisher.glass_changed();
                }
                () = until(deadline) => {
                    if write_deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                        return Err(ProtocolEnd::Failed(format!(
                            "the broker accepted no data for {} s", WRITE_TIMEOUT.as_secs()
                        )));
                    }
                    self.advance().await?;
                }
            }
        }
    }

    /// The number of received bytes.
    fn received(&self, read: io::Result<usize>) -> Result<usize, ProtocolEnd> {
        match read {
            Ok(0) => Err(self
                .protocol
                .closed("the broker closed the connection".into())),
            Ok(count) => Ok(count),
            Err(error) => Err(self.protocol.closed(lost(&error))),
        }
    }

    fn sent(&mut self, written: io::Result<usize>) -> Result<(), ProtocolEnd> {
        let count = written.map_err(|error| self.protocol.closed(lost(&error)))?;
        self.protocol.bytes_sent(count, Instant::now());
        Ok(())
    }

    fn next_deadline(&self) -> Option<Instant> {
        let publish = self.publisher.next_publish().filter(|_| self.may_publish());
        let settings = self.settings.next_deadline();
        [
            self.protocol.next_deadline(),
            publish,
            self.publisher.next_deadline(),
            self.commands.next_deadline(),
            settings.filter(|_| self.running.is_none()),
            self.problems.next_deadline(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    async fn advance(&mut self) -> Result<(), ProtocolEnd> {
        let now = Instant::now();
        self.protocol.advance(now)?;
        self.publisher.advance(now);
        self.commands.advance(now);
        for report in self.problems.take_due(now) {
            self.report(report).await?;
        }
        Ok(())
    }

    /// Handles received bytes completely, because the connection may end while the device is notified. Returns the
    /// reports to the device.
    fn receive(&mut self, bytes: &[u8]) -> Result<Vec<BrokerEvent>, ProtocolEnd> {
        let now = Instant::now();
        let mut reports = Vec::new();
        for event in self.protocol.receive(bytes, now)? {
            match event {
                SessionEvent::Connected => self.protocol.subscribe(&self.broker, now)?,
                SessionEvent::Subscribed(refused) => {
                    reports.push(BrokerEvent::Connection(Connection::Up));
                    reports.extend(self.refused_subscriptions(&refused));
                }
                SessionEvent::PublishRefused(reason) => {
                    self.problems.drop_one("not-taken");
                    let refusal = format!("the broker refused a published message: {reason}");
                    reports.push(self.problems.refusal(refusal));
                }
                SessionEvent::Message(message) => self.handle(message, now),
            }
        }
        Ok(reports)
    }

    /// The report of filters that the broker refused, by their positions. `None` if it refused none.
    fn refused_subscriptions(&mut self, refused: &[usize]) -> Option<BrokerEvent> {
        let filters = topics::filters(&self.broker);
        let refused = refused.iter().filter_map(|position| filters.get(*position));
        let refused: Vec<&str> = refused.map(String::as_str).collect();
        let filters = refused.join(", ");
        let refusal = format!("the broker refused the subscription to {filters}");
        (!refused.is_empty()).then(|| self.problems.refusal(refusal))
    }

    fn handle(&mut self, message: IncomingMessage, now: Instant) {
        let broker = Arc::clone(&self.broker);
        let Some(topic) = topics::parse(&message.topic, &broker) else {
            return self.drop_command(message, "foreign-topic", 404, "foreign topic");
        };
        let is_too_large = message.payload.len() > PAYLOAD_MAX;
        match topic {
            // A retained birth message does not show that Home Assistant has started just now.
            IncomingTopic::HomeAssistantStatus => {
                if !message.retain && message.payload == ONLINE.as_bytes() {
                    self.publisher.home_assistant_started(now);
                }
            }
            IncomingTopic::RetainedSettings(scope) => {
                let parsed = if is_too_large {
                    self.problems.drop_one("too-large");
                    Some(Err(InvalidSettings::without_rev(TOO_LARGE)))
                } else {
                    let view = self.publisher.view();
                    commands::parse_retained_settings(&message.payload, view).transpose()
                };
                self.settings.receive(scope, parsed, &broker.groups, now);
            }
            IncomingTopic::Command(..)
            | IncomingTopic::SettingsChange(_)
            | IncomingTopic::Lamp(_)
            | IncomingTopic::QuietHours(_) => {
                if message.retain && message.payload.is_empty() {
                    // It removes a retained message.
                } else if message.retain {
                    // The broker would send it at every connection, and the clock would execute it every time.
                    self.drop_command(message, "retained", 409, "retained");
                } else if is_too_large {
                    self.drop_command(message, "too-large", 413, TOO_LARGE);
                } else if let Err(message) = self.commands.push(message) {
                    self.drop_command(message, "busy", 503, "busy");
                }
            }
        }
    }

    /// Drops a command and answers it with an error.
    fn drop_command(
        &mut self,
        message: IncomingMessage,
        reason: &'static str,
        status: u16,
        error: &str,
    ) {
        self.problems.drop_one(reason);
        let answer = Answer::error(status, error);
        self.respond(FinishedCommand::refused(message, &self.broker, answer));
    }

    /// Starts what waits, one task at a time; retained settings come before commands.
    fn start_tasks(&mut self) {
        while self.running.is_none() {
            if let Some(settings) = self.settings.start_due(Instant::now()) {
                self.running = Some(settings.map(TaskResult::Settings).boxed());
                return;
            }
            match self.commands.start_next() {
                Some(StartedCommand::Running(command)) => {
                    self.running = Some(command.map(TaskResult::Command).boxed());
                }
                Some(StartedCommand::Finished(command)) => {
                    self.finish(TaskResult::Command(command));
                }
                None => return,
            }
        }
    }

    fn finish(&mut self, result: TaskResult) {
        self.running = None;
        match result {
            TaskResult::Command(command) => {
                if !command.is_ok() {
                    self.problems.drop_one("refused");
                }
                self.respond(*command);
            }
            TaskResult::Settings(reports) => {
                self.settings.set_reports(reports);
                self.publisher.reports_changed();
            }
        }
    }

    /// Queues the response to a command.
    fn respond(&mut self, command: FinishedCommand) {
        let result = command.result();
        let is_allowed = |target: &ResponseTarget| {
            topics::is_response_topic_allowed(&target.topic, &self.broker)
        };
        let mut response = command.response;
        if let Some(refused) = response.take_if(|target| !is_allowed(target)) {
            self.problems.refuse_response_topic(&refused.topic);
        }
        if self.publisher.queue_result(response, &result) {
            self.problems.drop_one("answers");
        }
    }

    fn may_publish(&self) -> bool {
        self.subscribed_at().is_some()
            && self.protocol.out().len() < OUT_FULL
            && self.protocol.has_room()
    }

    /// Passes messages to the protocol as long as it has room.
    fn publish_pending(&mut self) {
        let now = Instant::now();
        while self.may_publish()
            && let Some(message) = self.publisher.next(self.settings.reports(), now)
        {
            self.publish(message, now);
        }
    }

    fn publish(&mut self, message: OutgoingMessage, now: Instant) {
        match self.protocol.publish(message, now) {
            Ok(()) => {}
            Err(PublishError::TooLarge) => self.problems.drop_one("too-large"),
            Err(PublishError::NotSendable) => self.problems.drop_one("not-sent"),
        }
    }

    /// Disconnects, because the next plan differs or the clock stops: answers all commands, removes the retained messages
    /// that are not published any more, and sets the status to offline.
    pub async fn disconnect(
        &mut self,
        next: &MqttPlan,
        reader: &mut ReadHalf<BoxedStream>,
        writer: &mut BrokerWriter,
    ) -> Result<(), ProtocolEnd> {
        let now = Instant::now();
        let task_deadline = now + LAST_TASK_TIMEOUT;
        let mut farewell = self.publisher.farewell(next);
        let mut bytes = [0; 4096];
        let mut is_disconnect_sent = false;
        loop {
            for message in self.commands.take_all() {
                self.drop_command(message, "busy", 503, "busy");
            }
            // The running task may be the command that changed the settings of this connection, so it is answered first.
            let is_published = self.publish_last(&mut farewell, now) && self.running.is_none();
            if is_published && self.protocol.is_all_acknowledged() && !is_disconnect_sent {
                self.protocol.disconnect(now);
                is_disconnect_sent = true;
            }
            let is_busy = writer.is_busy(self.protocol.out());
            if is_disconnect_sent && !is_busy {
                writer.shut_down().await;
                return Ok(());
            }
            tokio::select! {
                result = over(&mut self.running) => self.finish(result),
                count = reader.read(&mut bytes) => {
                    let count = self.received(count)?;
                    if !is_disconnect_sent {
                        self.receive_last(&bytes[..count])?;
                    }
                }
                count = writer.send(self.protocol.out()), if is_busy => self.sent(count)?,
                () = sleep_until(task_deadline), if self.running.is_some() => self.running = None,
            }
        }
    }

    /// Publishes results and the last messages as long as the protocol has room. Returns whether all are published.
    fn publish_last(&mut self, farewell: &mut VecDeque<OutgoingMessage>, now: Instant) -> bool {
        while self.protocol.has_room() {
            let result = self.publisher.next_result();
            let Some(message) = result.or_else(|| farewell.pop_front()) else {
                return true;
            };
            self.publish(message, now);
        }
        false
    }

    /// Handles received bytes while the clock disconnects.
    fn receive_last(&mut self, bytes: &[u8]) -> Result<(), ProtocolEnd> {
        let now = Instant::now();
        for event in self.protocol.receive(bytes, now)? {
            match event {
                SessionEvent::Message(message) => self.handle(message, now),
                SessionEvent::PublishRefused(_) => self.problems.drop_one("not-taken"),
                SessionEvent::Connected | SessionEvent::Subscribed(_) => {}
            }
        }
        Ok(())
    }

    /// Sends a report to the device.
    async fn report(&mut self, report: BrokerEvent) -> Result<(), ProtocolEnd> {
        let sent = self.context.inbox.send(Input::Broker(report)).await;
        sent.map_err(|stopped: Stopped| ProtocolEnd::Failed(stopped.to_string()))
    }
}

fn lost(error: &io::Error) -> String {
    format!("the connection was lost: {}", error.kind())
}
