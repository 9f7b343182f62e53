//! What the clock publishes, and when.

use std::{sync::Arc, time::Duration};

use device::{
    board::PanelFault,
    input::{Input, LinkEvent},
    settings::Settings,
};
use lab::sim_disk::SharedDisk;
use market::Observation;
use net::{dialer::Dialer, tls::Roots};
use runtime::clock::Clock;
use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, timeout},
};

use super::{
    OWN, Rig, in_memory, json as parse, observe, price, settings, settled,
    test_broker::{Published, TestBroker},
};

const DISCOVERY: &str = "homeassistant/device/papertick-aabbcc/config";

/// A plausible UTC time, ms since 1970-01-01.
const START_MS: i64 = 1_767_225_600_000;

#[tokio::test(start_paused = true)]
async fn discovery_is_published_first_and_nothing_twice() {
    let (rig, mut arrivals) = in_memory(settings("broker", 0)).await;
    let mut broker = TestBroker::accept(&mut arrivals).await;
    assert_eq!(
        broker.will,
        Some((format!("{OWN}/status"), b"offline".to_vec()))
    );
    for filter in ["cmd/#", "set", "desired"] {
        assert!(broker.filters.contains(&format!("{OWN}/{filter}")));
        assert!(
            broker
                .filters
                .contains(&format!("papertick/group/all/{filter}"))
        );
    }
    let messages = broker.all_within(Duration::from_secs(2)).await;
    let topics: Vec<&str> = messages.iter().map(|message| &*message.topic).collect();
    let position = |name: &str| topics.iter().position(|topic| *topic == name);
    let discovery = position(DISCOVERY).unwrap();
    let status = position(&format!("{OWN}/status")).unwrap();
    let state = position(&format!("{OWN}/state")).unwrap();
    assert!(discovery < status && status < state, "{topics:?}");
    for leaf in [
        "info",
        "settings",
        "light/strip",
        "light/1",
        "light/front",
        "market",
    ] {
        let topic = format!("{OWN}/{leaf}");
        assert!(position(&topic).is_some(), "{leaf}: {topics:?}");
    }
    assert!(messages.iter().all(|message| message.retain));
    assert!(messages[discovery].qos1 && messages[status].qos1);
    assert_eq!(messages[status].payload, b"online");
    rig.wait_until_up().await;
    // After the splash screen nothing changes, and nothing is published.
    broker.all_within(Duration::from_secs(15)).await;
    let again = broker.all_within(Duration::from_secs(30)).await;
    assert_eq!(again, []);
    rig.stop().await;
    let last = broker.all_within(Duration::from_secs(5)).await;
    let last: Vec<_> = last
        .iter()
        .map(|message| (&*message.topic, &*message.payload))
        .collect();
    let status = format!("{OWN}/status");
    assert_eq!(last, [(&*status, &b"offline"[..])]);
}

