//! Connecting, choosing the version of MQTT, detecting a broken connection, and disconnecting.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use device::{input::Input, request::Request, secret::Secret, settings::Settings, view::View};
use mqtt_protocol_core::mqtt::{
    Version,
    result_code::{ConnectReasonCode, ConnectReturnCode},
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use runtime::log_lines::LogLines;
use rustls::{ServerConfig, pki_types::PrivateKeyDer};
use serde_json::json;
use tokio::time::{Instant, sleep};
use tokio_rustls::TlsAcceptor;
use tracing_subscriber::filter::LevelFilter;

use super::{
    OWN, Rig, in_memory, observe, price, settings, settled,
    test_broker::{Published, TestBroker},
};
use crate::logged::Logged;

/// Bytes that a connection in memory buffers.
const CONNECTION_BUFFER: usize = 64 * 1024;

#[tokio::test(start_paused = true)]
async fn a_port_in_the_host_setting_wins() {
    for (host, port, address) in [
        ("broker", 0, "broker:1883"),
        ("broker", 1999, "broker:1999"),
        ("broker:1884", 0, "broker:1884"),
        ("broker:1884", 1999, "broker:1884"),
        ("[fd00::7]:1884", 0, "[fd00::7]:1884"),
        ("[fd00::7]", 0, "[fd00::7]:1883"),
    ] {
        let (rig, mut arrivals) = in_memory(settings(host, port)).await;
        assert_eq!(arrivals.recv().await.unwrap().place, address);
        rig.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_connection_uses_the_proxy() {
    let proxied = Settings {
        proxy_enabled: true,
        proxy_type: 4,
        proxy_host: "proxy".into(),
        ..settings("broker.example", 0)
    };
    let (rig, mut arrivals) = in_memory(proxied).await;
    assert_eq!(arrivals.recv().await.unwrap().place, "proxy:1080");
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_stays_up() {
    let (rig, _arrivals, mut broker) = settled(settings("broker", 0)).await;
    broker.all_within(Duration::from_secs(1000)).await;
    let state = rig.view().mqtt.clone();
    assert!(state.as_ref().is_some_and(|state| state.up), "{state:?}");
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_broker_without_mqtt_5_gets_3_1_1() {
    // Some brokers refuse with a CONNACK of MQTT 5, others with one of 3.1.1.
    let refusals: [(bool, &[u8]); 2] = [(true, &[]), (false, &[0x20, 0x02, 0x00, 0x01])];
    for (is_mqtt_5, bytes) in refusals {
        let (rig, mut arrivals) = in_memory(settings("broker", 0)).await;
        let mut first = TestBroker::receive_connect(&mut arrivals).await;
        assert_eq!(first.version(), Version::V5_0);
        if is_mqtt_5 {
            first
                .connack(
                    ConnectReasonCode::UnsupportedProtocolVersion,
                    ConnectReturnCode::Accepted,
                )
                .await;
        }
        first.send_bytes(bytes).await;
        let mut second = TestBroker::accept(&mut arrivals).await;
        assert_eq!(second.version(), Version::V3_1_1);
        second.on(&format!("{OWN}/state")).await;
        second.publish(&format!("{OWN}/cmd/screen/next"), "").await;
        second.on(&format!("{OWN}/result")).await;
        rig.stop().await;
    }
}

/// Some brokers close the connection if they do not support the version.
#[tokio::test(start_paused = true)]
async fn after_two_connections_without_connack_the_other_version_is_used() {
    let (rig, mut arrivals) = in_memory(settings("broker", 0)).await;
    let mut next = async || TestBroker::receive_connect(&mut arrivals).await;
    // One closes the connection, and one keeps it open and silent.
    assert_eq!(next().await.version(), Version::V5_0);
    let silent = next().await;
    assert_eq!(silent.version(), Version::V5_0);
    let mut third = next().await;
    assert_eq!(third.version(), Version::V3_1_1);
    third.accept_session().await;
    rig.wait_until_up().await;
    // The version is kept for this broker, whatever ends the connection.
    rig.patch(json!({ "mqttKeepAlive": 61 })).await;
    let mut fourth = next().await;
    assert_eq!(fourth.version(), Version::V3_1_1);
    fourth.accept_session().await;
    rig.wait_until_up().await;
    drop(fourth);
    // If it does not support 3.1.1 any more, 5 is tried again.
    for _ in 0..2 {
        assert_eq!(next().await.version(), Version::V3_1_1);
    }
    assert_eq!(next().await.version(), Version::V5_0);
    rig.patch(json!({ "mqttProtocol": 1 })).await;
    for _ in 0..3 {
        assert_eq!(next().await.version(), Version::V5_0);
    }
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_faulty_broker_is_reported_and_retried() {
    #[rustfmt::skip]
    let rows: [(&[u8], &str); 6] = [
        (b"", "did not respond within 20 s"),
        (&[0x20, 0x03, 0x00, 0x87, 0x00], "refused the connection: not authorized"),
        // The header of a packet of 2 MB.
        (&[0x30, 0xFF, 0xFF, 0x7F, 0x00], "a message of more than 20480 bytes"),
        (&[0x20, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], "violated the protocol"),
        (&[0x00, 0x00], "violated the protocol"),
        // In MQTT this is the beginning of a packet. Not after the other silent broker: that would change the version.
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "did not respond within 20 s"),
    ];
    let (rig, mut arrivals) = in_memory(settings("broker", 0)).await;
    for (bytes, expected) in rows {
        let mut broker = TestBroker::receive_connect(&mut arrivals).await;
        broker.send_bytes(bytes).await;
        // The error of the broker before may be the same.
        let is_retried = |view: &View| {
            view.mqtt.as_ref().is_some_and(|state| {
                let error = state.last_error.as_deref();
                error.is_some_and(|error| error.contains(expected)) && state.next_try.is_some()
            })
        };
        rig.wait_for(expected, is_retried).await;
    }
    // The backoff starts again for another broker.
    rig.patch(json!({ "mqttHost": "other" })).await;
    let mut broker = TestBroker::receive_connect(&mut arrivals).await;
    broker.send_bytes(&[0x00, 0x00]).await;
    let start = Instant::now();
    let _broker = TestBroker::accept(&mut arrivals).await;
    let waited = start.elapsed();
    assert!(waited < Duration::from_secs(7), "{waited:?}");
    rig.wait_until_up().await;
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn refusals_by_the_broker_are_reported() {
    let (rig, mut arrivals) = in_memory(settings("broker", 0)).await;
    let mut broker = TestBroker::receive_connect(&mut arrivals).await;
    broker.accept_except(&[1]).await;
    let filter = &broker.filters[1];
    let view = rig
        .wait_for_error(&format!("the broker refused the subscription to {filter}"))
        .await;
    // The connection stays up: the other filters and publishing are still of use.
    assert!(view.mqtt.as_ref().is_some_and(|state| state.up));

    broker.refuse_publishes();
    broker.all_within(Duration::from_secs(15)).await;
    rig.wait_for_error("the broker refused a published message: not authorized")
        .await;
    rig.wait_for("dropped", |view| {
        let state = view.mqtt.as_ref();
        state.is_some_and(|state| state.dropped.contains_key("not-taken"))
    })
    .await;
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_reason_is_logged_once_per_outage() {
    let log = Logged::from_now(LevelFilter::INFO, &LogLines::new());
    let (rig, mut arrivals) = in_memory(settings("broker", 0)).await;
    for _ in 0..2 {
        for _ in 0..3 {
            TestBroker::receive_connect(&mut arrivals)
                .await
                .send_bytes(&[0x00, 0x00])
                .await;
        }
        let broker = TestBroker::accept(&mut arrivals).await;
        rig.wait_until_up().await;
        drop(broker);
    }
    rig.stop().await;
    let log = log.lines();
    let logged = log
        .iter()
        .filter(|line| line.contains("violated the protocol"));
    assert_eq!(logged.count(), 2, "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn a_silent_broker_is_detected_by_a_ping() {
    let (rig, mut arrivals, _broker) = settled(settings("broker", 0)).await;
    let start = Instant::now();
    let is_down = |view: &View| view.mqtt.as_ref().is_some_and(|state| !state.up);
    // Messages with QoS 0 do not postpone the ping.
    let changing = async {
        for round in 0.. {
            observe(&rig, price(60_000 + round)).await;
            sleep(Duration::from_secs(1)).await;
        }
    };
    tokio::select! {
        () = changing => {}
        _ = rig.wait_for("down", is_down) => {}
    }
    // The ping after a minute has a timeout of 20 s.
    assert!(
        start.elapsed() <= Duration::from_secs(81),
        "{:?}",
        start.elapsed()
    );
    TestBroker::accept(&mut arrivals).await;
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_stops_reading_is_disconnected() {
    let without_pings = Settings {
        mqtt_keep_alive: 3600,
        ..settings("broker", 0)
    };
    let (rig, mut arrivals, _broker) = settled(without_pings).await;
    publish_until_disconnected(&rig).await;
    TestBroker::accept(&mut arrivals).await;
    rig.stop().await;
}

/// TLS accepts data that it cannot send; what is in its buffer does not count as sent.
#[tokio::test(start_paused = true)]
async fn with_tls_a_broker_that_stops_reading_is_disconnected_as_soon() {
    let (authority, acceptor) = tls_server("broker");
    let with_tls = Settings {
        mqtt_tls: true,
        mqtt_ca: Secret::new(&authority),
        // No pings during the test.
        mqtt_keep_alive: 3600,
        ..settings("broker", 0)
    };
    let (rig, mut arrivals) = in_memory(with_tls).await;
    let arrival = arrivals.recv().await.unwrap();
    let stream = acceptor.accept(arrival.stream).await.unwrap();
    let mut broker = TestBroker::on_stream(Box::new(stream)).await;
    broker.accept_session().await;
    let messages = broker.all_within(Duration::from_secs(15)).await;
    let is_state = |message: &&Published| message.topic == format!("{OWN}/state");
    let size = messages.iter().rfind(is_state).unwrap().payload.len();
    let start = Instant::now();
    publish_until_disconnected(&rig).await;
    // One state per second fills the buffer of the connection. TLS would accept as much again.
    let full = Duration::from_secs((CONNECTION_BUFFER / size) as u64 + 1);
    let waited = start.elapsed();
    assert!(waited > Duration::from_secs(30), "{waited:?}");
    assert!(
        waited <= full + Duration::from_secs(31),
        "{waited:?}, {full:?}"
    );
    rig.stop().await;
}

/// Changes the state once a second until the clock disconnects because the broker does not read.
async fn publish_until_disconnected(rig: &Rig) {
    let changing = async {
        for round in 0.. {
            let text = Request::ShowText(format!("{}", round % 1000));
            rig.inbox.request(text).await.unwrap().unwrap();
            sleep(Duration::from_secs(1)).await;
        }
    };
    tokio::select! {
        () = changing => {}
        _ = rig.wait_for_error("accepted no data for 30 s") => {}
    }
}

/// A CA certificate, and a TLS server with a certificate of that CA.
fn tls_server(name: &str) -> (String, TlsAcceptor) {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    (authority.pem(), TlsAcceptor::from(Arc::new(config)))
}

#[tokio::test(start_paused = true)]
async fn switching_mqtt_off_removes_the_retained_messages() {
    let (rig, mut arrivals) = in_memory(settings("broker", 0)).await;
    let mut broker = TestBroker::accept(&mut arrivals).await;
    let published = broker.all_within(Duration::from_secs(8)).await;
    let published: BTreeSet<String> = published.into_iter().map(|message| message.topic).collect();
    rig.patch(json!({ "mqttEnabled": false })).await;
    let last = broker.all_within(Duration::from_secs(5)).await;
    let removed = last
        .iter()
        .filter(|message| message.retain && message.payload.is_empty());
    let removed: BTreeSet<String> = removed.map(|message| message.topic.clone()).collect();
    let remaining: Vec<_> = published.difference(&removed).collect();
    assert_eq!(remaining, Vec::<&String>::new());
    assert_eq!(rig.view().mqtt, None);

    rig.patch(json!({ "mqttEnabled": true })).await;
    let mut broker = TestBroker::accept(&mut arrivals).await;
    broker.all_within(Duration::from_secs(8)).await;
    rig.patch(json!({ "mqttBase": "home/clocks", "haDiscovery": false }))
        .await;
    let last = broker.all_within(Duration::from_secs(5)).await;
    let is_removed = |topic: &str| {
        last.iter()
            .any(|message| message.topic == topic && message.payload.is_empty())
    };
    assert!(is_removed("homeassistant/device/papertick-aabbcc/config"));
    assert!(is_removed(&format!("{OWN}/state")));
    let mut broker = TestBroker::accept(&mut arrivals).await;
    broker.on("home/clocks/papertick-aabbcc/state").await;
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn changing_the_broker_removes_the_retained_messages() {
    for (change, topic) in [
        (json!({ "mqttHost": "other" }), "state"),
        (json!({ "mqttPort": 1999 }), "settings"),
    ] {
        let (rig, mut arrivals, mut broker) = settled(settings("broker", 0)).await;
        rig.patch(change).await;
        let last = broker.all_within(Duration::from_secs(5)).await;
        let topic = format!("{OWN}/{topic}");
        let is_removed = |message: &Published| message.topic == topic && message.payload.is_empty();
        assert!(last.iter().any(is_removed), "{last:?}");
        let mut broker = TestBroker::accept(&mut arrivals).await;
        broker.on(&topic).await;
        rig.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn safe_mode_disconnects() {
    let (rig, _arrivals, _broker) = settled(settings("broker", 0)).await;
    assert!(rig.view().mqtt.as_ref().is_some_and(|state| state.up));
    rig.send(Input::SafeMode("a test".into())).await;
    assert!(rig.view().mqtt.as_ref().is_some_and(|state| !state.up));
    rig.stop().await;
}
