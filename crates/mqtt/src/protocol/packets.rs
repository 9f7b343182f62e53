//! The packets that the clock sends, in both versions of MQTT, and texts made of the packets that it receives.

use api::mqtt::{documents::OFFLINE, topics::RetainedTopic};
use device::mqtt::Broker;
use mqtt_protocol_core::mqtt::{
    Version,
    packet::{
        CorrelationData, MaximumPacketSize, Packet, Property, Qos, ReceiveMaximum, ResponseTopic,
        SubEntry, v3_1_1, v5_0,
    },
    result_code::MqttError,
};

use super::{OutgoingMessage, RECEIVE_MAX, ResponseTarget};

/// Largest packet that is accepted with MQTT 5, bytes: the largest body of a command and its header.
pub(super) const PACKET_MAX: u32 = 20 * 1024;

/// Largest packet that is accepted with MQTT 3.1.1, bytes.
///
/// The clock cannot send its limit to such a broker. With the smaller one, a larger retained message would end every
/// connection.
const PACKET_MAX_3: u32 = 1024 * 1024;

/// Longest correlation data that is sent back, bytes.
const CORRELATION_MAX: usize = 256;

/// Largest packet that is accepted with a version of MQTT, bytes.
pub fn packet_max(version: Version) -> u32 {
    match version {
        Version::V3_1_1 => PACKET_MAX_3,
        Version::V5_0 | Version::Undetermined => PACKET_MAX,
    }
}

/// CONNECT.
///
/// # Errors
/// A setting cannot be encoded.
pub(super) fn connect(version: Version, broker: &Broker) -> Result<Packet, MqttError> {
    match version {
        Version::V3_1_1 => connect_3(broker),
        Version::V5_0 | Version::Undetermined => connect_5(broker),
    }
}

fn connect_5(broker: &Broker) -> Result<Packet, MqttError> {
    let (topic, payload) = will(broker);
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

fn connect_3(broker: &Broker) -> Result<Packet, MqttError> {
    let (topic, payload) = will(broker);
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

/// Topic and payload of the will, which the broker publishes when the connection is lost.
fn will(broker: &Broker) -> (String, &'static str) {
    (
        RetainedTopic::Status.name(broker).unwrap_or_default(),
        OFFLINE,
    )
}

/// SUBSCRIBE.
///
/// # Errors
/// It cannot be encoded.
pub(super) fn subscribe(
    version: Version,
    id: u16,
    entries: Vec<SubEntry>,
) -> Result<Packet, MqttError> {
    match version {
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
    }
}

/// PUBLISH. QoS 1 if it has a packet id, else QoS 0.
///
/// # Errors
/// The message cannot be encoded.
pub(super) fn publish(
    version: Version,
    message: OutgoingMessage,
    id: Option<u16>,
) -> Result<Packet, MqttError> {
    let OutgoingMessage {
        topic,
        payload,
        retain,
        correlation,
        ..
    } = message;
    let qos = if id.is_some() { Qos::AtLeastOnce } else { Qos::AtMostOnce };
    match version {
        Version::V3_1_1 => {
            let mut builder = v3_1_1::Publish::builder().topic_name(topic)?;
            builder = builder.qos(qos).retain(retain).payload(payload);
            if let Some(id) = id {
                builder = builder.packet_id(id);
            }
            builder.build().map(Packet::from)
        }
        Version::V5_0 | Version::Undetermined => {
            let mut builder = v5_0::Publish::builder().topic_name(topic)?;
            builder = builder.qos(qos).retain(retain).payload(payload);
            if let Some(id) = id {
                builder = builder.packet_id(id);
            }
            if let Some(correlation) = correlation {
                let data = CorrelationData::new(correlation)?;
                builder = builder.props(vec![Property::CorrelationData(data)]);
            }
            builder.build().map(Packet::from)
        }
    }
}

/// PUBACK.
///
/// # Errors
/// The packet id is invalid.
pub(super) fn puback(version: Version, id: u16) -> Result<Packet, MqttError> {
    match version {
        Version::V3_1_1 => v3_1_1::Puback::builder()
            .packet_id(id)
            .build()
            .map(Packet::from),
        Version::V5_0 | Version::Undetermined => v5_0::Puback::builder()
            .packet_id(id)
            .build()
            .map(Packet::from),
    }
}

/// DISCONNECT.
///
/// # Errors
/// It cannot be encoded.
pub(super) fn disconnect(version: Version) -> Result<Packet, MqttError> {
    match version {
        Version::V3_1_1 => v3_1_1::Disconnect::builder().build().map(Packet::from),
        Version::V5_0 | Version::Undetermined => {
            v5_0::Disconnect::builder().build().map(Packet::from)
        }
    }
}

/// Returns whether these bytes are a CONNACK of MQTT 3.1.1 that refuses the version of CONNECT.
pub(super) fn is_version_refusal_3(bytes: &[u8]) -> bool {
    matches!(bytes, [0x20, 0x02, _, 0x01])
}

/// Response topic and correlation data of a PUBLISH. `None` without a response topic.
pub(super) fn response_target(properties: &[Property]) -> Option<ResponseTarget> {
    let topic = properties.iter().find_map(|property| match property {
        Property::ResponseTopic(topic) => Some(ResponseTopic::val(topic).to_owned()),
        _ => None,
    })?;
    let data = properties.iter().find_map(|property| match property {
        Property::CorrelationData(data) => Some(data.val().to_vec()),
        _ => None,
    });
    let correlation = data.filter(|data| data.len() <= CORRELATION_MAX);
    Some(ResponseTarget { topic, correlation })
}

/// The name of a reason code or an error as words: `NotAuthorized` becomes `not authorized`.
pub(super) fn words(name: impl std::fmt::Debug) -> String {
    split_words(&format!("{name:?}"))
}

/// The words of a name in camel case.
pub(super) fn split_words(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}
