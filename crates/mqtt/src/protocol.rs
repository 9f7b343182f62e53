//! The protocol state of one connection to a broker, without I/O: received bytes go in; events and bytes to send come
//! out.
//!
//! It knows no network and no clock; both versions of the protocol are spoken alike.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "of all that the protocol has the clock needs a part"
)]

use std::{collections::VecDeque, num::NonZeroU16, time::Duration};

use api::mqtt::{
    documents::OFFLINE,
    topics::{self, RetainedTopic},
};
use device::mqtt::Broker;
use mqtt_protocol_core::mqtt::{
    Connection, Version,
    common::Cursor,
    connection::{ConnectionOptions, Event, TimerKind},
    packet::{
        CorrelationData, GenericPacketTrait, MaximumPacketSize, Packet, Property, Qos,
        ReceiveMaximum, ResponseTopic, RetainHandling, SubEntry, SubOpts, v3_1_1, v5_0,
    },
    result_code::{ConnectReasonCode, MqttError, PubackReasonCode},
    role::Client,
};
use tokio::time::Instant;

/// Largest packet that is taken, bytes: the largest body and what stands before it.
const PACKET_MAX: u32 = 20 * 1024;

/// The same in the older version, in which a broker cannot be told: it would send what stands there at every connection,
/// and the clock would leave at every one. Whoever fills this means it.
const PACKET_MAX_3: u32 = 1024 * 1024;

/// Messages of the broker that may wait for their acknowledgement.
const RECEIVE_MAX: NonZeroU16 = NonZeroU16::new(16).expect("it is not zero");

/// Messages of ours that may wait for theirs.
pub const IN_FLIGHT_MAX: usize = 8;

/// Longest time that the broker may take to acknowledge something.
pub const ACK_TIMEOUT: Duration = Duration::from_secs(20);

/// Longest data of a caller's own that is sent back to it, bytes.
const CORRELATION_MAX: usize = 256;

/// Why a session ended, as text for owners.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProtocolEnd {
    /// The broker does not know this version of the protocol.
    OtherVersion,
    /// The broker closed the connection without a CONNACK; why, in words.
    Unanswered(String),
    /// Something else.
    Because(String),
}

/// A message that was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotSent {
    /// The broker takes none so large.
    TooLarge,
    /// It cannot be written, or not now.
    Refused,
}

/// An event of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionEvent {
    /// It takes the connection.
    Connected,
    /// It lets the clock listen; to these filters it does not, counted from 0.
    Subscribed(Vec<usize>),
    /// It does not take what the clock tells, for this reason.
    PublishRefused(String),
    /// Somebody says something.
    Message(IncomingMessage),
}

/// A message from the broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncomingMessage {
    /// Its topic.
    pub topic: String,
    /// What it says.
    pub payload: Vec<u8>,
    /// It stood at the broker before.
    pub is_retained: bool,
    /// Where the answer is to go, and what is to go with it; none where nothing else is asked for.
    pub answer: Option<(String, Option<Vec<u8>>)>,
}

/// A message to publish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingMessage {
    /// Its topic.
    pub topic: String,
    /// What it says.
    pub payload: Vec<u8>,
    /// It stays at the broker.
    pub is_level: bool,
    /// It must arrive.
    pub must_arrive: bool,
    /// What a caller wants back.
    pub correlation: Option<Vec<u8>>,
}

/// What the broker does not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BrokerLimits {
    keeps: bool,
    acknowledges: bool,
}

/// An answer that the broker owes.
#[derive(Debug, Clone, Copy)]
struct Owed {
    /// Bytes of the session up to the end of what it answers.
    end: u64,
    /// Since when it is waited for; none while what it answers is on its way, whose time is bounded elsewhere.
    since: Option<Instant>,
}

impl Owed {
    fn due(&self) -> Option<Instant> {
        self.since.map(|since| since + ACK_TIMEOUT)
    }
}

/// The protocol state of one connection to the broker.
pub struct ProtocolSession {
    connection: Connection<Client>,
    version: Version,
    /// Bytes to be sent.
    out: Vec<u8>,
    /// Bytes that are sent.
    sent: u64,
    ping_at: Option<Instant>,
    /// The answer to a ping.
    pong: Option<Owed>,
    /// The answer to whether the clock is let in, and may listen.
    admission: Option<Owed>,
    /// The acknowledgements of what must arrive.
    acks: VecDeque<Owed>,
    limits: BrokerLimits,
    is_welcome: bool,
}

