//! The protocol state of one connection to a broker, without I/O and without a clock: received bytes go in; events and
//! bytes to send come out.

mod deadlines;
mod packets;

use std::{num::NonZeroU16, time::Duration};

use api::mqtt::topics;
use device::mqtt::Broker;
use mqtt_protocol_core::mqtt::{
    Connection, Version,
    common::Cursor,
    connection::{ConnectionOptions, Event, TimerKind},
    packet::{GenericPacketTrait, Packet, Property, Qos, RetainHandling, SubEntry, SubOpts},
    result_code::{ConnectReasonCode, MqttError, PubackReasonCode},
    role::Client,
};
use tokio::time::Instant;

use deadlines::{PendingResponses, RESPONSE_TIMEOUT};
pub use packets::packet_max;
use packets::{PACKET_MAX, words};

/// Messages that the broker may send without waiting for their PUBACK.
const RECEIVE_MAX: NonZeroU16 = NonZeroU16::new(16).expect("it is not zero");

/// Messages that the clock sends without waiting for their PUBACK.
const IN_FLIGHT_MAX: usize = 8;

/// Why a session ended. The texts are for owners.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProtocolEnd {
    /// The broker does not support this version of MQTT.
    UnsupportedVersion,
    /// The connection was closed or lost before CONNACK, or there was none in time.
    NoConnack(String),
    /// Any other reason.
    Failed(String),
}

impl ProtocolEnd {
    /// The broker sent a packet that the protocol does not allow.
    fn protocol_error(reason: impl std::fmt::Display) -> ProtocolEnd {
        ProtocolEnd::Failed(format!("the broker violated the protocol: {reason}"))
    }
}

/// Why a message was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublishError {
    /// It exceeds the broker's maximum packet size.
    TooLarge,
    /// It cannot be encoded, or the protocol does not allow it now.
    NotSendable,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionEvent {
    /// The broker accepted the connection.
    Connected,
    /// The broker answered the subscription. Has the positions of the filters that it refused.
    Subscribed(Vec<usize>),
    /// The broker refused a published message, for this reason.
    PublishRefused(String),
    /// A message was received.
    Message(IncomingMessage),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncomingMessage {
    pub topic: String,
    pub payload: Vec<u8>,
    pub retain: bool,
    /// Where the response goes. `None` if the sender did not request a response.
    pub response: Option<ResponseTarget>,
}

/// Where a response is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseTarget {
    pub topic: String,
    /// Correlation data, which is sent back unchanged.
    pub correlation: Option<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingMessage {
    pub topic: String,
    pub payload: Vec<u8>,
    pub retain: bool,
    /// Sent with QoS 1: the broker acknowledges it.
    pub qos1: bool,
    /// Correlation data of the request that this message responds to.
    pub correlation: Option<Vec<u8>>,
}

/// What the broker supports, according to its CONNACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BrokerLimits {
    retain: bool,
    qos1: bool,
}

/// The protocol state of one connection to the broker.
pub struct ProtocolSession {
    connection: Connection<Client>,
    version: Version,
    /// Bytes to send.
    out: Vec<u8>,
    ping_at: Option<Instant>,
    pending: PendingResponses,
    limits: BrokerLimits,
    /// The broker accepted the connection.
    is_connected: bool,
    /// When SUBACK was received.
    subscribed_at: Option<Instant>,
}

impl ProtocolSession {
    /// Starts a session; CONNECT is ready to be sent.
    ///
    /// # Errors
    /// A setting of the connection cannot be encoded.
    pub fn new(
        broker: &Broker,
        version: Version,
        now: Instant,
    ) -> Result<ProtocolSession, ProtocolEnd> {
        let options = ConnectionOptions::new()
            .maximum_packet_size_recv(packet_max(version))
            .receive_maximum(RECEIVE_MAX.get());
        let mut connection = Connection::<Client>::with_options(version, options);
        let timeout_ms = u64::try_from(RESPONSE_TIMEOUT.as_millis()).unwrap_or(u64::MAX);
        connection.set_pingresp_recv_timeout(timeout_ms);
        let connect = packets::connect(version, broker).map_err(|error| {
            let reason = words(error);
            ProtocolEnd::Failed(format!("the MQTT settings cannot be encoded: {reason}"))
        })?;
        let mut session = ProtocolSession {
            connection,
            version,
            out: Vec::new(),
            ping_at: None,
            pending: PendingResponses::default(),
            limits: BrokerLimits {
                retain: true,
                qos1: true,
            },
            is_connected: false,
            subscribed_at: None,
        };
        let events = session.connection.send(connect);
        session.handle(events, now)?;
        session.pending.expect_handshake(session.out.len());
        Ok(session)
    }

