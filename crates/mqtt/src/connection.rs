//! One connection to the broker, from connecting to disconnecting.

use std::{sync::Arc, time::Duration};

use device::{
    mqtt::{Broker, MqttPlan},
    secret::Secret,
    settings::kinds::pem,
};
use mqtt_protocol_core::mqtt::Version;
use net::{
    dialer::{BoxedStream, Destination, TransportSecurity},
    tls::Own,
    url::split_authority,
};
use runtime::tasks::Stop;
use tokio::{
    io::split,
    time::{Instant, timeout},
};

use super::{
    command_queue::DelayedCommands, context::MqttContext, executor::CommandExecutor,
    protocol::ProtocolEnd, session::MqttSession, writer::BrokerWriter,
};

/// Longest time for disconnecting.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Why a connection ended. The texts are for owners.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionEnd {
    /// The clock stops.
    Stopped,
    PlanChanged,
    /// The broker does not support this version of MQTT.
    UnsupportedVersion,
    /// The connection was closed or lost before CONNACK, or there was none in time. Some brokers that do not support this version of MQTT do that.
    NoConnack(String),
    /// Any other reason.
    Failed {
        /// The reason.
        reason: String,
        /// When the broker answered the subscription. `None` if it did not.
        subscribed_at: Option<Instant>,
    },
}

impl ConnectionEnd {
    /// A failure before the broker answered the subscription.
    pub fn failed(reason: String) -> ConnectionEnd {
        ConnectionEnd::Failed {
            reason,
            subscribed_at: None,
        }
    }
}

/// Connects, and runs the session until it ends.
pub async fn run(
    context: &MqttContext,
    executor: &CommandExecutor,
    broker: Arc<Broker>,
    version: Version,
    delayed: &mut DelayedCommands,
    stop: &mut Stop,
) -> ConnectionEnd {
    let connected = tokio::select! {
        biased;
        () = stop.stopped() => return ConnectionEnd::Stopped,
        () = plan_changed(context, &broker) => return ConnectionEnd::PlanChanged,
        connected = connect(context, &broker) => connected,
    };
    let stream = match connected {
        Ok(stream) => stream,
        Err(reason) => return ConnectionEnd::failed(reason),
    };
    let session = MqttSession::new(context, executor, Arc::clone(&broker), version, delayed);
    let mut session = match session {
        Ok(session) => session,
        Err(ProtocolEnd::UnsupportedVersion) => return ConnectionEnd::UnsupportedVersion,
        Err(ProtocolEnd::Failed(reason) | ProtocolEnd::NoConnack(reason)) => {
            return ConnectionEnd::failed(reason);
        }
    };
    let (mut reader, writer) = split(stream);
    let mut writer = BrokerWriter::new(writer);
    let end = tokio::select! {
        biased;
        () = stop.stopped() => ConnectionEnd::Stopped,
        () = plan_changed(context, &broker) => ConnectionEnd::PlanChanged,
        end = session.run(&mut reader, &mut writer) => end,
    };
    let is_ours = matches!(end, ConnectionEnd::Stopped | ConnectionEnd::PlanChanged);
    if is_ours && session.subscribed_at().is_some() {
        let next = context.plans.borrow().clone();
        let disconnected = session.disconnect(&next, &mut reader, &mut writer);
        // Without DISCONNECT the broker publishes the will.
        let _ = timeout(DISCONNECT_TIMEOUT, disconnected).await;
    }
    end
}

/// Waits until the plan is not this broker.
async fn plan_changed(context: &MqttContext, broker: &Arc<Broker>) {
    let mut plans = context.plans.clone();
    let is_other = |plan: &MqttPlan| *plan != MqttPlan::On(Arc::clone(broker));
    // Without a sender the clock is stopping, which is handled by `stop`.
    if plans.wait_for(is_other).await.is_err() {
        std::future::pending().await
    }
}

async fn connect(context: &MqttContext, broker: &Broker) -> Result<BoxedStream, String> {
    let authority = split_authority(broker.host.expose());
    let (host, port) = authority.map_err(|error| error.to_string())?;
    let security = if broker.tls.is_some() {
        TransportSecurity::Tls
    } else {
        TransportSecurity::Plain
    };
    let destination = Destination {
        host,
        port: port.unwrap_or(broker.port),
        security,
    };
    let tls = broker.tls.clone().unwrap_or_default();
    let file = |stored: &Secret| pem::file(stored.expose());
    let own = context.dialer.own_tls(Own {
        authorities: &file(&tls.authorities),
        certificate: &file(&tls.certificate),
        key: &Secret::new(file(&tls.key)),
    });
    let own = own.map_err(|error| error.to_string())?;
    let stream = context.dialer.connect_by(&broker.route, destination, &own);
    stream.await.map_err(|error| error.to_string())
}