impl ProtocolSession {
    /// Begins one: the words of the clock are ready to be sent.
    ///
    /// # Errors
    /// Something that the broker is to be told cannot be written in the protocol.
    pub fn new(
        broker: &Broker,
        version: Version,
        now: Instant,
    ) -> Result<ProtocolSession, ProtocolEnd> {
        let options = ConnectionOptions::new()
            .maximum_packet_size_recv(packet_max(version))
            .receive_maximum(RECEIVE_MAX.get());
        let mut connection = Connection::<Client>::with_options(version, options);
        let pong_ms = u64::try_from(ACK_TIMEOUT.as_millis()).unwrap_or(u64::MAX);
        connection.set_pingresp_recv_timeout(pong_ms);
        let hello = match version {
            Version::V3_1_1 => hello_3(broker),
            Version::V5_0 | Version::Undetermined => hello_5(broker),
        };
        let unwritable = |error| {
            ProtocolEnd::Because(format!("the broker cannot be told this: {}", words(error)))
        };
        let mut session = ProtocolSession {
            connection,
            version,
            out: Vec::new(),
            sent: 0,
            ping_at: None,
            pong: None,
            admission: None,
            acks: VecDeque::new(),
            limits: BrokerLimits {
                keeps: true,
                acknowledges: true,
            },
            is_welcome: false,
        };
        let events = session.connection.send(hello.map_err(unwritable)?);
        session.follow(events, now)?;
        session.admission = Some(session.owed());
        Ok(session)
    }

    /// The broker closed the connection, or it was lost.
    pub fn closed(&self, reason: String) -> ProtocolEnd {
        match self.is_welcome {
            true => ProtocolEnd::Because(reason),
            false => ProtocolEnd::Unanswered(reason),
        }
    }

