//! Fuzzes the bytes that a broker sends in a session, in both versions of MQTT, and the commands in its messages.
#![no_main]
#![allow(dead_code)]

#[path = "../../crates/mqtt/src/protocol/mod.rs"]
mod protocol;

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use api::mqtt::{commands, topics};
use device::{
    device::Device,
    input::{Input, LinkEvent},
    memory::Memory,
    mqtt::{Broker, MqttPlan},
    secret::{Endpoint, Secret},
    settings::Settings,
    view::View,
};
use market::now::Now;
use mqtt_protocol_core::mqtt::Version;
use tokio::time::Instant;

use protocol::{OutgoingMessage, ProtocolSession, SessionEvent, packet_max};

const NOW: Now = Now {
    uptime: Duration::ZERO,
    utc: None,
};

fn clock() -> Device {
    let settings = Settings {
        mqtt_enabled: true,
        mqtt_host: Endpoint::new("broker"),
        mqtt_groups: "shop".into(),
        ..Settings::default()
    };
    let mut clock = Device::new(board::spec::BOARDS[0], settings, Memory::default(), NOW);
    let identity = LinkEvent::Identity {
        suffix: "aabbcc".into(),
        password: Secret::default(),
    };
    for event in [LinkEvent::Unmanaged, identity] {
        clock.handle(Input::Linked(event), NOW);
    }
    clock
}

static WORLD: LazyLock<(View, Arc<Broker>)> = LazyLock::new(|| {
    let clock = clock();
    match clock.desired().mqtt {
        MqttPlan::On(broker) => (clock.view(), broker),
        MqttPlan::Off | MqttPlan::Paused => panic!("MQTT is off"),
    }
});

/// A message of the clock with QoS 1.
fn message() -> OutgoingMessage {
    OutgoingMessage {
        topic: "papertick/papertick-aabbcc/status".into(),
        payload: b"online".to_vec(),
        retain: true,
        qos1: true,
        correlation: Some(b"x".to_vec()),
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else {
        return;
    };
    let (view, broker) = &*WORLD;
    let version = if first % 2 == 0 {
        Version::V5_0
    } else {
        Version::V3_1_1
    };
    let now = Instant::now();
    let mut session = ProtocolSession::new(broker, version, now).expect("CONNECT can be encoded");
    // The broker accepts the connection, or the bytes begin with another packet.
    let connack: &[u8] = match (first % 4, version) {
        (0 | 1, Version::V5_0) => &[0x20, 0x03, 0x00, 0x00, 0x00],
        (0 | 1, Version::V3_1_1) => &[0x20, 0x02, 0x00, 0x00],
        (_, _) => &[],
    };
    let piece = usize::from(first / 4).max(1);
    for piece in [connack].into_iter().chain(bytes.chunks(piece)) {
        let Ok(events) = session.receive(piece, now) else {
            return;
        };
        for event in events {
            match event {
                SessionEvent::Connected => {
                    // SUBSCRIBE may exceed the broker's maximum packet size.
                    if session.subscribe(broker, now).is_err() {
                        return;
                    }
                }
                SessionEvent::Message(message) => {
                    assert!(message.payload.len() <= packet_max(version) as usize);
                    let topic = topics::parse(&message.topic, broker);
                    if let Some(topic) = topic {
                        let _ = commands::parse(topic, &message.payload, view);
                    }
                    let _ = commands::parse_retained_settings(&message.payload, view);
                    if let Some(response) = message.response {
                        let _ = topics::is_response_topic_allowed(&response.topic, broker);
                    }
                }
                SessionEvent::Subscribed(_) | SessionEvent::PublishRefused(_) => {}
            }
        }
        if session.has_room() {
            let _ = session.publish(message(), now);
        }
        let _ = session.next_deadline();
        let count = session.out().len();
        session.bytes_sent(count, now);
    }
    let _ = session.advance(now + Duration::from_secs(60));
});
