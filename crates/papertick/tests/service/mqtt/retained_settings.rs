//! Settings that are retained at the broker.

use std::{sync::Arc, time::Duration};

use device::settings::Settings;
use mqtt_protocol_core::mqtt::Version;
use serde_json::json;
use tokio::time::sleep;

use super::{
    OWN, in_memory, json as parse, settings, settled,
    test_broker::{Published, TestBroker},
};

/// The newest report among messages.
fn last_report(messages: &[Published]) -> &Published {
    let topic = format!("{OWN}/reported");
    let report = messages.iter().rfind(|message| message.topic == topic);
    report.expect("no report")
}

/// Documents of `all`, a group and the clock arrive in any order and with any delay.
#[tokio::test(start_paused = true)]
async fn retained_settings_are_merged_and_the_more_specific_wins() {
    let grouped = Settings {
        mqtt_groups: "shop".into(),
        ..settings("broker", 0)
    };
    let (rig, mut arrivals) = in_memory(grouped).await;
    let mut broker = TestBroker::accept(&mut arrivals).await;
    let own = format!("{OWN}/desired");
    let (all, shop) = (
        "papertick/group/all/desired",
        "papertick/group/shop/desired",
    );
    // Delay, s; topic; document; then LED brightness, `mowMode`, `suffixPrice`.
    #[rustfmt::skip]
    let rows = [
        (0, &*own, r#"{"rev":"c","settings":{"ledBrightness":3}}"#, None),
        (0, shop, r#"{"settings":{"ledBrightness":2,"mowMode":true}}"#, None),
        (3, all, r#"{"settings":{"ledBrightness":1,"mowMode":false,"suffixPrice":true}}"#, Some((3, true, true))),
        // A later document of the group does not win over the clock's own.
        (3, shop, r#"{"settings":{"ledBrightness":8}}"#, Some((3, false, true))),
        // Without the clock's own document that of the group wins.
        (3, &*own, "", Some((8, false, true))),
        (3, shop, "", Some((1, false, true))),
        // A mistake in one document does not stop the others.
        (3, shop, r#"{"settings":{"ledBrightness":9,"mqttPort":-1}}"#, Some((1, false, true))),
        (3, &*own, r#"{"settings":{"mowMode":true}}"#, Some((1, true, true))),
    ];
    for (delay, topic, document, expected) in rows {
        broker.publish_retained(topic, document).await;
        sleep(Duration::from_secs(delay)).await;
        let settings = Arc::clone(&rig.view().settings.stored);
        let applied = (
            settings.led_brightness,
            settings.mow_mode,
            settings.suffix_price,
        );
        if let Some(expected) = expected {
            assert_eq!(applied, expected, "{document}");
        }
    }
    let messages = broker.all_within(Duration::from_secs(1)).await;
    let reported = parse(&last_report(&messages).payload);
    assert_eq!(reported["scope"], "own");
    assert_eq!(reported["scopes"]["shop"]["error"], "range:mqttPort");
    assert_eq!(reported["scopes"]["all"]["applied"], true);

    // Both names of a setting are the same setting; objects are merged by member, screens by id.
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
        broker.publish_retained(shop, "").await;
        broker.publish_retained(all, &general.to_string()).await;
        broker
            .publish_retained(&own, &own_settings.to_string())
            .await;
        sleep(Duration::from_secs(3)).await;
        let settings = Arc::clone(&rig.view().settings.stored);
        assert_eq!(settings.explorer_instance.expose(), "own.example");
        assert_eq!(
            (
                settings.dnd_enabled,
                settings.dnd_time_enabled,
                settings.dnd_start_hour
            ),
            (true, false, 1)
        );
        let is_off = |screen| !settings.is_screen_enabled(screen);
        assert!(is_off(0) && is_off(3), "screens are merged by id");
    }

    // Without documents there is no report.
    for topic in [all, shop, &*own] {
        broker.publish_retained(topic, "").await;
    }
    let messages = broker.all_within(Duration::from_secs(3)).await;
    let report = last_report(&messages);
    assert!(report.retain && report.payload.is_empty());

    // The owner's change stays until the broker sends the documents again.
    rig.patch(json!({ "ledBrightness": 77 })).await;
    sleep(Duration::from_secs(3)).await;
    assert_eq!(rig.view().settings.stored.led_brightness, 77);
    drop(broker);
    let mut broker = TestBroker::accept(&mut arrivals).await;
    broker
        .publish_retained(all, r#"{"settings":{"ledBrightness":1}}"#)
        .await;
    sleep(Duration::from_secs(3)).await;
    assert_eq!(rig.view().settings.stored.led_brightness, 1);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn invalid_settings_are_reported_and_change_nothing() {
    let (rig, _arrivals, mut broker) = settled(settings("broker", 0)).await;
    let before = rig.view().settings.stored.led_brightness;
    #[rustfmt::skip]
    let rows = [
        (r#"{"rev":"e","settings":{"ledBrightness":5,"mqttPort":-1}}"#, "e", "range:mqttPort"),
        (r#"{"rev":"f","settings":{"ledBrightness":5,"mqttPass":"x"}}"#, "f", "mqttPass:secret"),
        ("{", "", "json"),
    ];
    for (document, rev, error) in rows {
        broker
            .publish_retained(&format!("{OWN}/desired"), document)
            .await;
        loop {
            let report = parse(&broker.on(&format!("{OWN}/reported")).await.payload);
            if report["error"] == error {
                assert_eq!(
                    (&report["rev"], &report["applied"]),
                    (&json!(rev), &json!(false))
                );
                break;
            }
        }
        assert_eq!(
            rig.view().settings.stored.led_brightness,
            before,
            "{document}"
        );
    }
    // A document may need a setting of another one.
    broker
        .publish_retained(
            &format!("{OWN}/desired"),
            r#"{"settings":{"proxyHost":"proxy"}}"#,
        )
        .await;
    broker
        .publish_retained(
            "papertick/group/all/desired",
            r#"{"settings":{"proxyEnabled":true}}"#,
        )
        .await;
    rig.wait_for("applied", |view| view.settings.stored.proxy_enabled)
        .await;
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn too_large_settings_do_not_end_a_3_1_1_connection() {
    let version_3 = Settings {
        mqtt_protocol: 2,
        ..settings("broker", 0)
    };
    let (rig, mut arrivals) = in_memory(version_3).await;
    let mut broker = TestBroker::accept(&mut arrivals).await;
    assert_eq!(broker.version(), Version::V3_1_1);
    let document = format!(
        r#"{{"rev": "a", "settings": {{"poolWorker": "{}"}}}}"#,
        "x".repeat(40_000)
    );
    broker
        .publish_retained(&format!("{OWN}/desired"), &document)
        .await;
    let report = parse(&broker.on(&format!("{OWN}/reported")).await.payload);
    assert_eq!(report["error"], "too large");
    rig.wait_for_dropped("too-large", 1).await;
    rig.wait_until_up().await;
    rig.stop().await;
}