    /// Takes bytes of the broker.
    ///
    /// # Errors
    /// The session has ended.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        now: Instant,
    ) -> Result<Vec<SessionEvent>, ProtocolEnd> {
        // A broker of the older version answers in its own words.
        if !self.is_welcome && self.version == Version::V5_0 && is_refusal_of_version(bytes) {
            return Err(ProtocolEnd::OtherVersion);
        }
        let mut said = Vec::new();
        let mut cursor = Cursor::new(bytes);
        let whole = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        while cursor.position() < whole {
            let events = self.connection.recv(&mut cursor);
            said.extend(self.follow(events, now)?);
        }
        Ok(said)
    }

    /// Asks to listen; in the older version what stands at the broker comes again each time.
    ///
    /// # Errors
    /// The session has ended, or a filter is none.
    pub fn subscribe(&mut self, broker: &Broker, now: Instant) -> Result<(), ProtocolEnd> {
        let filters = topics::filters(broker);
        let refused = |error| ProtocolEnd::Because(words(error));
        let entry = |filter: &String| {
            let retained = if topics::stands(filter) {
                RetainHandling::SendRetained
            } else {
                RetainHandling::DoNotSendRetained
            };
            let mut options = SubOpts::new().set_qos(Qos::AtLeastOnce);
            if self.version == Version::V5_0 {
                // What is left there while the clock listens is told from what is said to it.
                let is_told = topics::is_asked(filter, broker);
                options = options.set_rh(retained).set_rap(is_told);
            }
            SubEntry::new(filter.as_str(), options)
        };
        let entries: Result<Vec<SubEntry>, MqttError> = filters.iter().map(entry).collect();
        let entries = entries.map_err(refused)?;
        let id = self.connection.acquire_packet_id().map_err(refused)?;
        let packet: Result<Packet, MqttError> = match self.version {
            Version::V3_1_1 => v3_1_1::Subscribe::builder()
                .packet_id(id)
                .entries(entries)
                .build()
                .map(Packet::from),
            Version::V5_0 | Version::Undetermined => v5_0::Subscribe::builder()
                .packet_id(id)
                .entries(entries)
                .build()
                .map(Packet::from),
        };
        let events = self.connection.send(packet.map_err(refused)?);
        self.follow(events, now)?;
        self.admission = Some(self.owed());
        Ok(())
    }

    /// Tells whether one more message may go out that must arrive.
    pub fn has_room(&self) -> bool {
        let vacancy = self.connection.get_receive_maximum_vacancy_for_send();
        self.acks.len() < IN_FLIGHT_MAX && vacancy != Some(0)
    }

    /// Tells whether all that must arrive has.
    pub fn is_settled(&self) -> bool {
        self.acks.is_empty()
    }

    /// Tells something.
    ///
    /// # Errors
    /// It is not sent; the session goes on.
    pub fn publish(&mut self, telling: OutgoingMessage, now: Instant) -> Result<(), NotSent> {
        let must_arrive = telling.must_arrive && self.limits.acknowledges;
        let id = match must_arrive {
            true => Some(
                self.connection
                    .acquire_packet_id()
                    .map_err(|_| NotSent::Refused)?,
            ),
            false => None,
        };
        let packet = self.packet(telling, id);
        let outcome = packet.and_then(|packet| {
            let events = self.connection.send(packet);
            self.sent(events, now)
        });
        match (outcome, id) {
            (Ok(()), Some(_)) => {
                let owed = self.owed();
                self.acks.push_back(owed);
            }
            (Ok(()), None) => {}
            (Err(error), Some(id)) => {
                self.connection.release_packet_id(id);
                return Err(error);
            }
            (Err(error), None) => return Err(error),
        }
        Ok(())
    }

    /// Says good-bye; nothing can be told after it.
    pub fn disconnect(&mut self, now: Instant) {
        let packet: Result<Packet, MqttError> = match self.version {
            Version::V3_1_1 => v3_1_1::Disconnect::builder().build().map(Packet::from),
            Version::V5_0 | Version::Undetermined => {
                v5_0::Disconnect::builder().build().map(Packet::from)
            }
        };
        if let Ok(packet) = packet {
            let events = self.connection.send(packet);
            // What follows is the end that was asked for.
            let _ = self.sent(events, now);
        }
    }

    /// Bytes to be sent.
    pub fn out(&self) -> &[u8] {
        &self.out
    }

    /// Takes note that so many of them are sent.
    pub fn sent_bytes(&mut self, count: usize, now: Instant) {
        let count = count.min(self.out.len());
        self.out.drain(..count);
        self.sent += u64::try_from(count).unwrap_or(u64::MAX);
        let owed = self.acks.iter_mut();
        for owed in owed.chain(&mut self.pong).chain(&mut self.admission) {
            if owed.since.is_none() && owed.end <= self.sent {
                owed.since = Some(now);
            }
        }
        if self.out.is_empty() {
            // What one large message took is not kept for ever.
            self.out
                .shrink_to(usize::try_from(PACKET_MAX).unwrap_or(usize::MAX));
        }
    }

    /// When it wants to be looked at without the broker saying anything.
    pub fn next_deadline(&self) -> Option<Instant> {
        [self.ping_at, self.answer_due()]
            .into_iter()
            .flatten()
            .min()
    }

    /// When the broker must have answered; none while it owes nothing, or has not been told all that it is to answer.
    fn answer_due(&self) -> Option<Instant> {
        let owed = [self.pong, self.admission, self.acks.front().copied()];
        owed.into_iter()
            .flatten()
            .filter_map(|owed| owed.due())
            .min()
    }

    /// The answer to what is said last.
    fn owed(&self) -> Owed {
        let to_come = u64::try_from(self.out.len()).unwrap_or(u64::MAX);
        Owed {
            end: self.sent.saturating_add(to_come),
            since: None,
        }
    }

    /// Does what is due.
    ///
    /// # Errors
    /// The broker did not answer in time.
    pub fn advance(&mut self, now: Instant) -> Result<(), ProtocolEnd> {
        let is_late = |until: Option<Instant>| until.is_some_and(|until| until <= now);
        if is_late(self.answer_due()) {
            return Err(ProtocolEnd::Because(format!(
                "the broker did not answer within {} s",
                ACK_TIMEOUT.as_secs()
            )));
        }
        if is_late(self.ping_at) {
            self.ping_at = None;
            let events = self.connection.notify_timer_fired(TimerKind::PingreqSend);
            self.follow(events, now)?;
        }
        Ok(())
    }

    fn packet(&self, telling: OutgoingMessage, id: Option<u16>) -> Result<Packet, NotSent> {
        let OutgoingMessage {
            topic,
            payload,
            is_level,
            correlation,
            ..
        } = telling;
        let retain = is_level && self.limits.keeps;
        let qos = if id.is_some() {
            Qos::AtLeastOnce
        } else {
            Qos::AtMostOnce
        };
        let refused = |_| NotSent::Refused;
        match self.version {
            Version::V3_1_1 => {
                let mut builder = v3_1_1::Publish::builder()
                    .topic_name(topic)
                    .map_err(refused)?;
                builder = builder.qos(qos).retain(retain).payload(payload);
                if let Some(id) = id {
                    builder = builder.packet_id(id);
                }
                builder.build().map(Packet::from).map_err(refused)
            }
            Version::V5_0 | Version::Undetermined => {
                let mut builder = v5_0::Publish::builder()
                    .topic_name(topic)
                    .map_err(refused)?;
                builder = builder.qos(qos).retain(retain).payload(payload);
                if let Some(id) = id {
                    builder = builder.packet_id(id);
                }
                let mut properties = Vec::new();
                if let Some(correlation) = correlation {
                    let data = CorrelationData::new(correlation).map_err(refused)?;
                    properties.push(Property::CorrelationData(data));
                }
                if !properties.is_empty() {
                    builder = builder.props(properties);
                }
                builder.build().map(Packet::from).map_err(refused)
            }
        }
    }

    /// Follows what comes of a message of ours.
    fn sent(&mut self, events: Vec<Event>, now: Instant) -> Result<(), NotSent> {
        let mut outcome = Ok(());
        for event in events {
            match event {
                Event::NotifyError(MqttError::PacketTooLarge) => outcome = Err(NotSent::TooLarge),
                Event::NotifyError(_) => outcome = Err(NotSent::Refused),
                event => {
                    // Nothing that is sent ends a session.
                    let _ = self.follow(vec![event], now);
                }
            }
        }
        outcome
    }

    fn follow(
        &mut self,
        events: Vec<Event>,
        now: Instant,
    ) -> Result<Vec<SessionEvent>, ProtocolEnd> {
        let mut said = Vec::new();
        let mut error = None;
        let mut is_over = false;
        for event in events {
            match event {
                Event::RequestSendPacket { packet, .. } => {
                    self.out.extend(packet.to_continuous_buffer());
                }
                Event::NotifyPacketReceived(packet) => said.extend(self.read(packet, now)?),
                Event::RequestTimerReset {
                    kind: TimerKind::PingreqSend,
                    duration_ms,
                } => {
                    let at = now + Duration::from_millis(duration_ms);
                    // What is told meanwhile does not put it off: most of that needs no answer, so that a broker which
                    // is gone would not be missed.
                    // The broker may want to hear from the clock sooner than was planned.
                    self.ping_at = Some(self.ping_at.map_or(at, |planned| planned.min(at)));
                }
                Event::RequestTimerCancel(TimerKind::PingreqSend) => self.ping_at = None,
                // Only brokers wait for pings.
                Event::RequestTimerReset {
                    kind: TimerKind::PingrespRecv | TimerKind::PingreqRecv,
                    ..
                } => {
                    let owed = self.owed();
                    // A ping that waits behind another one does not put off the answer to that.
                    self.pong.get_or_insert(owed);
                }
                Event::RequestTimerCancel(TimerKind::PingrespRecv | TimerKind::PingreqRecv) => {
                    self.pong = None;
                }
                Event::NotifyError(MqttError::PacketTooLarge) => {
                    let most = packet_max(self.version);
                    return Err(ProtocolEnd::Because(format!(
                        "the broker sends a message of more than {most} bytes, which may stand at a topic of the clock"
                    )));
                }
                Event::NotifyError(reason) => error = Some(words(reason)),
                Event::RequestClose => is_over = true,
                Event::NotifyPacketIdReleased(_) => {}
            }
        }
        match (error, is_over) {
            (Some(reason), _) => Err(ProtocolEnd::Because(format!(
                "what the broker sends makes no sense: {reason}"
            ))),
            (None, true) => Err(ProtocolEnd::Because(
                "the broker ended the connection".into(),
            )),
            (None, false) => Ok(said),
        }
    }

    fn read(&mut self, packet: Packet, now: Instant) -> Result<Option<SessionEvent>, ProtocolEnd> {
        match packet {
            Packet::V3_1_1Connack(answer) => {
                let code = answer.return_code();
                self.welcome(code.is_success(), &format!("{code:?}"))
            }
            Packet::V5_0Connack(answer) => {
                for property in answer.props() {
                    match property {
                        Property::RetainAvailable(is_there) => {
                            self.limits.keeps = is_there.val() != 0
                        }
                        Property::MaximumQos(qos) => self.limits.acknowledges = qos.val() != 0,
                        _ => {}
                    }
                }
                let code = answer.reason_code();
                self.welcome(code == ConnectReasonCode::Success, &format!("{code:?}"))
            }
            Packet::V3_1_1Suback(answer) => {
                self.admission = None;
                let codes = answer.return_codes();
                Ok(Some(subscribed(codes.iter().map(|code| code.is_failure()))))
            }
            Packet::V5_0Suback(answer) => {
                self.admission = None;
                let codes = answer.reason_codes();
                Ok(Some(subscribed(codes.iter().map(|code| code.is_failure()))))
            }
            Packet::V3_1_1Puback(_) => {
                self.acknowledged(now);
                Ok(None)
            }
            Packet::V5_0Puback(answer) => {
                self.acknowledged(now);
                let code = answer
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
                    is_retained: publish.retain(),
                    answer: None,
                })))
            }
            Packet::V5_0Publish(publish) => {
                self.acknowledge(publish.qos(), publish.packet_id(), now)?;
                Ok(Some(SessionEvent::Message(IncomingMessage {
                    topic: publish.topic_name().to_owned(),
                    payload: publish.payload().as_slice().to_vec(),
                    is_retained: publish.retain(),
                    answer: answer_of(publish.props()),
                })))
            }
            Packet::V5_0Disconnect(farewell) => {
                let reason = farewell
                    .reason_code()
                    .map(|code| format!(": {}", words(code)));
                Err(ProtocolEnd::Because(format!(
                    "the broker ended the connection{}",
                    reason.unwrap_or_default()
                )))
            }
            _ => Ok(None),
        }
    }

    /// Acknowledges a message, where it wants that; the connection itself would not look at its number.
    fn acknowledge(&mut self, qos: Qos, id: Option<u16>, now: Instant) -> Result<(), ProtocolEnd> {
        let id = match (qos, id) {
            (Qos::AtMostOnce, _) => return Ok(()),
            (Qos::AtLeastOnce, Some(id)) => id,
            // Nobody asked for more, and a message that is to be acknowledged has a number.
            (Qos::AtLeastOnce | Qos::ExactlyOnce, _) => {
                return Err(ProtocolEnd::Because(
                    "what the broker sends makes no sense: another quality than was asked for"
                        .into(),
                ));
            }
        };
        let packet: Result<Packet, MqttError> = match self.version {
            Version::V3_1_1 => v3_1_1::Puback::builder()
                .packet_id(id)
                .build()
                .map(Packet::from),
            Version::V5_0 | Version::Undetermined => v5_0::Puback::builder()
                .packet_id(id)
                .build()
                .map(Packet::from),
        };
        let senseless = |error| {
            ProtocolEnd::Because(format!(
                "what the broker sends makes no sense: {}",
                words(error)
            ))
        };
        let events = self.connection.send(packet.map_err(senseless)?);
        self.follow(events, now)?;
        Ok(())
    }

    fn acknowledged(&mut self, now: Instant) {
        self.acks.pop_front();
        let next = self.acks.front_mut();
        if let Some(next) = next.filter(|next| next.since.is_some()) {
            next.since = Some(now);
        }
    }

    fn welcome(
        &mut self,
        is_welcome: bool,
        code: &str,
    ) -> Result<Option<SessionEvent>, ProtocolEnd> {
        self.admission = None;
        self.is_welcome = is_welcome;
        match (is_welcome, code) {
            (true, _) => Ok(Some(SessionEvent::Connected)),
            (false, "UnsupportedProtocolVersion" | "UnacceptableProtocolVersion") => {
                Err(ProtocolEnd::OtherVersion)
            }
            (false, code) => Err(ProtocolEnd::Because(format!(
                "the broker refused: {}",
                plain(code)
            ))),
        }
    }
}

