//! What is said between clock and broker, in virtual time.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use device::{
    input::{Input, LinkEvent, LinkFailure, UpdateEvent},
    output::{Effect, RebootReason},
    request::Request,
    secret::Secret,
    settings::Settings,
};
use market::{
    Direction, Observation, Payment,
    source_id::SourceId,
    units::{Currency, Msats, Price},
};
use mqtt_protocol_core::mqtt::{
    Version,
    result_code::{ConnectReasonCode, ConnectReturnCode},
};
use net::{
    dialer::{Arrival, Dialer},
    tls::Roots,
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use runtime::{clock::Clock, log_lines::LogLines};
use rustls::{ServerConfig, pki_types::PrivateKeyDer};
use serde_json::{Value, json};
use tokio::{
    sync::mpsc::{self, error::TryRecvError},
    time::{Instant, sleep},
};
use tokio_rustls::TlsAcceptor;
use tracing_subscriber::filter::LevelFilter;

use super::{
    OWN, Rig, json as read,
    peer::{Heard, Peer},
    settings,
};
use crate::logged::Logged;

/// A moment that a clock may be set to.
const START_MS: i64 = 1_767_225_600_000;

async fn rig(settings: Settings) -> (Rig, mpsc::Receiver<Arrival>) {
    let (arrive, arrivals) = mpsc::channel(4);
    let rig = Rig::new(Dialer::in_memory(Roots::public(), arrive), settings).await;
    (rig, arrivals)
}

/// A clock and its broker, which has heard all that the clock tells at first.
async fn settled(settings: Settings) -> (Rig, mpsc::Receiver<Arrival>, Peer) {
    let (rig, mut arrivals) = rig(settings).await;
    let mut peer = Peer::accept(&mut arrivals).await;
    // By then the splash is over.
    peer.all_in(Duration::from_secs(15)).await;
    (rig, arrivals, peer)
}

async fn learn(rig: &Rig, observation: Observation) {
    rig.tell(Input::Observed(SourceId::Relay, vec![observation]))
        .await;
}

fn price(dollars: u32) -> Observation {
    Observation::Price(Currency::USD, Price::parse(&dollars.to_string()).unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_clock_tells_what_it_is_before_how_it_is() {
    let (rig, mut arrivals) = rig(settings("broker", 0)).await;
    let mut peer = Peer::accept(&mut arrivals).await;
    assert_eq!(
        peer.will,
        Some((format!("{OWN}/status"), b"offline".to_vec()))
    );
    for filter in ["cmd/#", "set", "desired"] {
        assert!(peer.filters.contains(&format!("{OWN}/{filter}")));
        assert!(
            peer.filters
                .contains(&format!("papertick/group/all/{filter}"))
        );
    }
    let told = peer.all_in(Duration::from_secs(2)).await;
    let topics: Vec<&str> = told.iter().map(|heard| heard.topic.as_str()).collect();
    let place = |topic: &str| topics.iter().position(|told| *told == topic);
    let discovery = place("homeassistant/device/papertick-aabbcc/config").unwrap();
    let status = place(&format!("{OWN}/status")).unwrap();
    let state = place(&format!("{OWN}/state")).unwrap();
    assert!(discovery < status && status < state, "{topics:?}");
    for leaf in [
        "info",
        "settings",
        "light/strip",
        "light/1",
        "light/front",
        "market",
    ] {
        assert!(
            place(&format!("{OWN}/{leaf}")).is_some(),
            "{leaf}: {topics:?}"
        );
    }
    assert!(told.iter().all(|heard| heard.is_retained));
    assert!(told[discovery].is_acknowledged && told[status].is_acknowledged);
    assert_eq!(told[status].payload, b"online");
    rig.up().await;
    // Nothing changes once the splash is over, and nothing is told.
    peer.all_in(Duration::from_secs(15)).await;
    let again = peer.all_in(Duration::from_secs(30)).await;
    assert_eq!(again, []);
    rig.stop().await;
    let last: Vec<_> = peer.all_in(Duration::from_secs(5)).await;
    let last: Vec<_> = last
        .iter()
        .map(|heard| (heard.topic.as_str(), heard.payload.as_slice()))
        .collect();
    assert_eq!(
        last,
        [(format!("{OWN}/status").as_str(), b"offline".as_slice())]
    );
}

#[tokio::test(start_paused = true)]
async fn a_broker_is_looked_for_where_the_owner_says() {
    for (host, port, place) in [
        ("broker", 0, "broker:1883"),
        ("broker", 1999, "broker:1999"),
        // The port beside the host counts.
        ("broker:1884", 0, "broker:1884"),
        ("broker:1884", 1999, "broker:1884"),
        ("[fd00::7]:1884", 0, "[fd00::7]:1884"),
        ("[fd00::7]", 0, "[fd00::7]:1883"),
    ] {
        let (rig, mut arrivals) = rig(settings(host, port)).await;
        assert_eq!(arrivals.recv().await.unwrap().place, place);
        rig.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_broker_is_reached_by_the_proxy_of_the_owner() {
    let proxied = Settings {
        proxy_enabled: true,
        proxy_type: 4,
        proxy_host: "proxy".into(),
        ..settings("broker.example", 0)
    };
    let (rig, mut arrivals) = rig(proxied).await;
    assert_eq!(arrivals.recv().await.unwrap().place, "proxy:1080");
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn where_the_page_is_is_told_with_its_port() {
    let (rig, _arrivals, mut peer) = settled(settings("broker", 0)).await;
    for (ip, page) in [
        ("192.0.2.7", "http://192.0.2.7:8080/"),
        ("fd00::7", "http://[fd00::7]:8080/"),
    ] {
        let (ip, ssid) = (ip.into(), None);
        rig.tell(Input::Linked(LinkEvent::Up { ip, ssid })).await;
        let told = peer.all_in(Duration::from_secs(10)).await;
        let on = |topic: &str| {
            let heard = told.iter().find(|heard| heard.topic == topic);
            read(&heard.unwrap().payload)
        };
        assert_eq!(on(&format!("{OWN}/info"))["page"], page);
        let discovery = on("homeassistant/device/papertick-aabbcc/config");
        assert_eq!(discovery["dev"]["cu"], page);
    }
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_quiet_connection_stays() {
    let (rig, _arrivals, mut peer) = settled(settings("broker", 0)).await;
    peer.all_in(Duration::from_secs(1000)).await;
    let state = rig.view().mqtt.clone();
    assert!(state.as_ref().is_some_and(|state| state.up), "{state:?}");
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_for_is_done_and_answered() {
    let (rig, _arrivals, mut peer) = settled(settings("broker", 0)).await;
    let result = format!("{OWN}/result");
    peer.say(
        &format!("{OWN}/cmd/show/text"),
        r#"{"t": "HODL", "id": "a7"}"#,
    )
    .await;
    let told = read(&peer.on(&result).await.payload);
    assert_eq!(
        (&told["cmd"], &told["id"], &told["status"]),
        (&json!("show/text"), &json!("a7"), &json!(200))
    );
    rig.until("shown", |view| view.mode == "custom").await;

    peer.say(&format!("{OWN}/set"), r#"{"ledBrightness": 300}"#)
        .await;
    let told = read(&peer.on(&result).await.payload);
    assert_eq!(
        (&told["status"], &told["error"]),
        (&json!(400), &json!("range:ledBrightness"))
    );
    peer.say(&format!("{OWN}/cmd/nothing"), "").await;
    assert_eq!(read(&peer.on(&result).await.payload)["status"], 404);
    rig.dropped("refused", 2).await;

    peer.ask(
        &format!("{OWN}/set"),
        r#"{"ledBrightness": 3}"#,
        "tools/7",
        b"mine",
    )
    .await;
    // The settings are told at once, before or after it.
    let told = peer.all_in(Duration::from_secs(5)).await;
    let on = |topic: &str| told.iter().find(|heard| heard.topic == topic).unwrap();
    let answer = on("tools/7");
    assert_eq!(answer.correlation.as_deref(), Some(b"mine".as_slice()));
    assert_eq!(read(&answer.payload)["status"], 200);
    assert_eq!(rig.view().settings.led_brightness, 3);
    assert_eq!(
        read(&on(&format!("{OWN}/settings")).payload)["ledBrightness"],
        3
    );
    // An answer does not go to another clock.
    peer.ask(
        &format!("{OWN}/cmd/screen/next"),
        "",
        "papertick/other/cmd/restart",
        b"x",
    )
    .await;
    assert_eq!(peer.on(&result).await.correlation, None);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_release_is_asked_for_in_the_words_of_http() {
    let (rig, _arrivals, mut peer) = settled(settings("broker", 0)).await;
    let topic = format!("{OWN}/cmd/firmware/auto_update");
    peer.say(&topic, r#"{"id": 5}"#).await;
    let told = read(&peer.on(&format!("{OWN}/result")).await.payload);
    assert_eq!(
        (&told["cmd"], &told["id"], &told["status"], &told["error"]),
        (
            &json!("firmware/auto_update"),
            &json!(5),
            &json!(503),
            &json!("ESP_ERR_OTA_VALIDATE_FAILED")
        )
    );
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn how_the_host_is_is_told_once_a_minute() {
    let (rig, mut arrivals) = rig(settings("broker", 0)).await;
    let mut peer = Peer::accept(&mut arrivals).await;
    let told = peer.all_in(Duration::from_secs(2)).await;
    let of = |told: &[super::peer::Heard], leaf: &str| -> Vec<Vec<u8>> {
        let topic = format!("{OWN}/{leaf}");
        let heard = told.iter().filter(|heard| heard.topic == topic);
        heard.map(|heard| heard.payload.clone()).collect()
    };
    // Nobody is trusted here, and nothing says that anything could be installed.
    assert_eq!(of(&told, "update"), [b""]);
    let [host] = of(&told, "host").try_into().unwrap();
    let host = read(&host);
    assert!(host["memoryFree"].as_u64().is_some_and(|bytes| bytes > 0));
    assert_eq!(
        (&host["mqttDropped"], &host["startedAt"]),
        (&json!(0), &Value::Null)
    );
    // No two readings of memory need differ; what was dropped does.
    let mut told = Vec::new();
    for _ in 0..10 {
        peer.say("papertick/other/cmd/restart", "").await;
        told.extend(peer.all_in(Duration::from_secs(60)).await);
    }
    let hosts = of(&told, "host");
    let dropped: Vec<_> = hosts
        .iter()
        .filter_map(|host| read(host)["mqttDropped"].as_u64())
        .collect();
    assert_eq!(dropped, Vec::from_iter(1..=10));
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn when_the_clock_was_started_does_not_change_as_time_passes() {
    let clock = Clock::unset();
    let (arrive, mut arrivals) = mpsc::channel(4);
    let dialer = Dialer::in_memory(Roots::public(), arrive);
    let disk = lab::sim_disk::SharedDisk::default();
    let rig = Rig::at(clock.clone(), dialer, settings("broker", 0), disk).await;
    let mut peer = Peer::accept(&mut arrivals).await;
    // A time server is never quite sure.
    for off_ms in [300, -300, 20_000, -20_000, 0] {
        let up_ms = i64::try_from(clock.uptime().as_millis()).unwrap();
        clock.set(START_MS + up_ms + off_ms);
        // What is dropped is told, and the start with it.
        peer.say("papertick/other/cmd/restart", "").await;
        let host = read(&peer.on(&format!("{OWN}/host")).await.payload);
        assert_eq!(host["startedAt"], START_MS / 1000, "{off_ms}");
    }
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn updates_are_offered_once_somebody_is_trusted() {
    let (rig, mut arrivals) = rig(settings("broker", 0)).await;
    let mut peer = Peer::accept(&mut arrivals).await;
    let discovery = "homeassistant/device/papertick-aabbcc/config";
    let offers = |heard: &Heard| !read(&heard.payload)["cmps"]["firmware"]["name"].is_null();
    assert!(!offers(&peer.on(discovery).await));
    peer.all_in(Duration::from_secs(15)).await;
    let keys = rig.folder.path().join("update-keys");
    std::fs::create_dir(&keys).unwrap();
    let key = minisign::KeyPair::generate_unencrypted_keypair()
        .unwrap()
        .pk;
    std::fs::write(keys.join("me.pub"), key.to_box().unwrap().to_string()).unwrap();
    let told = peer.all_in(Duration::from_secs(60)).await;
    let on = |topic: &str| told.iter().find(|heard| heard.topic == topic).unwrap();
    assert!(offers(on(discovery)));
    let update = read(&on(&format!("{OWN}/update")).payload);
    assert_eq!(update["installed_version"], "4.0.0");
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_left_there_is_not_done() {
    let (rig, _arrivals, mut peer) = settled(settings("broker", 0)).await;
    peer.keep(&format!("{OWN}/cmd/show/text"), r#"{"t": "HODL", "id": 7}"#)
        .await;
    peer.say("papertick/other/cmd/restart", r#"{"id": 8}"#)
        .await;
    peer.say(
        &format!("{OWN}/set"),
        &format!(r#"{{"id": 9, "poolWorker": "{}"}}"#, "x".repeat(17_000)),
    )
    .await;
    rig.dropped("retained", 1).await;
    rig.dropped("foreign-topic", 1).await;
    rig.dropped("too-large", 1).await;
    let told = peer.all_in(Duration::from_secs(2)).await;
    let result = format!("{OWN}/result");
    let told = told.iter().filter(|heard| heard.topic == result);
    let told: Vec<String> = told
        .map(|heard| {
            let told = read(&heard.payload);
            format!(
                "{} {} {} {}",
                told["cmd"], told["id"], told["status"], told["error"]
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            r#""show/text" 7 409 "retained""#,
            r#""papertick/other/cmd/restart" 8 404 "foreign topic""#,
            r#""set" 9 413 "too large""#,
        ]
    );
    // Taking it away again is nothing that is asked.
    peer.keep(&format!("{OWN}/cmd/screen/next"), "").await;
    assert!(peer.all_in(Duration::from_secs(2)).await.is_empty());
    assert_ne!(rig.view().mode, "custom");
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_knows_no_5_is_spoken_to_in_3() {
    let refusals: [(bool, &[u8]); 2] = [(true, &[]), (false, &[0x20, 0x02, 0x00, 0x01])];
    for (in_its_words, bytes) in refusals {
        let (rig, mut arrivals) = rig(settings("broker", 0)).await;
        let mut first = Peer::greeted(&mut arrivals).await;
        assert_eq!(first.version(), Version::V5_0);
        if in_its_words {
            first
                .answer(
                    ConnectReasonCode::UnsupportedProtocolVersion,
                    ConnectReturnCode::Accepted,
                )
                .await;
        }
        first.shout(bytes).await;
        let mut second = Peer::accept(&mut arrivals).await;
        assert_eq!(second.version(), Version::V3_1_1);
        second.on(&format!("{OWN}/state")).await;
        second.say(&format!("{OWN}/cmd/screen/next"), "").await;
        second.on(&format!("{OWN}/result")).await;
        rig.stop().await;
    }
}

/// Some brokers close the connection when they do not know the version.
#[tokio::test(start_paused = true)]
async fn a_broker_that_closes_twice_without_an_answer_is_spoken_to_in_3_from_then_on() {
    let (rig, mut arrivals) = rig(settings("broker", 0)).await;
    let mut next = async || Peer::greeted(&mut arrivals).await;
    for _ in 0..2 {
        assert_eq!(next().await.version(), Version::V5_0);
    }
    let mut third = next().await;
    assert_eq!(third.version(), Version::V3_1_1);
    third.let_in().await;
    rig.up().await;
    // Known of this broker from then on, whatever ends the connection.
    rig.set(json!({ "mqttKeepAlive": 61 })).await;
    let mut known = next().await;
    assert_eq!(known.version(), Version::V3_1_1);
    known.let_in().await;
    rig.up().await;
    drop(known);
    // Should it know no 3.1.1 any more, the newer version is tried again.
    for _ in 0..2 {
        assert_eq!(next().await.version(), Version::V3_1_1);
    }
    assert_eq!(next().await.version(), Version::V5_0);
    rig.set(json!({ "mqttProtocol": 1 })).await;
    for _ in 0..3 {
        assert_eq!(next().await.version(), Version::V5_0);
    }
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_is_no_good_is_left_and_tried_again() {
    let rows: [(&[u8], &str); 6] = [
        (b"", "did not answer within 20 s"),
        // To a broker this is the beginning of a packet.
        (
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            "did not answer within 20 s",
        ),
        (&[0x20, 0x03, 0x00, 0x87, 0x00], "refused: not authorized"),
        // A packet of two megabytes is not waited for.
        (
            &[0x30, 0xFF, 0xFF, 0x7F, 0x00],
            "a message of more than 20480 bytes",
        ),
        (&[0x20, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], "makes no sense"),
        (&[0x00, 0x00], "makes no sense"),
    ];
    let (rig, mut arrivals) = rig(settings("broker", 0)).await;
    for (bytes, expected) in rows {
        let mut peer = Peer::greeted(&mut arrivals).await;
        peer.shout(bytes).await;
        let reason = |error: &Option<String>| {
            error
                .as_deref()
                .is_some_and(|error| error.contains(expected))
        };
        let is_so = |view: &device::view::View| {
            view.mqtt
                .as_ref()
                .is_some_and(|state| reason(&state.last_error) && state.next_try.is_some())
        };
        rig.until(expected, is_so).await;
    }
    // Another one is not made to pay for it.
    rig.set(json!({ "mqttHost": "other" })).await;
    let mut peer = Peer::greeted(&mut arrivals).await;
    peer.shout(&[0x00, 0x00]).await;
    let begun = Instant::now();
    let _peer = Peer::accept(&mut arrivals).await;
    let waited = begun.elapsed();
    assert!(waited < Duration::from_secs(7), "{waited:?}");
    rig.up().await;
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_broker_does_not_allow_is_named() {
    let (rig, mut arrivals) = rig(settings("broker", 0)).await;
    let mut peer = Peer::greeted(&mut arrivals).await;
    peer.let_in_but(&[1]).await;
    let refused = format!(
        "the broker does not let the clock listen to {}",
        peer.filters[1]
    );
    // The connection is up all the same: what may be told and heard is of use.
    let is_named = |view: &device::view::View| {
        view.mqtt
            .as_ref()
            .is_some_and(|state| state.up && state.last_error.as_ref() == Some(&refused))
    };
    rig.until(&refused, is_named).await;

    peer.deny();
    peer.all_in(Duration::from_secs(15)).await;
    let denied = "the broker does not take all that the clock tells: not authorized";
    let is_named = |view: &device::view::View| {
        view.mqtt.as_ref().is_some_and(|state| {
            state.last_error.as_deref() == Some(denied) && state.dropped.contains_key("not-taken")
        })
    };
    rig.until(denied, is_named).await;
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn why_the_broker_is_not_there_stands_in_the_log_once_for_each_outage() {
    let log = Logged::from_now(LevelFilter::INFO, &LogLines::new());
    let (rig, mut arrivals) = rig(settings("broker", 0)).await;
    for _ in 0..2 {
        for _ in 0..3 {
            Peer::greeted(&mut arrivals)
                .await
                .shout(&[0x00, 0x00])
                .await;
        }
        let peer = Peer::accept(&mut arrivals).await;
        rig.up().await;
        drop(peer);
    }
    rig.stop().await;
    let log = log.lines();
    let told = log.iter().filter(|line| line.contains("makes no sense"));
    assert_eq!(told.count(), 2, "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_falls_silent_is_noticed() {
    let (rig, mut arrivals, _peer) = settled(settings("broker", 0)).await;
    let begun = Instant::now();
    let is_down = |view: &device::view::View| view.mqtt.as_ref().is_some_and(|state| !state.up);
    // However much the clock has to tell: what needs no answer says nothing of who is there.
    let talking = async {
        for round in 0.. {
            learn(&rig, price(60_000 + round)).await;
            sleep(Duration::from_secs(1)).await;
        }
    };
    tokio::select! {
        () = talking => {}
        _ = rig.until("down", is_down) => {}
    }
    // A ping after a minute, and twenty seconds for its answer.
    assert!(
        begun.elapsed() <= Duration::from_secs(81),
        "{:?}",
        begun.elapsed()
    );
    Peer::accept(&mut arrivals).await;
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_broker_is_told_the_newest_and_not_all_of_it() {
    let (rig, _arrivals, mut peer) = settled(settings("broker", 0)).await;
    for round in 0..300 {
        learn(&rig, price(60_000 + round)).await;
        rig.set(json!({ "ledBrightness": round % 200 })).await;
        sleep(Duration::from_millis(50)).await;
    }
    let told = peer.all_in(Duration::from_secs(20)).await;
    let on = |leaf: &str| -> Vec<Value> {
        let topic = format!("{OWN}/{leaf}");
        let heard = told.iter().filter(|heard| heard.topic == topic);
        heard.map(|heard| read(&heard.payload).into()).collect()
    };
    let (markets, settings) = (on("market"), on("settings"));
    assert!((1..=12).contains(&markets.len()), "{}", markets.len());
    assert!((1..=40).contains(&settings.len()), "{}", settings.len());
    assert_eq!(
        markets.last().unwrap()["prices"]["USD"]["value"],
        "60299.00"
    );
    assert_eq!(settings.last().unwrap()["ledBrightness"], 99);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_takes_nothing_any_more_is_left() {
    let silent = Settings {
        mqtt_keep_alive: 3600,
        ..settings("broker", 0)
    };
    let (rig, mut arrivals, _peer) = settled(silent).await;
    let changing = async {
        for round in 0.. {
            let text = Request::ShowText(format!("{round}"));
            rig.inbox.request(text).await.unwrap();
            sleep(Duration::from_secs(1)).await;
        }
    };
    let left = rig.until("left", |view| {
        let error = view
            .mqtt
            .as_ref()
            .and_then(|state| state.last_error.as_deref());
        error.is_some_and(|error| error.contains("took nothing for 30 s"))
    });
    tokio::select! {
        () = changing => {}
        _ = left => {}
    }
    Peer::accept(&mut arrivals).await;
    rig.stop().await;
}

/// TLS takes what it cannot send: what lies there is missed by nobody but who waits until it has gone.
#[tokio::test(start_paused = true)]
async fn what_is_taken_and_never_sent_is_noticed_as_soon() {
    let (authority, acceptor) = tls("broker");
    let secured = Settings {
        mqtt_tls: true,
        mqtt_ca: Secret::new(&authority),
        // Nobody is asked for a sign of life meanwhile.
        mqtt_keep_alive: 3600,
        ..settings("broker", 0)
    };
    let (rig, mut arrivals) = rig(secured).await;
    let arrival = arrivals.recv().await.unwrap();
    let stream = acceptor.accept(arrival.stream).await.unwrap();
    let mut peer = Peer::over(Box::new(stream)).await;
    peer.let_in().await;
    let told = peer.all_in(Duration::from_secs(15)).await;
    let state = told
        .iter()
        .rfind(|heard| heard.topic == format!("{OWN}/state"));
    let state = state.unwrap().payload.len();
    let begun = Instant::now();
    let changing = async {
        for round in 0.. {
            let text = Request::ShowText(format!("{}", round % 1000));
            rig.inbox.request(text).await.unwrap();
            sleep(Duration::from_secs(1)).await;
        }
    };
    let left = rig.until("left", |view| {
        let error = view.mqtt.as_ref();
        let error = error.and_then(|state| state.last_error.as_deref());
        error.is_some_and(|error| error.contains("took nothing for 30 s"))
    });
    tokio::select! {
        () = changing => {}
        _ = left => {}
    }
    // A state a second, until the connection is full; TLS would take as much again.
    let full = Duration::from_secs((ON_THE_WAY / state) as u64 + 1);
    let waited = begun.elapsed();
    assert!(waited > Duration::from_secs(30), "{waited:?}");
    assert!(
        waited <= full + Duration::from_secs(31),
        "{waited:?}, {full:?}"
    );
    rig.stop().await;
}

/// Bytes that a connection in memory takes which nobody reads.
const ON_THE_WAY: usize = 64 * 1024;

/// An authority, and what speaks TLS under a name that it vouches for.
fn tls(name: &str) -> (String, TlsAcceptor) {
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
async fn what_happens_is_told_once_and_not_without_end() {
    let (rig, _arrivals, mut peer) = settled(settings("broker", 0)).await;
    learn(&rig, Observation::Block(900_000)).await;
    learn(&rig, Observation::Block(900_001)).await;
    let told = peer.on(&format!("{OWN}/event")).await;
    assert_eq!(
        Value::from(read(&told.payload)),
        json!({ "event_type": "block", "height": 900_001 })
    );
    assert!(!told.is_retained);
    let payment = |direction| {
        Observation::Payment(Payment {
            amount: Msats(2_100_000),
            direction,
        })
    };
    let observed = |payment| Input::Observed(SourceId::Wallet, vec![payment]);
    for (input, expected) in [
        (
            observed(payment(Some(Direction::Received))),
            json!({ "event_type": "payment", "sats": 2_100, "direction": "received" }),
        ),
        (
            observed(payment(Some(Direction::Sent))),
            json!({ "event_type": "payment", "sats": 2_100, "direction": "sent" }),
        ),
        (
            Input::Uploaded(UpdateEvent::Failed("no room".into())),
            json!({ "event_type": "warning", "text": "an update was given up: no room" }),
        ),
    ] {
        rig.tell(input).await;
        let told = peer.on(&format!("{OWN}/event")).await;
        assert_eq!(Value::from(read(&told.payload)), expected);
    }
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn home_assistant_is_told_again_when_it_starts() {
    let (rig, _arrivals, mut peer) = settled(settings("broker", 0)).await;
    peer.keep("homeassistant/status", "online").await;
    peer.say("homeassistant/status", "offline").await;
    assert_eq!(peer.all_in(Duration::from_secs(10)).await, []);
    peer.say("homeassistant/status", "online").await;
    let begun = Instant::now();
    peer.on("homeassistant/device/papertick-aabbcc/config")
        .await;
    assert!(
        begun.elapsed() <= Duration::from_secs(6),
        "{:?}",
        begun.elapsed()
    );
    peer.on(&format!("{OWN}/state")).await;
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn nothing_of_a_clock_that_is_switched_off_stays_there() {
    let (rig, _arrivals) = rig(settings("broker", 0)).await;
    let mut arrivals = _arrivals;
    let mut peer = Peer::accept(&mut arrivals).await;
    let told = peer.all_in(Duration::from_secs(8)).await;
    let told: BTreeSet<String> = told.into_iter().map(|heard| heard.topic).collect();
    rig.set(json!({ "mqttEnabled": false })).await;
    let left = peer.all_in(Duration::from_secs(5)).await;
    let emptied = left
        .iter()
        .filter(|heard| heard.is_retained && heard.payload.is_empty());
    let emptied: BTreeSet<String> = emptied.map(|heard| heard.topic.clone()).collect();
    let kept: Vec<_> = told.difference(&emptied).collect();
    assert_eq!(kept, Vec::<&String>::new());
    assert_eq!(rig.view().mqtt, None);

    rig.set(json!({ "mqttEnabled": true })).await;
    let mut peer = Peer::accept(&mut arrivals).await;
    peer.all_in(Duration::from_secs(8)).await;
    rig.set(json!({ "mqttBase": "home/clocks", "haDiscovery": false }))
        .await;
    let left = peer.all_in(Duration::from_secs(5)).await;
    let emptied = |topic: &str| {
        left.iter()
            .any(|heard| heard.topic == topic && heard.payload.is_empty())
    };
    assert!(emptied("homeassistant/device/papertick-aabbcc/config"));
    assert!(emptied(&format!("{OWN}/state")));
    let mut peer = Peer::accept(&mut arrivals).await;
    peer.on("home/clocks/papertick-aabbcc/state").await;
    rig.stop().await;
}

/// Settings of `all`, a group and the clock, retained in any order and with any delay.
#[tokio::test(start_paused = true)]
async fn retained_settings_are_merged_and_the_more_specific_wins() {
    let grouped = Settings {
        mqtt_groups: "shop".into(),
        ..settings("broker", 0)
    };
    let (rig, mut arrivals) = rig(grouped).await;
    let mut peer = Peer::accept(&mut arrivals).await;
    let own = format!("{OWN}/desired");
    let (all, shop) = (
        "papertick/group/all/desired",
        "papertick/group/shop/desired",
    );
    // (delay, s; topic; message; afterwards: LED brightness, `mowMode`, `suffixPrice`)
    for (delay, topic, message, expected) in [
        (
            0,
            &*own,
            r#"{"rev":"c","settings":{"ledBrightness":3}}"#,
            None,
        ),
        (
            0,
            shop,
            r#"{"settings":{"ledBrightness":2,"mowMode":true}}"#,
            None,
        ),
        (
            3,
            all,
            r#"{"settings":{"ledBrightness":1,"mowMode":false,"suffixPrice":true}}"#,
            Some((3, true, true)),
        ),
        // A later message of the group does not win over the clock's own document.
        (
            3,
            shop,
            r#"{"settings":{"ledBrightness":8}}"#,
            Some((3, false, true)),
        ),
        // Without that, the group counts.
        (3, &*own, "", Some((8, false, true))),
        (3, shop, "", Some((1, false, true))),
        // A mistake in one document does not stop the others.
        (
            3,
            shop,
            r#"{"settings":{"ledBrightness":9,"mqttPort":-1}}"#,
            Some((1, false, true)),
        ),
        (
            3,
            &*own,
            r#"{"settings":{"mowMode":true}}"#,
            Some((1, true, true)),
        ),
    ] {
        peer.keep(topic, message).await;
        sleep(Duration::from_secs(delay)).await;
        let now = Arc::clone(&rig.view().settings);
        let now = (now.led_brightness, now.mow_mode, now.suffix_price);
        if let Some(expected) = expected {
            assert_eq!(now, expected, "{message}");
        }
    }
    let reported = peer.all_in(Duration::from_secs(1)).await;
    let mut reported = reported.iter().rev();
    let reported = reported.find(|heard| heard.topic == format!("{OWN}/reported"));
    let reported = read(&reported.unwrap().payload);
    assert_eq!(reported["scope"], "own");
    assert_eq!(reported["scopes"]["shop"]["error"], "range:mqttPort");
    assert_eq!(reported["scopes"]["all"]["applied"], true);

    // Two names of one setting are one; objects are merged by member, screens by id.
    let general = json!({ "settings": {
        "explorerInstance": "general.example",
        "dnd": { "enabled": true, "timeBasedEnabled": true },
        "screens": [{ "id": 0, "enabled": false }],
    } });
    let own_settings = json!({ "settings": {
        "mempoolInstance": "own.example",
        "dnd": { "dndTimeEnabled": false, "startHour": 1, "startMinute": 2, "endHour": 3, "endMinute": 4 },
        "screens": [{ "id": 3, "enabled": false }],
    } });
    for _ in 0..2 {
        peer.keep(shop, "").await;
        peer.keep(all, &general.to_string()).await;
        peer.keep(&own, &own_settings.to_string()).await;
        sleep(Duration::from_secs(3)).await;
        let now = Arc::clone(&rig.view().settings);
        assert_eq!(now.explorer_instance.expose(), "own.example");
        assert_eq!(
            (now.dnd_enabled, now.dnd_time_enabled, now.dnd_start_hour),
            (true, false, 1)
        );
        let is_off = |screen| !now.is_screen_enabled(screen);
        assert!(is_off(0) && is_off(3), "screens are merged by id");
    }

    // Without documents there is no report.
    for topic in [all, shop, &*own] {
        peer.keep(topic, "").await;
    }
    let reports = peer.all_in(Duration::from_secs(3)).await;
    let mut reports = reports.iter().rev();
    let last = reports.find(|heard| heard.topic == format!("{OWN}/reported"));
    assert!(last.is_some_and(|heard| heard.is_retained && heard.payload.is_empty()));

    // The owner's change stays until the broker sends the documents again.
    rig.set(json!({ "ledBrightness": 77 })).await;
    sleep(Duration::from_secs(3)).await;
    assert_eq!(rig.view().settings.led_brightness, 77);
    drop(peer);
    let mut peer = Peer::accept(&mut arrivals).await;
    peer.keep(all, r#"{"settings":{"ledBrightness":1}}"#).await;
    sleep(Duration::from_secs(3)).await;
    assert_eq!(rig.view().settings.led_brightness, 1);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn retained_settings_that_are_invalid_are_reported_and_change_nothing() {
    let (rig, _arrivals, mut peer) = settled(settings("broker", 0)).await;
    let before = rig.view().settings.led_brightness;
    for (message, rev, error) in [
        (
            r#"{"rev":"e","settings":{"ledBrightness":5,"mqttPort":-1}}"#,
            "e",
            "range:mqttPort",
        ),
        (
            r#"{"rev":"f","settings":{"ledBrightness":5,"mqttPass":"x"}}"#,
            "f",
            "mqttPass:secret",
        ),
        (r#"{"rev":7,"settings":5}"#, "7", "settings:bad_type"),
        (r#"{"rev":[],"settings":{}}"#, "", "rev:bad_type"),
        (
            r#"{"settings":{"proxyEnabled":true}}"#,
            "",
            "proxyHost:bad_length",
        ),
        ("[]", "", "not_object"),
        ("{", "", "json"),
    ] {
        peer.keep(&format!("{OWN}/desired"), message).await;
        loop {
            let told = read(&peer.on(&format!("{OWN}/reported")).await.payload);
            if told["error"] == error {
                assert_eq!(
                    (&told["rev"], &told["applied"]),
                    (&json!(rev), &json!(false))
                );
                break;
            }
        }
        assert_eq!(rig.view().settings.led_brightness, before, "{message}");
    }
    // One document may have what the other one needs.
    peer.keep(
        &format!("{OWN}/desired"),
        r#"{"settings":{"proxyHost":"proxy"}}"#,
    )
    .await;
    peer.keep(
        "papertick/group/all/desired",
        r#"{"settings":{"proxyEnabled":true}}"#,
    )
    .await;
    rig.until("applied", |view| view.settings.proxy_enabled)
        .await;
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_group_is_restarted_one_after_the_other_and_never_wiped() {
    let (mut rig, _arrivals, mut peer) = settled(settings("broker", 0)).await;
    peer.say(
        "papertick/group/all/cmd/factory_reset",
        r#"{"confirm": "factory_reset"}"#,
    )
    .await;
    let told = read(&peer.on(&format!("{OWN}/result")).await.payload);
    assert_eq!(
        (&told["status"], &told["error"]),
        (&json!(403), &json!("not for groups"))
    );
    let begun = Instant::now();
    peer.say("papertick/group/all/cmd/restart", "").await;
    assert_eq!(rig.effect().await, Effect::Reboot(RebootReason::Asked));
    assert!(
        begun.elapsed() <= Duration::from_secs(31),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn who_changes_the_connection_over_it_is_answered() {
    let (mut rig, mut arrivals, mut peer) = settled(settings("broker", 0)).await;
    let begun = Instant::now();
    // It waits for its moment, on the next connection too.
    peer.say("papertick/group/all/cmd/restart", "").await;
    peer.say("papertick/group/all/set", r#"{"mqttPanels": false}"#)
        .await;
    for id in 0..3 {
        let wish = format!(r#"{{"id": {id}, "ledBrightness": 7}}"#);
        peer.say(&format!("{OWN}/set"), &wish).await;
    }
    let result = format!("{OWN}/result");
    let mut told = BTreeMap::new();
    for _ in 0..4 {
        let answer = read(&peer.on(&result).await.payload);
        let id = answer.get("id").and_then(Value::as_u64);
        told.insert(id, answer["status"].as_u64().unwrap());
    }
    assert_eq!(told[&None], 200, "{told:?}");
    for id in 0..3 {
        assert!([200, 503].contains(&told[&Some(id)]), "{told:?}");
    }
    assert!(!rig.view().active.mqtt_panels);
    let _next = Peer::accept(&mut arrivals).await;
    assert_eq!(rig.effect().await, Effect::Reboot(RebootReason::Asked));
    assert!(begun.elapsed() <= Duration::from_secs(31));
}

#[tokio::test(start_paused = true)]
async fn a_restart_that_nobody_expects_any_more_is_not_done() {
    let (mut rig, mut arrivals, mut peer) = settled(settings("broker", 0)).await;
    peer.say("papertick/group/all/cmd/restart", "").await;
    // By then the clock has heard it, and waits for its moment.
    peer.say(&format!("{OWN}/cmd/screen/next"), "").await;
    peer.on(&format!("{OWN}/result")).await;
    rig.tell(Input::Linked(LinkEvent::Down(LinkFailure::Lost)))
        .await;
    sleep(Duration::from_secs(300)).await;
    let (ip, ssid) = ("192.0.2.7".into(), None);
    rig.tell(Input::Linked(LinkEvent::Up { ip, ssid })).await;
    let mut peer = Peer::accept(&mut arrivals).await;
    peer.all_in(Duration::from_secs(60)).await;
    let effect = rig.followed.effects.try_recv();
    assert_eq!(effect, Err(TryRecvError::Empty));
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_comes_as_the_clock_leaves_is_answered_and_not_done() {
    let (rig, _arrivals, mut peer) = settled(settings("broker", 0)).await;
    rig.set(json!({ "mqttEnabled": false })).await;
    peer.say(&format!("{OWN}/cmd/show/text"), r#"{"t": "HODL", "id": 1}"#)
        .await;
    peer.keep(&format!("{OWN}/set"), r#"{"ledBrightness": 7, "id": 2}"#)
        .await;
    let left = peer.all_in(Duration::from_secs(5)).await;
    let result = format!("{OWN}/result");
    let answers = left.iter().filter(|heard| heard.topic == result);
    let answers: BTreeMap<u64, u64> = answers
        .map(|heard| read(&heard.payload))
        .map(|told| {
            (
                told["id"].as_u64().unwrap(),
                told["status"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(answers, BTreeMap::from([(1, 503), (2, 409)]));
    assert!(peer.has_left);
    assert_ne!(rig.view().mode, "custom");
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_busy_says_good_bye_too() {
    let (arrive, mut arrivals) = mpsc::channel(4);
    let dialer = Dialer::in_memory(Roots::public(), arrive);
    let settings = settings("broker", 0);
    let disk = lab::sim_disk::SharedDisk::default();
    let (rig, _shelf) = Rig::without_store(Clock::unset(), dialer, settings, disk).await;
    let mut peer = Peer::accept(&mut arrivals).await;
    peer.all_in(Duration::from_secs(15)).await;
    // It is not on disk before the end of time.
    peer.say(&format!("{OWN}/set"), r#"{"ledBrightness": 7}"#)
        .await;
    assert_eq!(peer.all_in(Duration::from_secs(5)).await, []);
    rig.stopper.stop();
    let left = peer.all_in(Duration::from_secs(5)).await;
    let left: Vec<_> = left
        .iter()
        .map(|heard| (heard.topic.as_str(), heard.payload.as_slice()))
        .collect();
    assert_eq!(
        left,
        [(format!("{OWN}/status").as_str(), b"offline".as_slice())]
    );
    assert!(peer.has_left);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_group_is_told_several_things_at_once() {
    let (mut rig, _arrivals, mut peer) = settled(settings("broker", 0)).await;
    peer.say("papertick/group/all/cmd/restart_datasources", "")
        .await;
    peer.say("papertick/group/all/cmd/restart", "").await;
    peer.say("papertick/group/all/cmd/restart", "").await;
    let result = format!("{OWN}/result");
    let told = read(&peer.on(&result).await.payload);
    assert_eq!(
        (&told["cmd"], &told["error"]),
        (&json!("restart"), &json!("already under way"))
    );
    assert_eq!(rig.effect().await, Effect::Reboot(RebootReason::Asked));
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_wishes_is_answered_by_fewer() {
    let (rig, _arrivals, mut peer) = settled(settings("broker", 0)).await;
    for _ in 0..2000 {
        peer.say(&format!("{OWN}/set"), r#"{"ledBrightness": 7}"#)
            .await;
    }
    peer.all_in(Duration::from_secs(5)).await;
    let dropped = rig.view().mqtt.clone().unwrap().dropped;
    assert!(
        dropped.get("busy").is_some_and(|busy| *busy > 0),
        "{dropped:?}"
    );
    assert_eq!(rig.view().settings.led_brightness, 7);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn passwords_can_be_set_and_are_told_to_nobody() {
    let (rig, _arrivals, mut peer) = settled(settings("broker", 0)).await;
    peer.say(
        &format!("{OWN}/set"),
        r#"{"otaPass": "planted-1", "mqttUser": "me"}"#,
    )
    .await;
    let told = rig
        .until("set", |view| view.settings.mqtt_user == "me")
        .await;
    assert!(told.settings.ota_pass.phc().starts_with("$argon2id$"));
    let heard = peer.all_in(Duration::from_secs(5)).await;
    for heard in heard {
        let text = String::from_utf8_lossy(&heard.payload).into_owned();
        assert!(
            !text.contains("planted") && !text.contains("argon2"),
            "{text}"
        );
    }
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn each_wish_is_read_after_the_one_before_it() {
    let (rig, _arrivals, mut peer) = settled(settings("broker", 0)).await;
    for led in 1..=3 {
        let lit = r#"{"state": "ON", "color": {"r": 9, "g": 0, "b": 0}}"#;
        peer.say(&format!("{OWN}/light/{led}/set"), lit).await;
    }
    peer.say(&format!("{OWN}/quiet/from/set"), "21:30").await;
    peer.say(&format!("{OWN}/quiet/until/set"), "06:15").await;
    peer.all_in(Duration::from_secs(2)).await;
    let view = rig.view();
    let lit = view.lights.iter().filter(|led| led.red == 9).count();
    assert_eq!(lit, 3, "{:?}", view.lights);
    let settings = &view.settings;
    assert_eq!(
        (
            settings.dnd_start_hour,
            settings.dnd_start_min,
            settings.dnd_end_hour,
            settings.dnd_end_min
        ),
        (21, 30, 6, 15)
    );
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_password_on_the_glass_is_shown_to_nobody_else() {
    let start = Settings {
        mqtt_panels: true,
        ..settings("broker", 0)
    };
    let (rig, _arrivals, mut peer) = settled(start).await;
    let panels = format!("{OWN}/panels");
    let paint = |shows_password: bool| {
        rig.glass.send_modify(|glass| {
            let glass = Arc::make_mut(glass);
            glass.generation += 1;
            for panel in &mut glass.panels {
                panel.since = Some(Instant::now());
            }
            glass.panels[3].shows_password = shows_password;
        });
    };
    paint(false);
    assert!(peer.on(&panels).await.payload.starts_with(b"\x89PNG"));
    paint(true);
    let told = peer.on(&panels).await;
    assert_eq!((told.payload.as_slice(), told.is_retained), (&[][..], true));
    paint(false);
    assert!(peer.on(&panels).await.payload.starts_with(b"\x89PNG"));
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_clock_in_safe_mode_is_not_connected() {
    let (rig, _arrivals, _peer) = settled(settings("broker", 0)).await;
    assert!(rig.view().mqtt.as_ref().is_some_and(|state| state.up));
    rig.tell(Input::SafeMode("a test".into())).await;
    assert!(rig.view().mqtt.as_ref().is_some_and(|state| !state.up));
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_left_there_while_the_clock_listens_is_told_apart() {
    let (rig, mut arrivals) = rig(settings("broker", 0)).await;
    let peer = Peer::accept(&mut arrivals).await;
    for (filter, is_marked) in [
        (format!("{OWN}/cmd/#"), true),
        (format!("{OWN}/set"), true),
        (format!("{OWN}/light/+/set"), true),
        (format!("{OWN}/quiet/+/set"), true),
        ("papertick/group/all/cmd/#".into(), true),
        ("homeassistant/status".into(), false),
    ] {
        assert!(peer.filters.contains(&filter), "{filter}");
        assert_eq!(peer.marked.contains(&filter), is_marked, "{filter}");
    }
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_wish_that_is_too_large_does_not_keep_an_older_clock_out() {
    let old = Settings {
        mqtt_protocol: 2,
        ..settings("broker", 0)
    };
    let (rig, mut arrivals) = rig(old).await;
    let mut peer = Peer::accept(&mut arrivals).await;
    assert_eq!(peer.version(), Version::V3_1_1);
    let wished = format!(
        r#"{{"rev": "a", "settings": {{"poolWorker": "{}"}}}}"#,
        "x".repeat(40_000)
    );
    peer.keep(&format!("{OWN}/desired"), &wished).await;
    let told = read(&peer.on(&format!("{OWN}/reported")).await.payload);
    assert_eq!(told["error"], "too large");
    rig.dropped("too-large", 1).await;
    rig.up().await;
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn nothing_of_a_clock_stays_at_a_broker_that_it_leaves() {
    for (change, topic) in [
        (json!({ "mqttHost": "other" }), "state"),
        (json!({ "mqttPort": 1999 }), "settings"),
    ] {
        let (rig, mut arrivals, mut peer) = settled(settings("broker", 0)).await;
        rig.set(change).await;
        let left = peer.all_in(Duration::from_secs(5)).await;
        let topic = format!("{OWN}/{topic}");
        let is_gone = |heard: &Heard| heard.topic == topic && heard.payload.is_empty();
        assert!(left.iter().any(is_gone), "{left:?}");
        let mut peer = Peer::accept(&mut arrivals).await;
        peer.on(&topic).await;
        rig.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_faulty_panel_is_told_at_once() {
    let (rig, _arrivals, mut peer) = settled(settings("broker", 0)).await;
    rig.glass.send_modify(|glass| {
        Arc::make_mut(glass).panels[2].fault = Some(device::board::PanelFault::BusyStuck);
    });
    let told = read(&peer.on(&format!("{OWN}/state")).await.payload);
    assert_eq!(told["panelFaults"][0]["panel"], 2);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_brightness_of_the_leds_is_told_when_it_changes() {
    let (rig, _arrivals, mut peer) = settled(settings("broker", 0)).await;
    rig.set(json!({ "ledBrightness": 7 })).await;
    let told = peer.on(&format!("{OWN}/light/strip")).await;
    assert_eq!(read(&told.payload)["brightness"], 7);
}

#[tokio::test(start_paused = true)]
async fn the_frontlight_is_told_when_it_changes() {
    let (rig, _arrivals, mut peer) = settled(settings("broker", 0)).await;
    let place = format!("{OWN}/light/front");
    for state in ["OFF", "ON", "OFF"] {
        let wish = json!({ "state": state }).to_string();
        peer.say(&format!("{place}/set"), &wish).await;
        let shown = async { while read(&peer.on(&place).await.payload)["state"] != state {} };
        let shown = tokio::time::timeout(Duration::from_secs(30), shown).await;
        assert!(shown.is_ok(), "{state} is not told");
    }
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn home_assistant_has_the_currencies_that_there_are() {
    let (rig, _arrivals, mut peer) = settled(settings("broker", 0)).await;
    learn(&rig, Observation::Currencies(vec![Currency::USD])).await;
    let told = peer
        .on("homeassistant/device/papertick-aabbcc/config")
        .await;
    let parts = read(&told.payload)["cmps"].clone();
    assert!(parts["price_usd"]["name"].is_string(), "{parts}");
    assert!(parts["price_eur"]["name"].is_null(), "{parts}");
    // Others are told although none of them is shown.
    let more = ["USD", "SEK", "NOK"];
    let known = more.map(|code| Currency::parse(code).unwrap());
    learn(&rig, Observation::Currencies(known.into())).await;
    let info = format!("{OWN}/info");
    while read(&peer.on(&info).await.payload)["currencies"] != json!(more) {}
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_leds_become_as_bright_as_is_asked_for() {
    let (rig, _arrivals, mut peer) = settled(settings("broker", 0)).await;
    let wish = r#"{"state": "ON", "brightness": 200}"#;
    peer.say(&format!("{OWN}/light/strip/set"), wish).await;
    let is_bright = |view: &device::view::View| view.settings.led_brightness == 200;
    rig.until("as bright", is_bright).await;
    rig.stop().await;
}