    /// The reason for the end of a session after its connection was closed, lost or silent.
    pub fn closed(&self, reason: String) -> ProtocolEnd {
        if self.is_connected {
            ProtocolEnd::Failed(reason)
        } else {
            ProtocolEnd::NoConnack(reason)
        }
    }

    /// Handles received bytes.
    ///
    /// # Errors
    /// The session has ended.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        now: Instant,
    ) -> Result<Vec<SessionEvent>, ProtocolEnd> {
        // A broker without MQTT 5 answers with a packet of its own version.
        if !self.is_connected
            && self.version == Version::V5_0
            && packets::is_version_refusal_3(bytes)
        {
            return Err(ProtocolEnd::UnsupportedVersion);
        }
        let mut session_events = Vec::new();
        let mut cursor = Cursor::new(bytes);
        let end = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        while cursor.position() < end {
            let events = self.connection.recv(&mut cursor);
            session_events.extend(self.handle(events, now)?);
        }
        Ok(session_events)
    }

    /// Subscribes to all filters of the clock. With MQTT 3.1.1 the broker then sends all retained messages that match.
    ///
    /// # Errors
    /// The session has ended, or a filter cannot be encoded.
    pub fn subscribe(&mut self, broker: &Broker, now: Instant) -> Result<(), ProtocolEnd> {
        let failed = |error| ProtocolEnd::Failed(words(error));
        let entry = |filter: &String| {
            let mut options = SubOpts::new().set_qos(Qos::AtLeastOnce);
            if self.version == Version::V5_0 {
                let handling = if topics::wants_retained(filter) {
                    RetainHandling::SendRetained
                } else {
                    RetainHandling::DoNotSendRetained
                };
                // The retain flag of a command that is published from now on must be visible, because such a command
                // is refused.
                let retain_as_published = topics::is_command_filter(filter, broker);
                options = options.set_rh(handling).set_rap(retain_as_published);
            }
            SubEntry::new(filter.as_str(), options)
        };
        let entries: Result<Vec<SubEntry>, MqttError> =
            topics::filters(broker).iter().map(entry).collect();
        let id = self.connection.acquire_packet_id().map_err(failed)?;
        let packet = packets::subscribe(self.version, id, entries.map_err(failed)?);
        let events = self.connection.send(packet.map_err(failed)?);
        self.handle(events, now)?;
        self.pending.expect_handshake(self.out.len());
        Ok(())
    }

    /// When the broker answered the subscription. `None` before that.
    pub fn subscribed_at(&self) -> Option<Instant> {
        self.subscribed_at
    }

    /// Returns whether one more message may be sent with QoS 1.
    pub fn has_room(&self) -> bool {
        let vacancy = self.connection.get_receive_maximum_vacancy_for_send();
        self.pending.pubacks() < IN_FLIGHT_MAX && vacancy != Some(0)
    }

    /// Returns whether the broker has acknowledged all messages.
    pub fn is_all_acknowledged(&self) -> bool {
        self.pending.pubacks() == 0
    }

    /// Publishes a message.
    ///
    /// # Errors
    /// It is not sent; the session goes on.
    pub fn publish(&mut self, message: OutgoingMessage, now: Instant) -> Result<(), PublishError> {
        let id = if message.qos1 && self.limits.qos1 {
            Some(
                self.connection
                    .acquire_packet_id()
                    .map_err(|_| PublishError::NotSendable)?,
            )
        } else {
            None
        };
        let message = OutgoingMessage {
            retain: message.retain && self.limits.retain,
            ..message
        };
        let packet = packets::publish(self.version, message, id);
        let sent = packet
            .map_err(|_| PublishError::NotSendable)
            .and_then(|packet| {
                let events = self.connection.send(packet);
                self.handle_sent(events, now)
            });
        match (id, &sent) {
            (Some(_), Ok(())) => self.pending.expect_puback(self.out.len()),
            (Some(id), Err(_)) => {
                self.connection.release_packet_id(id);
            }
            (None, _) => {}
        }
        sent
    }

    /// Sends DISCONNECT. Nothing can be published after that.
    pub fn disconnect(&mut self, now: Instant) {
        if let Ok(packet) = packets::disconnect(self.version) {
            let events = self.connection.send(packet);
            // The connection ends anyway.
            let _ = self.handle_sent(events, now);
        }
    }

    /// Bytes to send.
    pub fn out(&self) -> &[u8] {
        &self.out
    }

    /// So many of the bytes to send were sent.
    pub fn bytes_sent(&mut self, count: usize, now: Instant) {
        let count = count.min(self.out.len());
        self.out.drain(..count);
        self.pending.bytes_sent(count, now);
        if self.out.is_empty() {
            // Do not keep the memory of one large message.
            self.out
                .shrink_to(usize::try_from(PACKET_MAX).unwrap_or(usize::MAX));
        }
    }

    /// When [`advance`](Self::advance) is due.
    pub fn next_deadline(&self) -> Option<Instant> {
        [self.ping_at, self.pending.deadline()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Sends a ping if it is due.
    ///
    /// # Errors
    /// The broker did not respond in time.
    pub fn advance(&mut self, now: Instant) -> Result<(), ProtocolEnd> {
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if is_due(self.pending.deadline()) {
            return Err(self.closed(format!(
                "the broker did not respond within {} s",
                RESPONSE_TIMEOUT.as_secs()
            )));
        }
        if is_due(self.ping_at) {
            self.ping_at = None;
            let events = self.connection.notify_timer_fired(TimerKind::PingreqSend);
            self.handle(events, now)?;
        }
        Ok(())
    }

    /// Handles the events of a message that was sent.
    fn handle_sent(&mut self, events: Vec<Event>, now: Instant) -> Result<(), PublishError> {
        let mut sent = Ok(());
        for event in events {
            match event {
                Event::NotifyError(MqttError::PacketTooLarge) => sent = Err(PublishError::TooLarge),
                Event::NotifyError(_) => sent = Err(PublishError::NotSendable),
                event => {
                    // Sending does not end a session.
                    let _ = self.handle(vec![event], now);
                }
            }
        }
        sent
    }

    fn handle(
        &mut self,
        events: Vec<Event>,
        now: Instant,
    ) -> Result<Vec<SessionEvent>, ProtocolEnd> {
        let mut session_events = Vec::new();
        let mut error = None;
        let mut is_closed = false;
        for event in events {
            match event {
                Event::RequestSendPacket { packet, .. } => {
                    self.out.extend(packet.to_continuous_buffer());
                }
                Event::NotifyPacketReceived(packet) => {
                    session_events.extend(self.handle_packet(packet, now)?);
                }
                Event::RequestTimerReset {
                    kind: TimerKind::PingreqSend,
                    duration_ms,
                } => {
                    let at = now + Duration::from_millis(duration_ms);
                    // Published messages do not postpone the ping: most are sent with QoS 0, so they would not show
                    // that the broker is gone. A CONNACK may ask for an earlier ping.
                    self.ping_at = Some(self.ping_at.map_or(at, |planned| planned.min(at)));
                }
                Event::RequestTimerCancel(TimerKind::PingreqSend) => self.ping_at = None,
                // Only brokers use the timer `PingreqRecv`.
                Event::RequestTimerReset {
                    kind: TimerKind::PingrespRecv | TimerKind::PingreqRecv,
                    ..
                } => self.pending.expect_pingresp(self.out.len()),
                Event::RequestTimerCancel(TimerKind::PingrespRecv | TimerKind::PingreqRecv) => {
                    self.pending.pingresp_received();
                }
                Event::NotifyError(MqttError::PacketTooLarge) => {
                    let max = packet_max(self.version);
                    return Err(ProtocolEnd::Failed(format!(
                        "the broker sent a message of more than {max} bytes, perhaps a retained one on a topic of the clock"
                    )));
                }
                Event::NotifyError(reason) => error = Some(words(reason)),
                Event::RequestClose => is_closed = true,
                Event::NotifyPacketIdReleased(_) => {}
            }
        }
        match (error, is_closed) {
            (Some(reason), _) => Err(ProtocolEnd::protocol_error(reason)),
            (None, true) => Err(ProtocolEnd::Failed("the broker disconnected".into())),
            (None, false) => Ok(session_events),
        }
    }

    fn handle_packet(
        &mut self,
        packet: Packet,
        now: Instant,
    ) -> Result<Option<SessionEvent>, ProtocolEnd> {
        match packet {
            Packet::V3_1_1Connack(connack) => {
                let code = connack.return_code();
                self.handle_connack(code.is_success(), &format!("{code:?}"))
            }
            Packet::V5_0Connack(connack) => {
                for property in connack.props() {
                    match property {
                        Property::RetainAvailable(available) => {
                            self.limits.retain = available.val() != 0
                        }
                        Property::MaximumQos(qos) => self.limits.qos1 = qos.val() != 0,
                        _ => {}
                    }
                }
                let code = connack.reason_code();
                self.handle_connack(code == ConnectReasonCode::Success, &format!("{code:?}"))
            }
            Packet::V3_1_1Suback(suback) => {
                let codes = suback.return_codes();
                Ok(self.handle_suback(codes.iter().map(|code| code.is_failure()), now))
            }
            Packet::V5_0Suback(suback) => {
                let codes = suback.reason_codes();
                Ok(self.handle_suback(codes.iter().map(|code| code.is_failure()), now))
            }
            Packet::V3_1_1Puback(_) => {
                self.pending.puback_received(now);
                Ok(None)
            }
            Packet::V5_0Puback(puback) => {
                self.pending.puback_received(now);
                let code = puback
                    .reason_code()
                    .filter(|code| *code != PubackReasonCode::NoMatchingSubscribers);
                let refused = code.filter(|code| !code.is_success());
                Ok(refused.map(|code| SessionEvent::PublishRefused(words(code))))
            }
            Packet::V3_1_1Publish(publish) => {
                self.acknowledge(publish.qos(), publish.packet_id(), now)?;
                Ok(Some(SessionEvent::Message(IncomingMessage {
                    topic: publish.topic_name().to_owned(),
                    payload: publish.payload().as_slice().to_vec(),
                    retain: publish.retain(),
                    response: None,
                })))
            }
            Packet::V5_0Publish(publish) => {
                self.acknowledge(publish.qos(), publish.packet_id(), now)?;
                Ok(Some(SessionEvent::Message(IncomingMessage {
                    topic: publish.topic_name().to_owned(),
                    payload: publish.payload().as_slice().to_vec(),
                    retain: publish.retain(),
                    response: packets::response_target(publish.props()),
                })))
            }
            Packet::V5_0Disconnect(disconnect) => {
                let reason = disconnect.reason_code();
                let reason = reason.map(|code| format!(": {}", words(code)));
                Err(ProtocolEnd::Failed(format!(
                    "the broker disconnected{}",
                    reason.unwrap_or_default()
                )))
            }
            _ => Ok(None),
        }
    }

    fn handle_connack(
        &mut self,
        is_accepted: bool,
        code: &str,
    ) -> Result<Option<SessionEvent>, ProtocolEnd> {
        self.pending.handshake_received();
        self.is_connected = is_accepted;
        match (is_accepted, code) {
            (true, _) => Ok(Some(SessionEvent::Connected)),
            (false, "UnsupportedProtocolVersion" | "UnacceptableProtocolVersion") => {
                Err(ProtocolEnd::UnsupportedVersion)
            }
            (false, code) => Err(ProtocolEnd::Failed(format!(
                "the broker refused the connection: {}",
                packets::split_words(code)
            ))),
        }
    }

    fn handle_suback(
        &mut self,
        failures: impl Iterator<Item = bool>,
        now: Instant,
    ) -> Option<SessionEvent> {
        self.pending.handshake_received();
        self.subscribed_at = Some(now);
        let refused = failures.enumerate().filter(|(_, is_failure)| *is_failure);
        let refused = refused.map(|(position, _)| position).collect();
        Some(SessionEvent::Subscribed(refused))
    }

    /// Sends PUBACK for a message with QoS 1. `Connection` checks neither the QoS nor the packet id of such a message.
    fn acknowledge(&mut self, qos: Qos, id: Option<u16>, now: Instant) -> Result<(), ProtocolEnd> {
        let id = match (qos, id) {
            (Qos::AtMostOnce, _) => return Ok(()),
            (Qos::AtLeastOnce, Some(id)) => id,
            // The clock subscribes with QoS 1, and a message with QoS 1 has a packet id.
            (Qos::AtLeastOnce | Qos::ExactlyOnce, _) => {
                return Err(ProtocolEnd::protocol_error("wrong QoS"));
            }
        };
        let packet = packets::puback(self.version, id);
        let packet = packet.map_err(|error| ProtocolEnd::protocol_error(words(error)))?;
        let events = self.connection.send(packet);
        self.handle(events, now)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