/// Largest packet that is taken in a version, bytes.
pub fn packet_max(version: Version) -> u32 {
    match version {
        Version::V3_1_1 => PACKET_MAX_3,
        Version::V5_0 | Version::Undetermined => PACKET_MAX,
    }
}

/// Tells whether a broker of the older version says that it knows no newer one.
fn is_refusal_of_version(bytes: &[u8]) -> bool {
    matches!(bytes, [0x20, 0x02, _, 0x01])
}

fn hello_5(broker: &Broker) -> Result<Packet, MqttError> {
    let (topic, payload) = last_words(broker);
    let mut builder = v5_0::Connect::builder()
        .client_id(broker.client_id.as_str())?
        .clean_start(true)
        .keep_alive(broker.keep_alive_secs)
        .will_message(topic.as_str(), payload, Qos::AtLeastOnce, true)?
        .props(vec![
            Property::MaximumPacketSize(MaximumPacketSize::new(PACKET_MAX)?),
            Property::ReceiveMaximum(ReceiveMaximum::new(RECEIVE_MAX.get())?),
        ]);
    if !broker.user.is_empty() {
        builder = builder.user_name(broker.user.as_str())?;
        if !broker.pass.is_empty() {
            builder = builder.password(broker.pass.expose())?;
        }
    }
    builder.build().map(Packet::from)
}

