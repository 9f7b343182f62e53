//! Commands by MQTT: results, refusals, delays of groups.

use std::{collections::BTreeMap, time::Duration};

use device::{
    input::{Input, LinkEvent, LinkFailure},
    output::{Effect, RebootReason},
};
use lab::sim_disk::SharedDisk;
use net::{dialer::Dialer, tls::Roots};
use runtime::clock::Clock;
use serde_json::{Map, Value, json};
use tokio::{
    sync::mpsc::{self, error::TryRecvError},
    time::{Instant, sleep},
};

use super::{
    OWN, Rig, in_memory, json as parse, settings, settled,
    test_broker::{Published, TestBroker},
};

async fn next_result(broker: &mut TestBroker) -> Map<String, Value> {
    parse(&broker.on(&format!("{OWN}/result")).await.payload)
}

/// The results of commands among messages.
fn results(messages: &[Published]) -> Vec<Map<String, Value>> {
    let topic = format!("{OWN}/result");
    let results = messages.iter().filter(|message| message.topic == topic);
    results.map(|message| parse(&message.payload)).collect()
}

#[tokio::test(start_paused = true)]
async fn commands_are_executed_and_answered() {
    let (rig, _arrivals, mut broker) = settled(settings("broker", 0)).await;
    broker
        .publish(
            &format!("{OWN}/cmd/show/text"),
            r#"{"t": "HODL", "id": "a7"}"#,
        )
        .await;
    let result = next_result(&mut broker).await;
    assert_eq!(
        (&result["cmd"], &result["id"], &result["status"]),
        (&json!("show/text"), &json!("a7"), &json!(200))
    );
    rig.wait_for("shown", |view| view.mode == "custom").await;

    broker
        .publish(&format!("{OWN}/set"), r#"{"ledBrightness": 300}"#)
        .await;
    let result = next_result(&mut broker).await;
    assert_eq!(
        (&result["status"], &result["error"]),
        (&json!(400), &json!("range:ledBrightness"))
    );
    broker.publish(&format!("{OWN}/cmd/nothing"), "").await;
    assert_eq!(next_result(&mut broker).await["status"], 404);
    rig.wait_for_dropped("refused", 2).await;

    broker
        .request(
            &format!("{OWN}/set"),
            r#"{"ledBrightness": 3}"#,
            &format!("{OWN}/tools/7"),
            b"mine",
        )
        .await;
    // The settings are published before or after the response.
    let messages = broker.all_within(Duration::from_secs(5)).await;
    let on = |topic: &str| {
        messages
            .iter()
            .find(|message| message.topic == topic)
            .unwrap()
    };
    let response = on(&format!("{OWN}/tools/7"));
    assert_eq!(response.correlation.as_deref(), Some(b"mine".as_slice()));
    assert_eq!(parse(&response.payload)["status"], 200);
    assert_eq!(rig.view().settings.stored.led_brightness, 3);
    assert_eq!(
        parse(&on(&format!("{OWN}/settings")).payload)["ledBrightness"],
        3
    );
    // A client that may only send commands could publish anywhere.
    broker
        .request(
            &format!("{OWN}/cmd/screen/next"),
            "",
            "papertick/other/cmd/restart",
            b"x",
        )
        .await;
    let result = broker.on(&format!("{OWN}/result")).await;
    assert_eq!(result.correlation, None);
    rig.wait_for_dropped("foreign-topic", 1).await;
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_update_command_is_answered_like_http() {
    let (rig, _arrivals, mut broker) = settled(settings("broker", 0)).await;
    let topic = format!("{OWN}/cmd/firmware/auto_update");
    broker.publish(&topic, r#"{"id": 5}"#).await;
    let result = next_result(&mut broker).await;
    assert_eq!(
        (
            &result["cmd"],
            &result["id"],
            &result["status"],
            &result["error"]
        ),
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
async fn retained_foreign_and_large_commands_are_refused() {
    let (rig, _arrivals, mut broker) = settled(settings("broker", 0)).await;
    broker
        .publish_retained(&format!("{OWN}/cmd/show/text"), r#"{"t": "HODL", "id": 7}"#)
        .await;
    broker
        .publish("papertick/other/cmd/restart", r#"{"id": 8}"#)
        .await;
    broker
        .publish(
            &format!("{OWN}/set"),
            &format!(r#"{{"id": 9, "poolWorker": "{}"}}"#, "x".repeat(17_000)),
        )
        .await;
    rig.wait_for_dropped("retained", 1).await;
    rig.wait_for_dropped("foreign-topic", 1).await;
    rig.wait_for_dropped("too-large", 1).await;
    let messages = broker.all_within(Duration::from_secs(2)).await;
    let results: Vec<String> = results(&messages)
        .iter()
        .map(|result| {
            let [name, id] = ["cmd", "id"].map(|member| &result[member]);
            let [status, error] = ["status", "error"].map(|member| &result[member]);
            format!("{name} {id} {status} {error}")
        })
        .collect();
    assert_eq!(
        results,
        [
            r#""show/text" 7 409 "retained""#,
            r#""papertick/other/cmd/restart" 8 404 "foreign topic""#,
            r#""set" 9 413 "too large""#,
        ]
    );
    // The removal of a retained message is not a command.
    broker
        .publish_retained(&format!("{OWN}/cmd/screen/next"), "")
        .await;
    assert!(broker.all_within(Duration::from_secs(2)).await.is_empty());
    assert_ne!(rig.view().mode, "custom");
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn commands_are_subscribed_with_retain_as_published() {
    let (rig, mut arrivals) = in_memory(settings("broker", 0)).await;
    let broker = TestBroker::accept(&mut arrivals).await;
    for (filter, expected) in [
        (format!("{OWN}/cmd/#"), true),
        (format!("{OWN}/set"), true),
        (format!("{OWN}/light/+/set"), true),
        (format!("{OWN}/quiet/+/set"), true),
        ("papertick/group/all/cmd/#".into(), true),
        ("homeassistant/status".into(), false),
    ] {
        assert!(broker.filters.contains(&filter), "{filter}");
        let has_option = broker.retain_as_published.contains(&filter);
        assert_eq!(has_option, expected, "{filter}");
    }
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_group_restarts_after_a_delay_and_is_never_reset() {
    let (mut rig, _arrivals, mut broker) = settled(settings("broker", 0)).await;
    broker
        .publish(
            "papertick/group/all/cmd/factory_reset",
            r#"{"confirm": "factory_reset"}"#,
        )
        .await;
    let result = next_result(&mut broker).await;
    assert_eq!(
        (&result["status"], &result["error"]),
        (&json!(403), &json!("not for groups"))
    );
    let start = Instant::now();
    broker.publish("papertick/group/all/cmd/restart", "").await;
    assert_eq!(rig.effect().await, Effect::Reboot(RebootReason::Requested));
    assert!(
        start.elapsed() <= Duration::from_secs(31),
        "{:?}",
        start.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_delayed_command_is_not_delayed_twice() {
    let (mut rig, _arrivals, mut broker) = settled(settings("broker", 0)).await;
    broker
        .publish("papertick/group/all/cmd/restart_datasources", "")
        .await;
    broker.publish("papertick/group/all/cmd/restart", "").await;
    broker.publish("papertick/group/all/cmd/restart", "").await;
    let result = next_result(&mut broker).await;
    assert_eq!(
        (&result["cmd"], &result["error"]),
        (&json!("restart"), &json!("already under way"))
    );
    assert_eq!(rig.effect().await, Effect::Reboot(RebootReason::Requested));
}

#[tokio::test(start_paused = true)]
async fn an_overdue_delayed_restart_is_dropped() {
    let (mut rig, mut arrivals, mut broker) = settled(settings("broker", 0)).await;
    broker.publish("papertick/group/all/cmd/restart", "").await;
    // After this result the restart is delayed.
    broker.publish(&format!("{OWN}/cmd/screen/next"), "").await;
    next_result(&mut broker).await;
    rig.send(Input::Linked(LinkEvent::Down(LinkFailure::Lost)))
        .await;
    sleep(Duration::from_secs(300)).await;
    let (ip, ssid) = ("192.0.2.7".into(), None);
    rig.send(Input::Linked(LinkEvent::Up { ip, ssid })).await;
    let mut broker = TestBroker::accept(&mut arrivals).await;
    broker.all_within(Duration::from_secs(60)).await;
    let effect = rig.outputs.effects.try_recv();
    assert_eq!(effect, Err(TryRecvError::Empty));
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_command_that_changes_the_connection_is_answered() {
    let (mut rig, mut arrivals, mut broker) = settled(settings("broker", 0)).await;
    let start = Instant::now();
    // Its delay goes on during the next connection.
    broker.publish("papertick/group/all/cmd/restart", "").await;
    broker
        .publish("papertick/group/all/set", r#"{"mqttPanels": false}"#)
        .await;
    for id in 0..3 {
        let change = format!(r#"{{"id": {id}, "ledBrightness": 7}}"#);
        broker.publish(&format!("{OWN}/set"), &change).await;
    }
    let mut statuses = BTreeMap::new();
    for _ in 0..4 {
        let result = next_result(&mut broker).await;
        let id = result.get("id").and_then(Value::as_u64);
        statuses.insert(id, result["status"].as_u64().unwrap());
    }
    assert_eq!(statuses[&None], 200, "{statuses:?}");
    for id in 0..3 {
        assert!([200, 503].contains(&statuses[&Some(id)]), "{statuses:?}");
    }
    assert!(!rig.view().settings.active.mqtt_panels);
    let _next = TestBroker::accept(&mut arrivals).await;
    assert_eq!(rig.effect().await, Effect::Reboot(RebootReason::Requested));
    assert!(start.elapsed() <= Duration::from_secs(31));
}

#[tokio::test(start_paused = true)]
async fn commands_that_arrive_while_disconnecting_are_refused() {
    let (rig, _arrivals, mut broker) = settled(settings("broker", 0)).await;
    rig.patch(json!({ "mqttEnabled": false })).await;
    broker
        .publish(&format!("{OWN}/cmd/show/text"), r#"{"t": "HODL", "id": 1}"#)
        .await;
    broker
        .publish_retained(&format!("{OWN}/set"), r#"{"ledBrightness": 7, "id": 2}"#)
        .await;
    let messages = broker.all_within(Duration::from_secs(5)).await;
    let number = |result: &Map<String, Value>, member: &str| result[member].as_u64().unwrap();
    let statuses: BTreeMap<u64, u64> = results(&messages)
        .iter()
        .map(|result| (number(result, "id"), number(result, "status")))
        .collect();
    assert_eq!(statuses, BTreeMap::from([(1, 503), (2, 409)]));
    assert!(broker.is_disconnected);
    assert_ne!(rig.view().mode, "custom");
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_running_command_does_not_prevent_disconnect() {
    let (arrive, mut arrivals) = mpsc::channel(4);
    let dialer = Dialer::in_memory(Roots::public(), arrive);
    let settings = settings("broker", 0);
    let disk = SharedDisk::default();
    let (rig, _store) = Rig::without_store(Clock::unset(), dialer, settings, disk).await;
    let mut broker = TestBroker::accept(&mut arrivals).await;
    broker.all_within(Duration::from_secs(15)).await;
    // It never finishes, because nothing is stored.
    broker
        .publish(&format!("{OWN}/set"), r#"{"ledBrightness": 7}"#)
        .await;
    assert_eq!(broker.all_within(Duration::from_secs(5)).await, []);
    rig.stopper.stop();
    let last = broker.all_within(Duration::from_secs(5)).await;
    let last: Vec<_> = last
        .iter()
        .map(|message| (&*message.topic, &*message.payload))
        .collect();
    let status = format!("{OWN}/status");
    assert_eq!(last, [(&*status, &b"offline"[..])]);
    assert!(broker.is_disconnected);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn commands_over_the_limit_are_refused() {
    let (rig, _arrivals, mut broker) = settled(settings("broker", 0)).await;
    for _ in 0..2000 {
        broker
            .publish(&format!("{OWN}/set"), r#"{"ledBrightness": 7}"#)
            .await;
    }
    broker.all_within(Duration::from_secs(5)).await;
    let dropped = rig.view().mqtt.clone().unwrap().dropped;
    assert!(
        dropped.get("busy").is_some_and(|busy| *busy > 0),
        "{dropped:?}"
    );
    assert_eq!(rig.view().settings.stored.led_brightness, 7);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn passwords_are_hashed_and_never_published() {
    let (rig, _arrivals, mut broker) = settled(settings("broker", 0)).await;
    broker
        .publish(
            &format!("{OWN}/set"),
            r#"{"otaPass": "planted-1", "mqttUser": "me"}"#,
        )
        .await;
    let view = rig
        .wait_for("changed", |view| view.settings.stored.mqtt_user == "me")
        .await;
    assert!(
        view.settings
            .stored
            .ota_pass
            .phc()
            .starts_with("$argon2id$")
    );
    for message in broker.all_within(Duration::from_secs(5)).await {
        let text = String::from_utf8_lossy(&message.payload);
        assert!(
            !text.contains("planted") && !text.contains("argon2"),
            "{text}"
        );
    }
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_command_is_parsed_after_the_one_before_it() {
    let (rig, _arrivals, mut broker) = settled(settings("broker", 0)).await;
    for led in 1..=3 {
        let red = r#"{"state": "ON", "color": {"r": 9, "g": 0, "b": 0}}"#;
        broker.publish(&format!("{OWN}/light/{led}/set"), red).await;
    }
    broker
        .publish(&format!("{OWN}/quiet/from/set"), "21:30")
        .await;
    broker
        .publish(&format!("{OWN}/quiet/until/set"), "06:15")
        .await;
    broker.all_within(Duration::from_secs(2)).await;
    let view = rig.view();
    let red = view.lights.iter().filter(|led| led.red == 9).count();
    assert_eq!(red, 3, "{:?}", view.lights);
    let settings = &view.settings.stored;
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
