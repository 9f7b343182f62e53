//! The MQTT client: publishes the state of the clock and executes commands.
//!
//! `protocol` is the protocol as a value, `session` one connection with its `outlet`, `levels` the retained messages that the
//! clock publishes, `executor` the way into the device, and `retained` the settings that others retain for the clock. Topics
//! and documents are in `interface`.

mod context;
mod executor;
mod levels;
mod outlet;
mod protocol;
mod retained;
mod session;

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use device::{
    input::{Brokered, Input},
    mqtt::{Broker, MqttPlan, MqttProtocol},
    secret::Endpoint,
};
use futures_util::FutureExt;
use market::Connection;
use mqtt_protocol_core::mqtt::Version;
use net::{
    backoff::{Backoff, STABLE_AFTER},
    chance::Chance,
};
use tokio::time::sleep;

pub use context::MqttContext;
use executor::CommandExecutor;
use runtime::{
    outage::Outage,
    tasks::{Stop, Tasks},
};
use session::{ConnectionEnd, Spread};

/// Time that the tasks of the door have to end.
const GRACE: Duration = Duration::from_secs(1);

/// Connections closed without a CONNACK after which the other version of the protocol is tried.
const UNANSWERED_MAX: u32 = 2;

/// Follows what the device wants of the broker until told to stop.
pub async fn serve(mut context: MqttContext, mut stop: Stop) {
    let (hasher, jobs) = passwords::hasher();
    let mut parts = Tasks::new();
    parts.spawn("MQTT passwords", passwords::run(jobs));
    let executor = CommandExecutor {
        inbox: context.inbox.clone(),
        view: context.view.clone(),
        hasher,
    };
    let mut keeper = ReconnectState {
        automatic: Automatic::default(),
        backoff: Backoff::new(Chance::new()),
        outage: Outage::default(),
        spread: Spread::new(),
    };
    loop {
        let plan = context.plans.borrow_and_update().clone();
        let next = match plan {
            MqttPlan::On(broker) => {
                keeper
                    .keep(&mut context, &executor, broker, &mut stop)
                    .await
            }
            MqttPlan::Off | MqttPlan::Paused => {
                tokio::select! {
                    biased;
                    () = stop.stopped() => Next::Stop,
                    changed = context.plans.changed() => match changed {
                        Ok(()) => Next::Look,
                        // Without anybody to plan the clock is ending.
                        Err(_) => Next::Stop,
                    },
                }
            }
        };
        if next == Next::Stop {
            break;
        }
    }
    drop(executor);
    parts.stop(GRACE).await;
}

/// What comes after a connection, or after none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Look,
    Stop,
}

/// State that is kept from one connection to the next.
struct ReconnectState {
    automatic: Automatic,
    backoff: Backoff,
    outage: Outage,
    /// Commands of a group that wait for their moment.
    spread: Spread,
}

/// The version of the protocol that is used where it is chosen automatically: 5, and 3.1.1 with a broker that does not
/// know it.
struct Automatic {
    /// Host and port of the broker that this is known of.
    broker: Option<(Endpoint, u16)>,
    version: Version,
    /// Connections in a row that were closed without a CONNACK.
    unanswered: u32,
}

impl Default for Automatic {
    fn default() -> Automatic {
        Automatic {
            broker: None,
            version: Version::V5_0,
            unanswered: 0,
        }
    }
}

impl Automatic {
    /// The version for a broker; what is known of another one is forgotten.
    fn version(&mut self, broker: &Broker) -> Version {
        let place = Some((broker.host.clone(), broker.port));
        if self.broker != place {
            *self = Automatic {
                broker: place,
                ..Automatic::default()
            };
        }
        self.version
    }

    /// Records how a connection ended. Returns whether to try the older protocol version at once.
    fn ended(&mut self, ended: &ConnectionEnd) -> bool {
        self.unanswered = match ended {
            ConnectionEnd::Unanswered(_) => self.unanswered + 1,
            ConnectionEnd::OtherVersion
            | ConnectionEnd::Stopped
            | ConnectionEnd::Changed
            | ConnectionEnd::Failed { .. } => 0,
        };
        let is_unknown = *ended == ConnectionEnd::OtherVersion || self.unanswered >= UNANSWERED_MAX;
        if !is_unknown {
            return false;
        }
        self.unanswered = 0;
        self.version = match self.version {
            Version::V5_0 | Version::Undetermined => Version::V3_1_1,
            Version::V3_1_1 => Version::V5_0,
        };
        self.version == Version::V3_1_1
    }
}

impl ReconnectState {
    /// Keeps a connection to a broker until another one is wanted, or none.
    async fn keep(
        &mut self,
        context: &mut MqttContext,
        executor: &CommandExecutor,
        broker: Arc<Broker>,
        stop: &mut Stop,
    ) -> Next {
        self.backoff.succeeded();
        loop {
            let version = match broker.protocol {
                MqttProtocol::Automatic => self.automatic.version(&broker),
                MqttProtocol::V5 => Version::V5_0,
                MqttProtocol::V3 => Version::V3_1_1,
            };
            tell(context, Connection::Connecting).await;
            let session = session::run(
                context,
                executor,
                Arc::clone(&broker),
                version,
                &mut self.spread,
                stop,
            );
            // Whatever a panic left behind is dropped with the connection.
            let ended = AssertUnwindSafe(session).catch_unwind().await;
            let ended = ended.unwrap_or_else(|_| {
                tracing::error!("the connection to the broker panicked");
                ConnectionEnd::Failed {
                    reason: "it crashed".into(),
                    up_since: None,
                }
            });
            if broker.protocol == MqttProtocol::Automatic && self.automatic.ended(&ended) {
                tracing::info!("the broker does not know MQTT 5, trying 3.1.1");
                continue;
            }
            let (reason, up_since) = match ended {
                ConnectionEnd::Stopped => return Next::Stop,
                ConnectionEnd::Changed => return Next::Look,
                ConnectionEnd::OtherVersion => (
                    "the broker does not know this version of MQTT".to_owned(),
                    None,
                ),
                ConnectionEnd::Unanswered(reason) => (reason, None),
                ConnectionEnd::Failed { reason, up_since } => (reason, up_since),
            };
            if up_since.is_some() {
                self.outage.end();
            }
            if up_since.is_some_and(|since| since.elapsed() >= STABLE_AFTER) {
                self.backoff.succeeded();
            }
            let retry_in = self.backoff.failed(None);
            if self.outage.is_new(&reason) {
                tracing::warn!(reason, "the broker is not there");
            }
            tell(context, Connection::Down { reason, retry_in }).await;
            tokio::select! {
                biased;
                () = stop.stopped() => return Next::Stop,
                _ = context.plans.changed() => return Next::Look,
                () = sleep(retry_in) => {}
            }
        }
    }
}

async fn tell(context: &MqttContext, connection: Connection) {
    // The loss of the device is noticed elsewhere.
    let told = Input::Brokered(Brokered::Connection(connection));
    let _ = context.inbox.send(told).await;
}