fn hello_3(broker: &Broker) -> Result<Packet, MqttError> {
    let (topic, payload) = last_words(broker);
    let mut builder = v3_1_1::Connect::builder()
        .client_id(broker.client_id.as_str())?
        .clean_session(true)
        .keep_alive(broker.keep_alive_secs)
        .will_message(topic.as_str(), payload, Qos::AtLeastOnce, true)?;
    if !broker.user.is_empty() {
        builder = builder.user_name(broker.user.as_str())?;
        if !broker.pass.is_empty() {
            builder = builder.password(broker.pass.expose())?;
        }
    }
    builder.build().map(Packet::from)
}

/// What the broker says when the clock is lost.
fn last_words(broker: &Broker) -> (String, &'static str) {
    (
        RetainedTopic::Status.topic(broker).unwrap_or_default(),
        OFFLINE,
    )
}

fn answer_of(properties: &[Property]) -> Option<(String, Option<Vec<u8>>)> {
    let topic = properties.iter().find_map(|property| match property {
        Property::ResponseTopic(topic) => Some(ResponseTopic::val(topic).to_owned()),
        _ => None,
    })?;
    let data = properties.iter().find_map(|property| match property {
        Property::CorrelationData(data) => Some(data.val().to_vec()),
        _ => None,
    });
    Some((topic, data.filter(|data| data.len() <= CORRELATION_MAX)))
}