#[tokio::test(start_paused = true)]
async fn the_page_url_has_the_port() {
    let (rig, _arrivals, mut broker) = settled(settings("broker", 0)).await;
    for (ip, page) in [
        ("192.0.2.7", "http://192.0.2.7:8080/"),
        ("fd00::7", "http://[fd00::7]:8080/"),
    ] {
        let (ip, ssid) = (ip.into(), None);
        rig.send(Input::Linked(LinkEvent::Up { ip, ssid })).await;
        let messages = broker.all_within(Duration::from_secs(10)).await;
        let on = |topic: &str| {
            let message = messages.iter().find(|message| message.topic == topic);
            parse(&message.unwrap().payload)
        };
        assert_eq!(on(&format!("{OWN}/info"))["page"], page);
        let discovery = on(DISCOVERY);
        assert_eq!(discovery["dev"]["cu"], page);
    }
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn host_figures_are_published_once_a_minute() {
    let (rig, mut arrivals) = in_memory(settings("broker", 0)).await;
    let mut broker = TestBroker::accept(&mut arrivals).await;
    let messages = broker.all_within(Duration::from_secs(2)).await;
    // Without an update key nothing can be installed.
    assert_eq!(payloads(&messages, "update"), [b""]);
    let [host] = payloads(&messages, "host").try_into().unwrap();
    let host = parse(host);
    assert!(host["memoryFree"].as_u64().is_some_and(|bytes| bytes > 0));
    assert_eq!(
        (&host["mqttDropped"], &host["startedAt"]),
        (&json!(0), &Value::Null)
    );
    // Free memory may stay the same, so the number of dropped messages is changed.
    let mut messages = Vec::new();
    for _ in 0..10 {
        broker.publish("papertick/other/cmd/restart", "").await;
        messages.extend(broker.all_within(Duration::from_secs(60)).await);
    }
    let dropped: Vec<_> = payloads(&messages, "host")
        .into_iter()
        .filter_map(|host| parse(host)["mqttDropped"].as_u64())
        .collect();
    assert_eq!(dropped, Vec::from_iter(1..=10));
    rig.stop().await;
}

/// Payloads on a topic of the clock.
fn payloads<'a>(messages: &'a [Published], leaf: &str) -> Vec<&'a [u8]> {
    let topic = format!("{OWN}/{leaf}");
    let messages = messages.iter().filter(|message| message.topic == topic);
    messages.map(|message| &*message.payload).collect()
}

