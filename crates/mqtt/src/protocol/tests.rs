//! Tests of the protocol session: bytes of a broker in, events and bytes of the clock out.

#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

use std::sync::Arc;

use device::{
    mqtt::{MqttPlan, plan},
    secret::{Endpoint, Secret},
    settings::Settings,
};
use mqtt_protocol_core::mqtt::packet::{v3_1_1, v5_0};
use proptest::prelude::*;

use super::*;

/// SUBACK of MQTT 3.1.1 for the first subscription.
const SUBACK_3: [u8; 5] = [0x90, 0x03, 0x00, 0x01, 0x01];

/// SUBACK of MQTT 5 for the first subscription.
const SUBACK_5: [u8; 6] = [0x90, 0x04, 0x00, 0x01, 0x00, 0x01];

const VERSIONS: [Version; 2] = [Version::V5_0, Version::V3_1_1];

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

fn connack(version: Version) -> &'static [u8] {
    match version {
        Version::V3_1_1 => &[0x20, 0x02, 0x00, 0x00],
        Version::V5_0 | Version::Undetermined => &[0x20, 0x03, 0x00, 0x00, 0x00],
    }
}

fn suback(version: Version) -> &'static [u8] {
    match version {
        Version::V3_1_1 => &SUBACK_3,
        Version::V5_0 | Version::Undetermined => &SUBACK_5,
    }
}

/// A session that has received this CONNACK.
fn connected_by(connack: &[u8], version: Version, now: Instant) -> ProtocolSession {
    let mut session = ProtocolSession::new(&broker(), version, now).unwrap();
    let events = session.receive(connack, now);
    assert_eq!(events, Ok(vec![SessionEvent::Connected]));
    session
}

/// A connected session that has sent SUBSCRIBE.
fn connected(version: Version, now: Instant) -> ProtocolSession {
    let mut session = connected_by(connack(version), version, now);
    session.subscribe(&broker(), now).unwrap();
    session
}

/// A retained message with QoS 1.
fn message(size: usize) -> OutgoingMessage {
    OutgoingMessage {
        topic: "a/b".into(),
        payload: vec![b'x'; size],
        retain: true,
        qos1: true,
        correlation: None,
    }
}

/// A packet without its fixed header: the type, and the length, whose last byte is the first one below 128.
fn body(packet: &[u8]) -> &[u8] {
    let last = packet[1..].iter().position(|byte| *byte < 0x80).unwrap();
    &packet[last + 2..]
}

