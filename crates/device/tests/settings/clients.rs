//! Requests of existing clients.

use device::settings::Settings;
use serde_json::{Map, Value, json};

use crate::bench;

/// Settings of a device in use: features on, order changed, secrets set.
fn used() -> Settings {
    let bodies = [
        r#"{"minerEnabled": true, "miningPoolStats": true, "miningPoolName": "viabtc", "miningPoolUser": "key"}"#,
        r#"{"proxyType": 1, "proxyHost": "p", "proxyPass": "s", "txPower": 40, "invertedColor": true, "timePerScreen": 2.5}"#,
        r#"{"dnd": {"enabled": true, "dndTimeEnabled": true, "startHour": 1, "startMinute": 2, "endHour": 3, "endMinute": 4}}"#,
        r#"{"httpAuthPass": "pw", "actCurrencies": ["JPY", "USD"], "screens": [{"id": 3, "enabled": false}]}"#,
    ];
    bodies.iter().fold(Settings::default(), |stored, body| {
        bench::send(&stored, body).unwrap().settings
    })
}

/// The document without these keys.
fn without(settings: &Settings, names: &[&str]) -> Map<String, Value> {
    let mut document = bench::get(settings);
    document.retain(|name, _| !names.contains(&name.as_str()));
    document
}

fn check_save(stored: &Settings, body: &Map<String, Value>, expected: &Settings, reboot: bool) {
    let patched = bench::patch(stored, body).unwrap_or_else(|token| panic!("{token}"));
    assert_eq!(&patched.settings, expected);
    assert_eq!(patched.changed.reboot_required, reboot);
}

#[test]
fn the_page_of_2024_saves_the_whole_document() {
    let stored = used();
    let mut body = without(&stored, &["gitRev", "ip", "lastBuildTime"]);
    body.insert("fgColor".into(), json!("65535"));
    body.insert("bgColor".into(), json!("0"));
    body.insert("timePerScreen".into(), serde_json::from_str("2.5").unwrap());
    // Sending back the order of GET stores it as the owner's choice.
    let stored_order = Settings {
        screen_order: stored.available_screens(),
        ..stored.clone()
    };
    check_save(&stored, &body, &stored_order, false);
    check_save(&stored_order, &body, &stored_order, false);

    body.insert("mempoolInstance".into(), json!("explorer.lan"));
    body.insert(
        "timePerScreen".into(),
        serde_json::from_str("2.3333333333333335").unwrap(),
    );
    let expected = Settings {
        explorer_instance: "explorer.lan".into(),
        timer_seconds: 140,
        ..stored_order.clone()
    };
    check_save(&stored_order, &body, &expected, true);
}

#[test]
fn the_page_of_v4_saves_the_whole_document() {
    let stored = used();
    let mut body = without(
        &stored,
        &[
            "gitRev",
            "ip",
            "lastBuildTime",
            "httpAuthPassSet",
            "otaPassSet",
        ],
    );
    body.insert("bitaxeEnabled".into(), json!(false));
    let mut screens = body.get("screens").unwrap().as_array().unwrap().clone();
    screens.reverse();
    for (order, screen) in screens.iter_mut().enumerate() {
        screen
            .as_object_mut()
            .unwrap()
            .insert("order".into(), json!(order));
    }
    body.insert("screens".into(), screens.clone().into());
    let patched = bench::patch(&stored, &body).unwrap();
    let ids = |list: &[Value]| {
        list.iter()
            .map(|screen| screen.get("id").cloned().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        json!(patched.settings.screen_order),
        Value::Array(ids(&screens))
    );
    assert!(!patched.settings.miner_enabled && !patched.changed.reboot_required);
}

#[test]
fn the_home_integration_sends_one_key_at_a_time() {
    let bodies = [
        r#"{"bitaxePollSec": 30}"#,
        r#"{"invertedColor": true}"#,
        r#"{"fontName": "robotoBold"}"#,
        r#"{"miningPoolName": "ocean"}"#,
        r#"{"useSatsSymbol": true}"#,
        r#"{"tzString": "America/New_York"}"#,
        r#"{"dnd": {"enabled": false, "dndTimeEnabled": true, "startHour": 23, "startMinute": 15, "endHour": 6, "endMinute": 45}}"#,
    ];
    for body in bodies {
        let patched = bench::send(&Settings::default(), body)
            .unwrap_or_else(|token| panic!("{body}: {token}"));
        assert!(!patched.changed.reboot_required, "{body}");
    }
}

#[test]
fn the_object_of_version_3_is_accepted() {
    let object = bench::object(
        r#"{"fetchEurPrice": true, "fgColor": "16777215", "bgColor": "0", "ledTestOnPower": true, "ledFlashOnUpd": true,
            "mdnsEnabled": true, "otaEnabled": true, "stealFocus": true, "mcapBigChar": false, "explorerInstance": "e",
            "ledBrightness": 12, "fullRefreshMin": 30, "screen[0]": true, "screen[1]": false, "screen[5]": false,
            "tzOffset": 60, "minSecPriceUpd": 15, "timePerScreen": 5}"#,
    );
    let patched = bench::patch(&Settings::default(), &object).unwrap();
    assert!(patched.changed.reboot_required);
    let settings = patched.settings;
    assert_eq!(
        settings
            .currencies()
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        ["EUR"]
    );
    assert!(
        settings.inverted_color
            && settings.led_flash_on_upd
            && settings.steal_focus
            && !settings.mcap_big_char
    );
    assert_eq!(
        (settings.led_brightness, settings.full_refresh_min),
        (12, 30)
    );
    assert_eq!(
        (settings.min_sec_price_upd, settings.timer_seconds),
        (15, 300)
    );
    assert_eq!(settings.explorer_instance.expose(), "e");
    let enabled = [0, 10, 20, 3, 4, 30].map(|id| settings.is_screen_enabled(id));
    assert_eq!(enabled, [true, false, true, true, true, false]);
    assert_eq!(settings.tz_string, "Europe/Amsterdam");
}
