//! The door for MQTT: the clock at its owner's broker.
//!
//! `protocol` is what is said, as a value; `session` one connection, by `outlet`, with what is told of the clock by
//! `levels` and what it is told by `doing`. What the topics are, and what stands there, is in `interface`.

mod doing;
mod levels;
mod means;
mod outlet;
mod protocol;
mod session;

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use device::{
    input::{Brokered, Input},
    market::Connection,
    mqtt::{Broker, MqttPlan, Protocol},
};
use futures_util::FutureExt;
use mqtt_protocol_core::mqtt::Version;
use net::{
    backoff::{Backoff, STABLE_AFTER},
    chance::Chance,
};
use tokio::time::sleep;

use crate::{doors::http::password, sources::at_broker::AtBroker, sources::outage::Outage};
use doing::Hands;
pub use means::Means;
use runtime::{tasks::Stop, tasks::Tasks};
use session::{Ended, Spread};

/// Time that the tasks of the door have to end.
const GRACE: Duration = Duration::from_secs(1);

/// Follows what the device wants of the broker until told to stop.
pub async fn serve(mut means: Means, mut stop: Stop) {
    let (hasher, jobs) = password::hasher();
    let mut parts = Tasks::new();
    parts.spawn("MQTT passwords", password::run(jobs));
    let hands = Hands {
        inbox: means.inbox.clone(),
        view: means.view.clone(),
        hasher,
    };
    let mut keeper = Keeper {
        version: Version::V5_0,
        backoff: Backoff::new(Chance::new()),
        outage: Outage::default(),
        spread: Spread::new(),
    };
    loop {
        let plan = means.plans.borrow_and_update().clone();
        let next = match plan {
            MqttPlan::On(broker) => keeper.keep(&mut means, &hands, broker, &mut stop).await,
            MqttPlan::Off | MqttPlan::Paused => {
                tokio::select! {
                    biased;
                    () = stop.stopped() => Next::Stop,
                    changed = means.plans.changed() => match changed {
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
    drop(hands);
    parts.stop(GRACE).await;
}

/// What comes after a connection, or after none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Look,
    Stop,
}

/// What is remembered from one connection to the next.
struct Keeper {
    version: Version,
    backoff: Backoff,
    outage: Outage,
    /// Commands of a group that wait for their moment.
    spread: Spread,
}

impl Keeper {
    /// Keeps a connection to a broker until another one is wanted, or none.
    async fn keep(
        &mut self,
        means: &mut Means,
        hands: &Hands,
        broker: Arc<Broker>,
        stop: &mut Stop,
    ) -> Next {
        self.version = match broker.protocol {
            Protocol::Automatic | Protocol::V5 => Version::V5_0,
            Protocol::V3 => Version::V3_1_1,
        };
        self.backoff.succeeded();
        loop {
            tell(means, Connection::Connecting).await;
            let session = session::run(
                means,
                hands,
                Arc::clone(&broker),
                self.version,
                &mut self.spread,
                stop,
            );
            // Whatever a panic left behind is dropped with the connection.
            let ended = AssertUnwindSafe(session).catch_unwind().await;
            let ended = ended.unwrap_or_else(|_| {
                tracing::error!("the connection to the broker panicked");
                Ended::Failed {
                    reason: "it broke off by itself".into(),
                    up_since: None,
                }
            });
            // Who does not listen any more has not heard of anybody.
            means.market.send_replace(AtBroker::Away);
            let (reason, up_since) = match ended {
                Ended::Stopped => return Next::Stop,
                Ended::Changed => return Next::Look,
                Ended::OtherVersion
                    if broker.protocol == Protocol::Automatic && self.version == Version::V5_0 =>
                {
                    tracing::info!("the broker does not know MQTT 5, trying 3.1.1");
                    self.version = Version::V3_1_1;
                    continue;
                }
                Ended::OtherVersion => (
                    "the broker does not know this version of MQTT".to_owned(),
                    None,
                ),
                Ended::Failed { reason, up_since } => (reason, up_since),
            };
            if up_since.is_some() {
                self.outage.end();
            }
            if up_since.is_some_and(|since| since.elapsed() >= STABLE_AFTER) {
                self.backoff.succeeded();
            }
            let retry_in = self.backoff.failed(None);
            if self.outage.is_news(&reason) {
                tracing::warn!(reason, "the broker is not there");
            }
            tell(means, Connection::Down { reason, retry_in }).await;
            tokio::select! {
                biased;
                () = stop.stopped() => return Next::Stop,
                _ = means.plans.changed() => return Next::Look,
                () = sleep(retry_in) => {}
            }
        }
    }
}

async fn tell(means: &Means, connection: Connection) {
    // The loss of the device is noticed elsewhere.
    let told = Input::Brokered(Brokered::Connection(connection));
    let _ = means.inbox.tell(told).await;
}