#[tokio::test(start_paused = true)]
async fn clock_corrections_do_not_change_the_start_time() {
    let clock = Clock::unset();
    let (arrive, mut arrivals) = mpsc::channel(4);
    let dialer = Dialer::in_memory(Roots::public(), arrive);
    let disk = SharedDisk::default();
    let rig = Rig::at(clock.clone(), dialer, settings("broker", 0), disk).await;
    let mut broker = TestBroker::accept(&mut arrivals).await;
    for offset_ms in [300, -300, 20_000, -20_000, 0] {
        let up_ms = i64::try_from(clock.uptime().as_millis()).unwrap();
        clock.set(START_MS + up_ms + offset_ms);
        // A dropped message changes the document.
        broker.publish("papertick/other/cmd/restart", "").await;
        let host = parse(&broker.on(&format!("{OWN}/host")).await.payload);
        assert_eq!(host["startedAt"], START_MS / 1000, "{offset_ms}");
    }
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_firmware_entity_appears_with_an_update_key() {
    let (rig, mut arrivals) = in_memory(settings("broker", 0)).await;
    let mut broker = TestBroker::accept(&mut arrivals).await;
    let has_firmware = |message: &Published| {
        let discovery = parse(&message.payload);
        !discovery["cmps"]["firmware"]["name"].is_null()
    };
    assert!(!has_firmware(&broker.on(DISCOVERY).await));
    broker.all_within(Duration::from_secs(15)).await;
    let keys = rig.folder.path().join("update-keys");
    std::fs::create_dir(&keys).unwrap();
    let key = minisign::KeyPair::generate_unencrypted_keypair()
        .unwrap()
        .pk;
    std::fs::write(keys.join("me.pub"), key.to_box().unwrap().to_string()).unwrap();
    let messages = broker.all_within(Duration::from_secs(60)).await;
    let on = |topic: &str| {
        messages
            .iter()
            .find(|message| message.topic == topic)
            .unwrap()
    };
    assert!(has_firmware(on(DISCOVERY)));
    let update = parse(&on(&format!("{OWN}/update")).payload);
    assert_eq!(update["installed_version"], "4.0.0");
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn frequent_changes_are_published_at_an_interval() {
    let (rig, _arrivals, mut broker) = settled(settings("broker", 0)).await;
    for round in 0..300 {
        observe(&rig, price(60_000 + round)).await;
        rig.patch(json!({ "ledBrightness": round % 200 })).await;
        sleep(Duration::from_millis(50)).await;
    }
    let messages = broker.all_within(Duration::from_secs(20)).await;
    let markets = payloads(&messages, "market");
    let settings = payloads(&messages, "settings");
    assert!((1..=12).contains(&markets.len()), "{}", markets.len());
    assert!((1..=40).contains(&settings.len()), "{}", settings.len());
    let market = parse(markets.last().unwrap());
    assert_eq!(market["prices"]["USD"]["value"], "60299.00");
    let settings = parse(settings.last().unwrap());
    assert_eq!(settings["ledBrightness"], 99);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn events_are_published_and_not_retained() {
    let (rig, _arrivals, mut broker) = settled(settings("broker", 0)).await;
    observe(&rig, Observation::Block(900_000)).await;
    observe(&rig, Observation::Block(900_001)).await;
    let event = broker.on(&format!("{OWN}/event")).await;
    assert_eq!(
        Value::from(parse(&event.payload)),
        json!({ "event_type": "block", "height": 900_001 })
    );
    assert!(!event.retain);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn old_births_and_ends_of_home_assistant_are_ignored() {
    let (rig, _arrivals, mut broker) = settled(settings("broker", 0)).await;
    broker
        .publish_retained("homeassistant/status", "online")
        .await;
    broker.publish("homeassistant/status", "offline").await;
    assert_eq!(broker.all_within(Duration::from_secs(10)).await, []);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_picture_is_as_chosen_and_removed_while_a_password_is_shown() {
    for (mqtt_picture, width) in [(0, 918), (1, 800), (2, 800)] {
        let with_picture = Settings {
            mqtt_panels: true,
            mqtt_picture,
            ..settings("broker", 0)
        };
        let (rig, _arrivals, mut broker) = settled(with_picture).await;
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
        let picture = broker.on(&panels).await.payload;
        assert!(picture.starts_with(b"\x89PNG"));
        let shown = u32::from_be_bytes(picture[16..20].try_into().unwrap());
        assert_eq!(shown, width, "mqttPicture {mqtt_picture}");
        paint(true);
        let removal = broker.on(&panels).await;
        assert_eq!((&*removal.payload, removal.retain), (&[][..], true));
        paint(false);
        assert!(broker.on(&panels).await.payload.starts_with(b"\x89PNG"));
        if mqtt_picture == 2 {
            // The board shows the time.
            assert!(broker.on(&panels).await.payload.starts_with(b"\x89PNG"));
        }
        rig.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_panel_fault_is_published() {
    let (rig, _arrivals, mut broker) = settled(settings("broker", 0)).await;
    rig.glass.send_modify(|glass| {
        Arc::make_mut(glass).panels[2].fault = Some(PanelFault::BusyStuck);
    });
    let state = parse(&broker.on(&format!("{OWN}/state")).await.payload);
    assert_eq!(state["panelFaults"][0]["panel"], 2);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn changes_of_brightness_and_name_are_published() {
    let (rig, _arrivals, mut broker) = settled(settings("broker", 0)).await;
    rig.patch(json!({ "ledBrightness": 7 })).await;
    let strip = broker.on(&format!("{OWN}/light/strip")).await;
    assert_eq!(parse(&strip.payload)["brightness"], 7);
    let view = rig.view();
    rig.send(Input::Linked(LinkEvent::Announced {
        asked: view.hostname.clone(),
        name: Some("kitchen-2".into()),
    }))
    .await;
    let info = format!("{OWN}/info");
    while parse(&broker.on(&info).await.payload)["hostname"] != "kitchen-2" {}
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_change_of_the_frontlight_is_published() {
    let (rig, _arrivals, mut broker) = settled(settings("broker", 0)).await;
    let topic = format!("{OWN}/light/front");
    for state in ["OFF", "ON", "OFF"] {
        let command = json!({ "state": state }).to_string();
        broker.publish(&format!("{topic}/set"), &command).await;
        let published =
            async { while parse(&broker.on(&topic).await.payload)["state"] != state {} };
        let published = timeout(Duration::from_secs(30), published).await;
        assert!(published.is_ok(), "{state} is not published");
    }
    rig.stop().await;
}
