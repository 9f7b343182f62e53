//! Commands that were received and have not been executed.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use api::{
    answer::Answer,
    mqtt::{
        commands::{self, CommandAction, MqttCommand},
        documents, topics,
    },
};
use device::mqtt::Broker;
use futures_util::{FutureExt as _, future::BoxFuture};
use net::chance::Chance;
use serde_json::Value;
use tokio::time::Instant;

use super::{
    context::MqttContext,
    executor::CommandExecutor,
    protocol::{IncomingMessage, ResponseTarget},
};

/// Commands that may wait.
const COMMANDS_MAX: usize = 16;

/// Longest delay of a command that a group executes at different times.
const GROUP_DELAY_MAX: Duration = Duration::from_secs(30);

/// A command that waits. Its payload is parsed when it starts, because its meaning can depend on the command before it.
pub(crate) struct WaitingCommand {
    message: IncomingMessage,
    /// It has waited for its random delay.
    was_delayed: bool,
}

/// Commands to a group that start later, with their times, by the names of their operations.
pub(crate) type DelayedCommands = BTreeMap<String, (Instant, WaitingCommand)>;

/// Result of a command, for its response.
pub(super) struct FinishedCommand {
    name: String,
    request_id: Option<Value>,
    /// Where the response goes. `None` if the sender did not request a response.
    pub(super) response: Option<ResponseTarget>,
    answer: Answer,
}

impl FinishedCommand {
    /// A message that is refused without parsing its command.
    pub(super) fn refused(message: IncomingMessage, broker: &Broker, answer: Answer) -> Self {
        let topic = topics::parse(&message.topic, broker);
        let name = topic.and_then(commands::command_name);
        FinishedCommand {
            request_id: commands::request_id(&message.payload),
            name: name.unwrap_or(message.topic),
            response: message.response,
            answer,
        }
    }

    /// The document of its response.
    pub(super) fn result(&self) -> Value {
        documents::result(&self.name, self.request_id.as_ref(), &self.answer)
    }

    /// Returns whether the command was executed.
    pub(super) fn is_ok(&self) -> bool {
        self.answer.status == 200
    }
}

pub(super) enum StartedCommand {
    /// The device executes it.
    Running(BoxFuture<'static, Box<FinishedCommand>>),
    Finished(Box<FinishedCommand>),
}

/// Commands that were received and have not been executed.
pub(super) struct CommandQueue<'a> {
    context: &'a MqttContext,
    executor: &'a CommandExecutor,
    broker: Arc<Broker>,
    waiting: VecDeque<WaitingCommand>,
    delayed: &'a mut DelayedCommands,
    chance: Chance,
}

impl<'a> CommandQueue<'a> {
    /// An empty queue. `delayed` are the delayed commands of the connections before; those that are long overdue are
    /// dropped.
    pub(super) fn new(
        context: &'a MqttContext,
        executor: &'a CommandExecutor,
        broker: Arc<Broker>,
        delayed: &'a mut DelayedCommands,
        now: Instant,
    ) -> CommandQueue<'a> {
        delayed.retain(|_, (at, _)| *at + GROUP_DELAY_MAX > now);
        CommandQueue {
            context,
            executor,
            broker,
            waiting: VecDeque::new(),
            delayed,
            chance: Chance::new(),
        }
    }

    /// Adds a command.
    ///
    /// # Errors
    /// The queue is full; has the message.
    pub(super) fn push(&mut self, message: IncomingMessage) -> Result<(), IncomingMessage> {
        if self.waiting.len() >= COMMANDS_MAX {
            return Err(message);
        }
        self.waiting.push_back(WaitingCommand {
            message,
            was_delayed: false,
        });
        Ok(())
    }

    /// Takes all commands that wait, except the delayed ones.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = IncomingMessage> + use<> {
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        waiting.map(|command| command.message)
    }

    /// When the next delayed command starts.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.delayed.values().map(|(at, _)| *at).min()
    }

    /// Puts delayed commands that are due first.
    pub(super) fn advance(&mut self, now: Instant) {
        for (_, (_, command)) in self.delayed.extract_if(.., |_, (at, _)| *at <= now) {
            self.waiting.push_front(WaitingCommand {
                was_delayed: true,
                ..command
            });
        }
    }

    /// Starts the next command. `None` if no command waits.
    pub(super) fn start_next(&mut self) -> Option<StartedCommand> {
        while let Some(command) = self.waiting.pop_front() {
            let started = self.start(command);
            if started.is_some() {
                return started;
            }
        }
        None
    }

    /// Starts a command. `None` if it is delayed.
    fn start(&mut self, command: WaitingCommand) -> Option<StartedCommand> {
        let WaitingCommand {
            message,
            was_delayed,
        } = command;
        // The newest state: the view of the session may be older than the result of the command before.
        let view = Arc::clone(&self.context.view.borrow());
        let topic = topics::parse(&message.topic, &self.broker)?;
        let MqttCommand {
            name,
            request_id,
            action,
            is_delayed,
        } = commands::parse(topic, &message.payload, &view)?;
        let is_delayed = is_delayed && !was_delayed;
        if is_delayed && action.is_ok() && !self.delayed.contains_key(&name) {
            let at = Instant::now() + self.chance.between(Duration::ZERO, GROUP_DELAY_MAX);
            let command = WaitingCommand {
                message,
                was_delayed,
            };
            self.delayed.insert(name, (at, command));
            return None;
        }
        let response = message.response;
        let finished = |answer| {
            Box::new(FinishedCommand {
                name,
                request_id,
                response,
                answer,
            })
        };
        Some(match action {
            Ok(_) if is_delayed => {
                StartedCommand::Finished(finished(Answer::error(409, "already under way")))
            }
            Ok(CommandAction::InstallNewestRelease) => {
                let answer = updates::answers::newest(self.context.newest.request(&view));
                StartedCommand::Finished(finished(answer))
            }
            Ok(CommandAction::Device(calls)) => {
                let answer = self.executor.clone().execute(calls);
                StartedCommand::Running(answer.map(finished).boxed())
            }
            Err(answer) => StartedCommand::Finished(finished(answer)),
        })
    }
}