/// A name of the protocol as words: `NotAuthorized` becomes `not authorized`.
fn words(name: impl std::fmt::Debug) -> String {
    plain(&format!("{name:?}"))
}

fn plain(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

/// The event of a SUBACK, with the positions of the filters that were refused.
fn subscribed(failures: impl Iterator<Item = bool>) -> SessionEvent {
    let refused = failures.enumerate().filter(|(_, is_failure)| *is_failure);
    SessionEvent::Subscribed(refused.map(|(position, _)| position).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use std::sync::Arc;

    use device::{
        mqtt::{MqttPlan, plan},
        secret::{Endpoint, Secret},
        settings::Settings,
    };
    use proptest::prelude::*;

    use super::*;

    fn broker() -> Arc<Broker> {
        broker_of(Settings::default())
    }

    fn broker_of(settings: Settings) -> Arc<Broker> {
        let settings = Settings {
            mqtt_enabled: true,
            mqtt_host: Endpoint::new("broker"),
            ..settings
        };
        match plan(&settings, "papertick-aabbcc", 0) {
            MqttPlan::On(broker) => broker,
            other @ (MqttPlan::Off | MqttPlan::Paused) => panic!("{other:?}"),
        }
    }

    fn welcome(version: Version) -> &'static [u8] {
        match version {
            Version::V3_1_1 => &[0x20, 0x02, 0x00, 0x00],
            Version::V5_0 | Version::Undetermined => &[0x20, 0x03, 0x00, 0x00, 0x00],
        }
    }

    /// A session that the broker has accepted.
    fn connected(version: Version, now: Instant) -> ProtocolSession {
        let broker = broker();
        let mut session = ProtocolSession::new(&broker, version, now).unwrap();
        assert_eq!(
            session.receive(welcome(version), now),
            Ok(vec![SessionEvent::Connected])
        );
        session.subscribe(&broker, now).unwrap();
        session
    }

    fn telling(size: usize) -> OutgoingMessage {
        OutgoingMessage {
            topic: "a/b".into(),
            payload: vec![b'x'; size],
            is_level: true,
            must_arrive: true,
            correlation: None,
        }
    }

    /// A packet without its kind and its length, whose last byte is the first one below 128.
    fn body(packet: &[u8]) -> &[u8] {
        let last = packet[1..].iter().position(|byte| *byte < 0x80).unwrap();
        &packet[last + 2..]
    }

    #[test]
    fn every_broker_is_shown_user_and_password_and_keeps_that_a_clock_is_lost() {
        let now = Instant::now();
        for (user, pass, expected) in [
            ("", "", (None, None)),
            ("", "secret", (None, None)),
            ("me", "", (Some("me"), None)),
            ("me", "secret", (Some("me"), Some("secret"))),
        ] {
            let broker = broker_of(Settings {
                mqtt_user: user.into(),
                mqtt_pass: Secret::new(pass),
                ..Settings::default()
            });
            let hello = |version| ProtocolSession::new(&broker, version, now).unwrap().out;
            let (five, three) = (hello(Version::V5_0), hello(Version::V3_1_1));
            let (five, _) = v5_0::Connect::parse(body(&five)).unwrap();
            let (three, _) = v3_1_1::Connect::parse(body(&three)).unwrap();
            let (user, pass) = expected;
            let expected = (user, pass.map(str::as_bytes));
            assert_eq!((five.user_name(), five.password()), expected);
            assert_eq!((three.user_name(), three.password()), expected);
            let topic = "papertick/papertick-aabbcc/status";
            let will = (Some(topic), Some(b"offline".as_slice()), true);
            assert_eq!(
                (five.will_topic(), five.will_payload(), five.will_retain()),
                will
            );
            assert_eq!(
                (
                    three.will_topic(),
                    three.will_payload(),
                    three.will_retain()
                ),
                will
            );
        }
    }

    /// A command that stands there would be done again at every connection.
    #[test]
    fn of_what_stood_there_before_the_clock_asks_for_wishes_alone() {
        let now = Instant::now();
        let broker = broker_of(Settings::default());
        let mut session = ProtocolSession::new(&broker, Version::V5_0, now).unwrap();
        session.receive(welcome(Version::V5_0), now).unwrap();
        session.sent_bytes(usize::MAX, now);
        session.subscribe(&broker, now).unwrap();
        let (wish, _) = v5_0::Subscribe::parse(body(session.out())).unwrap();
        let (asked, others): (Vec<&SubEntry>, Vec<&SubEntry>) = wish
            .entries()
            .iter()
            .partition(|entry| entry.sub_opts().rh() == RetainHandling::SendRetained);
        let asked: Vec<&str> = asked.iter().map(|entry| entry.topic_filter()).collect();
        assert_eq!(
            asked,
            [
                "papertick/papertick-aabbcc/desired",
                "papertick/group/all/desired",
            ]
        );
        let is_left =
            |entry: &&SubEntry| entry.sub_opts().rh() == RetainHandling::DoNotSendRetained;
        assert!(
            !others.is_empty() && others.iter().all(is_left),
            "{others:?}"
        );
    }

    #[test]
    fn a_broker_that_acknowledges_nothing_is_told_all_the_same() {
        let now = Instant::now();
        let mut session = ProtocolSession::new(&broker(), Version::V5_0, now).unwrap();
        // Quality 0 is the best that it takes.
        let limits = [0x20, 0x05, 0x00, 0x00, 0x02, 0x24, 0x00];
        assert_eq!(
            session.receive(&limits, now),
            Ok(vec![SessionEvent::Connected])
        );
        for _ in 0..2 * IN_FLIGHT_MAX {
            session.sent_bytes(usize::MAX, now);
            assert!(session.has_room());
            assert_eq!(session.publish(telling(1), now), Ok(()));
            // It stays there.
            assert_eq!(session.out()[0], 0x31);
        }
        assert!(session.is_settled());
    }

    #[test]
    fn no_more_is_told_than_the_broker_takes_at_a_time() {
        let now = Instant::now();
        let broker = broker();
        let mut session = ProtocolSession::new(&broker, Version::V5_0, now).unwrap();
        // Two at a time, none of more than 64 bytes, none that stays.
        let limits = [
            0x20, 0x0D, 0x00, 0x00, 0x0A, 0x21, 0x00, 0x02, 0x27, 0x00, 0x00, 0x00, 0x40, 0x25,
            0x00,
        ];
        assert_eq!(
            session.receive(&limits, now),
            Ok(vec![SessionEvent::Connected])
        );
        session.sent_bytes(usize::MAX, now);
        assert_eq!(session.publish(telling(100), now), Err(NotSent::TooLarge));
        assert!(session.out().is_empty() && session.is_settled());
        for _ in 0..2 {
            assert!(session.has_room());
            assert_eq!(session.publish(telling(1), now), Ok(()));
        }
        assert!(!session.has_room());
        // Acknowledged, and not to stay there.
        assert_eq!(session.out()[0], 0x32);
        assert_eq!(
            session.receive(&[0x40, 0x02, 0x00, session.out()[8]], now),
            Ok(Vec::new())
        );
        assert!(session.has_room());
    }

    #[test]
    fn the_broker_is_pinged_as_often_as_it_wants() {
        let now = Instant::now();
        let broker = broker();
        let mut session = ProtocolSession::new(&broker, Version::V5_0, now).unwrap();
        // It wants to hear something every 10 s.
        let often = [0x20, 0x06, 0x00, 0x00, 0x03, 0x13, 0x00, 0x0A];
        assert_eq!(
            session.receive(&often, now),
            Ok(vec![SessionEvent::Connected])
        );
        session.subscribe(&broker, now).unwrap();
        session
            .receive(&[0x90, 0x04, 0x00, 0x01, 0x00, 0x01], now)
            .unwrap();
        assert_eq!(session.next_deadline(), Some(now + Duration::from_secs(10)));
    }

    #[test]
    fn what_is_not_acknowledged_in_time_ends_it() {
        let now = Instant::now();
        let mut session = connected(Version::V3_1_1, now);
        session
            .receive(&[0x90, 0x03, 0x00, 0x01, 0x01], now)
            .unwrap();
        session.publish(telling(1), now).unwrap();
        // The time begins when all of it is on its way.
        session.sent_bytes(1, now);
        assert!(session.advance(now + ACK_TIMEOUT).is_ok());
        let now = now + ACK_TIMEOUT;
        session.sent_bytes(usize::MAX, now);
        assert_eq!(session.next_deadline(), Some(now + ACK_TIMEOUT));
        let outcome = session.advance(now + ACK_TIMEOUT);
        assert!(
            matches!(outcome, Err(ProtocolEnd::Because(reason)) if reason.contains("did not answer"))
        );
    }

    #[test]
    fn nobody_answers_a_ping_that_waits_behind_something_long() {
        for version in [Version::V5_0, Version::V3_1_1] {
            let begun = Instant::now();
            let mut session = connected(version, begun);
            let mut suback = vec![0x90, 0x04, 0x00, 0x01, 0x00, 0x01];
            if version == Version::V3_1_1 {
                suback = vec![0x90, 0x03, 0x00, 0x01, 0x01];
            }
            session.receive(&suback, begun).unwrap();
            session.sent_bytes(usize::MAX, begun);
            let telling = OutgoingMessage {
                must_arrive: false,
                ..telling(16 * 1024)
            };
            session.publish(telling, begun).unwrap();
            let long = session.out().len();
            let mut now = session.next_deadline().unwrap();
            session.advance(now).unwrap();
            assert_eq!(session.out()[long..], [0xC0, 0x00]);
            // The slowest way that is kept.
            for _ in 0..4 {
                now += Duration::from_secs(30);
                assert_eq!(session.advance(now), Ok(()));
                session.sent_bytes(4 * 1024, now);
            }
            session.sent_bytes(long - 16 * 1024 + 1, now);
            now += ACK_TIMEOUT;
            assert_eq!(session.advance(now), Ok(()));
            session.sent_bytes(usize::MAX, now);
            let late = now + ACK_TIMEOUT;
            assert_eq!(session.advance(late - Duration::from_millis(1)), Ok(()));
            assert!(session.advance(late).is_err());
        }
    }

    /// Each answer is waited for from the moment on at which what it answers has gone, whatever is said after it.
    #[test]
    fn what_is_told_meanwhile_puts_off_no_answer() {
        let begun = Instant::now();
        let mut session = connected(Version::V3_1_1, begun);
        session
            .receive(&[0x90, 0x03, 0x00, 0x01, 0x01], begun)
            .unwrap();
        let mut now = begun;
        for _ in 0..3 {
            session.publish(telling(1), now).unwrap();
            session.sent_bytes(usize::MAX, now);
            now += ACK_TIMEOUT / 4;
        }
        assert_eq!(session.answer_due(), Some(begun + ACK_TIMEOUT));
        // The next one has its time after the one before it.
        session.receive(&[0x40, 0x02, 0x00, 0x02], now).unwrap();
        assert_eq!(session.answer_due(), Some(now + ACK_TIMEOUT));
    }

    #[test]
    fn a_message_is_acknowledged_by_its_number_and_has_one() {
        for version in [Version::V5_0, Version::V3_1_1] {
            let now = Instant::now();
            let publish = |flags: u8, id: u8| {
                let mut body = vec![0x00, 0x01, b'a'];
                body.extend([0x00, id]);
                if version == Version::V5_0 {
                    body.push(0x00);
                }
                let mut packet = vec![0x30 | flags, u8::try_from(body.len()).unwrap()];
                packet.extend(body);
                packet
            };
            let mut session = connected(version, now);
            session.sent_bytes(usize::MAX, now);
            assert_eq!(session.receive(&publish(2, 7), now).unwrap().len(), 1);
            assert_eq!(session.out()[..4], [0x40, 0x02, 0x00, 0x07]);
            for (flags, id) in [(2, 0), (4, 0), (4, 7)] {
                let outcome = connected(version, now).receive(&publish(flags, id), now);
                assert!(
                    matches!(&outcome, Err(ProtocolEnd::Because(reason)) if reason.contains("no sense")),
                    "{outcome:?}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn anything_that_a_broker_says_is_heard(
            five in any::<bool>(),
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..8),
        ) {
            let now = Instant::now();
            let version = if five { Version::V5_0 } else { Version::V3_1_1 };
            let mut session = connected(version, now);
            for piece in pieces {
                if session.receive(&piece, now).is_err() {
                    break;
                }
                let _ = session.publish(telling(3), now);
            }
            let _ = session.advance(now + ACK_TIMEOUT);
        }

        /// Packets of a right length, of every kind.
        #[test]
        fn any_packet_is_heard(
            five in any::<bool>(),
            packets in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..40)), 1..6),
        ) {
            let now = Instant::now();
            let version = if five { Version::V5_0 } else { Version::V3_1_1 };
            let mut session = connected(version, now);
            for (kind, body) in packets {
                let mut packet = vec![kind, u8::try_from(body.len()).unwrap()];
                packet.extend(body);
                if session.receive(&packet, now).is_err() {
                    break;
                }
                let _ = session.publish(telling(3), now);
            }
        }
    }
}
