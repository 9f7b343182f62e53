//! The MQTT client: publishes the state of the clock and executes commands.
//!
//! - `connection`: one connection, from connecting to disconnecting; `version` chooses the version of MQTT.
//! - `protocol`: the protocol without I/O; `writer` writes its bytes.
//! - `session`: what happens on a connection. `publisher` has the messages to send (`schedule`, `payloads`, `events`),
//!   `command_queue` the received commands, `retained_settings` the settings that are retained at the broker, `problems`
//!   the dropped messages.
//! - `executor`: sends commands to the device.
//!
//! Topics and documents are in `api::mqtt`.

mod command_queue;
mod connection;
mod context;
mod events;
mod executor;
mod payloads;
mod problems;
mod protocol;
mod publisher;
mod retained_settings;
mod schedule;
mod session;
mod version;
mod writer;

use std::{ops::ControlFlow, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use device::{
    input::{BrokerEvent, Input},
    mqtt::{Broker, MqttPlan, MqttProtocol},
};
use futures_util::FutureExt;
use market::Connection;
use mqtt_protocol_core::mqtt::Version;
use net::{
    backoff::{Backoff, STABLE_AFTER},
    chance::Chance,
};
use runtime::{
    outage::Outage,
    tasks::{Stop, Tasks},
};
use tokio::time::sleep;

use command_queue::DelayedCommands;
use connection::ConnectionEnd;
pub use context::MqttContext;
use executor::CommandExecutor;
use version::VersionChoice;

/// Longest time for the tasks of the client to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// Runs the client: connects as the device plans, until `stop`.
pub async fn serve(mut context: MqttContext, mut stop: Stop) {
    let (hasher, jobs) = passwords::hasher();
    let mut tasks = Tasks::new();
    tasks.spawn("MQTT passwords", passwords::run(jobs));
    let executor = CommandExecutor {
        inbox: context.inbox.clone(),
        view: context.view.clone(),
        hasher,
    };
    let mut client = Client {
        version: VersionChoice::default(),
        backoff: Backoff::new(Chance::new()),
        outage: Outage::default(),
        delayed: DelayedCommands::new(),
    };
    loop {
        let plan = context.plans.borrow_and_update().clone();
        let flow = match plan {
            MqttPlan::On(broker) => {
                client
                    .connect(&mut context, &executor, broker, &mut stop)
                    .await
            }
            MqttPlan::Off | MqttPlan::Paused => {
                tokio::select! {
                    biased;
                    () = stop.stopped() => ControlFlow::Break(()),
                    changed = context.plans.changed() => match changed {
                        Ok(()) => ControlFlow::Continue(()),
                        // Without a sender the clock is stopping.
                        Err(_) => ControlFlow::Break(()),
                    },
                }
            }
        };
        if flow.is_break() {
            break;
        }
    }
    drop(executor);
    tasks.stop(STOP_TIMEOUT).await;
}

/// State that outlives a connection.
struct Client {
    version: VersionChoice,
    backoff: Backoff,
    outage: Outage,
    delayed: DelayedCommands,
}

impl Client {
    /// Connects to a broker, again and again, until the plan changes (`Continue`) or the clock stops (`Break`).
    async fn connect(
        &mut self,
        context: &mut MqttContext,
        executor: &CommandExecutor,
        broker: Arc<Broker>,
        stop: &mut Stop,
    ) -> ControlFlow<()> {
        self.backoff.succeeded();
        loop {
            let version = match broker.protocol {
                MqttProtocol::Automatic => self.version.version(&broker),
                MqttProtocol::V5 => Version::V5_0,
                MqttProtocol::V3 => Version::V3_1_1,
            };
            report(context, Connection::Connecting).await;
            let connection = connection::run(
                context,
                executor,
                Arc::clone(&broker),
                version,
                &mut self.delayed,
                stop,
            );
            // State that a panic leaves inconsistent is dropped with the connection.
            let end = AssertUnwindSafe(connection).catch_unwind().await;
            let end = end.unwrap_or_else(|_| {
                tracing::error!("the connection to the MQTT broker panicked");
                ConnectionEnd::failed("the MQTT client crashed".into())
            });
            if broker.protocol == MqttProtocol::Automatic && self.version.connection_ended(&end) {
                tracing::info!("the broker does not support MQTT 5, trying 3.1.1");
                continue;
            }
            let (reason, subscribed_at) = match end {
                ConnectionEnd::Stopped => return ControlFlow::Break(()),
                ConnectionEnd::PlanChanged => return ControlFlow::Continue(()),
                ConnectionEnd::UnsupportedVersion => (
                    "the broker does not support this version of MQTT".to_owned(),
                    None,
                ),
                ConnectionEnd::NoConnack(reason) => (reason, None),
                ConnectionEnd::Failed {
                    reason,
                    subscribed_at,
                } => (reason, subscribed_at),
            };
            if subscribed_at.is_some() {
                self.outage.end();
            }
            if subscribed_at.is_some_and(|at| at.elapsed() >= STABLE_AFTER) {
                self.backoff.succeeded();
            }
            let retry_in = self.backoff.failed(None);
            if self.outage.is_new(&reason) {
                tracing::warn!(reason, "no connection to the MQTT broker");
            }
            report(context, Connection::Down { reason, retry_in }).await;
            tokio::select! {
                biased;
                () = stop.stopped() => return ControlFlow::Break(()),
                _ = context.plans.changed() => return ControlFlow::Continue(()),
                () = sleep(retry_in) => {}
            }
        }
    }
}

/// Reports the state of the connection to the device.
async fn report(context: &MqttContext, connection: Connection) {
    let report = Input::Broker(BrokerEvent::Connection(connection));
    // An error means that the device is stopping.
    let _ = context.inbox.send(report).await;
}