#[test]
fn connect_has_credentials_and_a_retained_will() {
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
        let connect = |version| ProtocolSession::new(&broker, version, now).unwrap().out;
        let (five, three) = (connect(Version::V5_0), connect(Version::V3_1_1));
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

/// A retained command would be executed again at every connection.
#[test]
fn only_retained_settings_are_requested_at_a_subscription() {
    let now = Instant::now();
    let mut session = connected_by(connack(Version::V5_0), Version::V5_0, now);
    session.bytes_sent(usize::MAX, now);
    session.subscribe(&broker(), now).unwrap();
    let (subscribe, _) = v5_0::Subscribe::parse(body(session.out())).unwrap();
    let (retained, others): (Vec<&SubEntry>, Vec<&SubEntry>) = subscribe
        .entries()
        .iter()
        .partition(|entry| entry.sub_opts().rh() == RetainHandling::SendRetained);
    let retained: Vec<&str> = retained.iter().map(|entry| entry.topic_filter()).collect();
    assert_eq!(
        retained,
        [
            "papertick/papertick-aabbcc/desired",
            "papertick/group/all/desired",
        ]
    );
    let is_excluded =
        |entry: &&SubEntry| entry.sub_opts().rh() == RetainHandling::DoNotSendRetained;
    assert!(
        !others.is_empty() && others.iter().all(is_excluded),
        "{others:?}"
    );
}

#[test]
fn without_qos_1_messages_are_sent_with_qos_0() {
    let now = Instant::now();
    // The maximum QoS is 0.
    let limits = [0x20, 0x05, 0x00, 0x00, 0x02, 0x24, 0x00];
    let mut session = connected_by(&limits, Version::V5_0, now);
    for _ in 0..2 * IN_FLIGHT_MAX {
        session.bytes_sent(usize::MAX, now);
        assert!(session.has_room());
        assert_eq!(session.publish(message(1), now), Ok(()));
        // PUBLISH, QoS 0, retained.
        assert_eq!(session.out()[0], 0x31);
    }
    assert!(session.is_all_acknowledged());
}

#[test]
fn the_limits_of_the_broker_are_respected() {
    let now = Instant::now();
    // Receive maximum 2, maximum packet size 64, no retained messages.
    let limits = [
        0x20, 0x0D, 0x00, 0x00, 0x0A, 0x21, 0x00, 0x02, 0x27, 0x00, 0x00, 0x00, 0x40, 0x25, 0x00,
    ];
    let mut session = connected_by(&limits, Version::V5_0, now);
    session.bytes_sent(usize::MAX, now);
    assert_eq!(
        session.publish(message(100), now),
        Err(PublishError::TooLarge)
    );
    assert!(session.out().is_empty() && session.is_all_acknowledged());
    for _ in 0..2 {
        assert!(session.has_room());
        assert_eq!(session.publish(message(1), now), Ok(()));
    }
    assert!(!session.has_room());
    // PUBLISH, QoS 1, not retained.
    assert_eq!(session.out()[0], 0x32);
    let puback = [0x40, 0x02, 0x00, session.out()[8]];
    assert_eq!(session.receive(&puback, now), Ok(Vec::new()));
    assert!(session.has_room());
}

#[test]
fn the_keep_alive_of_the_broker_counts() {
    let now = Instant::now();
    // Server keep alive 10 s.
    let keep_alive = [0x20, 0x06, 0x00, 0x00, 0x03, 0x13, 0x00, 0x0A];
    let mut session = connected_by(&keep_alive, Version::V5_0, now);
    session.subscribe(&broker(), now).unwrap();
    session.receive(&SUBACK_5, now).unwrap();
    assert_eq!(session.next_deadline(), Some(now + Duration::from_secs(10)));
}

#[test]
fn a_missing_puback_ends_the_session() {
    let now = Instant::now();
    let mut session = connected(Version::V3_1_1, now);
    session.receive(&SUBACK_3, now).unwrap();
    session.publish(message(1), now).unwrap();
    // The timeout starts when the whole packet is sent.
    session.bytes_sent(1, now);
    assert!(session.advance(now + RESPONSE_TIMEOUT).is_ok());
    let now = now + RESPONSE_TIMEOUT;
    session.bytes_sent(usize::MAX, now);
    assert_eq!(session.next_deadline(), Some(now + RESPONSE_TIMEOUT));
    let end = session.advance(now + RESPONSE_TIMEOUT);
    assert!(matches!(end, Err(ProtocolEnd::Failed(reason)) if reason.contains("did not respond")));
}

#[test]
fn the_timeout_of_a_ping_starts_when_it_is_sent() {
    for version in VERSIONS {
        let start = Instant::now();
        let mut session = connected(version, start);
        session.receive(suback(version), start).unwrap();
        session.bytes_sent(usize::MAX, start);
        let message = OutgoingMessage {
            qos1: false,
            ..message(16 * 1024)
        };
        session.publish(message, start).unwrap();
        let long = session.out().len();
        let mut now = session.next_deadline().unwrap();
        session.advance(now).unwrap();
        assert_eq!(session.out()[long..], [0xC0, 0x00]);
        // The slowest connection that is kept.
        for _ in 0..4 {
            now += Duration::from_secs(30);
            assert_eq!(session.advance(now), Ok(()));
            session.bytes_sent(4 * 1024, now);
        }
        session.bytes_sent(long - 16 * 1024 + 1, now);
        now += RESPONSE_TIMEOUT;
        assert_eq!(session.advance(now), Ok(()));
        session.bytes_sent(usize::MAX, now);
        let late = now + RESPONSE_TIMEOUT;
        assert_eq!(session.advance(late - Duration::from_millis(1)), Ok(()));
        assert!(session.advance(late).is_err());
    }
}

#[test]
fn later_messages_do_not_extend_the_deadline_of_a_puback() {
    let start = Instant::now();
    let mut session = connected(Version::V3_1_1, start);
    session.receive(&SUBACK_3, start).unwrap();
    let mut now = start;
    for _ in 0..3 {
        session.publish(message(1), now).unwrap();
        session.bytes_sent(usize::MAX, now);
        now += RESPONSE_TIMEOUT / 4;
    }
    assert_eq!(session.pending.deadline(), Some(start + RESPONSE_TIMEOUT));
    // The time for the second PUBACK starts with the first one.
    session.receive(&[0x40, 0x02, 0x00, 0x02], now).unwrap();
    assert_eq!(session.pending.deadline(), Some(now + RESPONSE_TIMEOUT));
}

#[test]
fn a_message_is_acknowledged_by_its_packet_id() {
    for version in VERSIONS {
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
        session.bytes_sent(usize::MAX, now);
        assert_eq!(session.receive(&publish(2, 7), now).unwrap().len(), 1);
        assert_eq!(session.out()[..4], [0x40, 0x02, 0x00, 0x07]);
        // Without a packet id, or with QoS 2.
        for (flags, id) in [(2, 0), (4, 0), (4, 7)] {
            let end = connected(version, now).receive(&publish(flags, id), now);
            assert!(
                matches!(&end, Err(ProtocolEnd::Failed(reason)) if reason.contains("violated")),
                "{end:?}"
            );
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_handled(
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
            let _ = session.publish(message(3), now);
        }
        let _ = session.advance(now + RESPONSE_TIMEOUT);
    }

    /// Packets of every type whose length is right.
    #[test]
    fn any_packet_is_handled(
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
            let _ = session.publish(message(3), now);
        }
    }
}
