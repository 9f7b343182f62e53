//! The document of GET, and its schemas.

use std::{collections::BTreeMap, sync::Arc};

use device::{
    request::Patch,
    secret::{PasswordHash, Secret},
    settings::patch::{self, Catalogue},
    settings::spec::Access,
    settings::{SPECS, Settings, TEXT_MAX, emit},
};
use market::{Datum, Seen, source_id::SourceId};
use serde_json::{Map, Value, json};

use crate::bench;

const SECRET: &str = "71a8c14c1407c113601079c4302dab36460f0ccd0ad506f1f2dc73b5100e4f3c";
const WALLET: &str = "b889ff5b1513b641e2a139f661a661364979c5beee91842f8f0ef42ab558e9d4";

/// Settings with a recognisable secret in every secret setting.
fn with_all_secrets() -> Settings {
    Settings {
        proxy_pass: Secret::new("planted-proxy-secret"),
        mining_pool_name: "viabtc".into(),
        mining_pool_user: Secret::new("planted-pool-secret"),
        nwc_uri: Secret::new(format!(
            "nostr+walletconnect://{WALLET}?relay=wss%3A%2F%2Fr.example&secret={SECRET}"
        )),
        http_auth_pass: PasswordHash::new("planted-http-hash"),
        ota_pass: PasswordHash::new("planted-ota-hash"),
        mqtt_pass: Secret::new("planted-mqtt-secret"),
        mqtt_key: Secret::new("planted-mqtt-key"),
        mqtt_host: "me:planted@broker".into(),
        proxy_host: "me:planted@proxy".into(),
        explorer_instance: "me:planted@explorer:80".into(),
        ce_endpoint: "wss://me:planted@relay".into(),
        local_pool_host: "me:planted@pool:2019".into(),
        pool_logos_url: "https://me:planted@logos/a".into(),
        miner_hostname: "me:planted@miner".into(),
        nostr_relay: "wss://me:planted@relay/".into(),
        git_release_url: "https://me:planted@releases/".into(),
        nostr_relays: vec!["wss://me:planted@another/".into()],
        node_host: "me:planted@node".into(),
        ..Settings::default()
    }
}

#[test]
fn no_secret_is_shown() {
    let settings = with_all_secrets();
    let document = Value::Object(bench::get(&settings)).to_string();
    for text in [document, format!("{settings:?}")] {
        assert!(
            !text.contains("planted") && !text.contains(SECRET) && !text.contains(&SECRET[..8]),
            "{text}"
        );
    }
    let document = bench::get(&settings);
    for name in [
        "proxyPassSet",
        "nwcUriSet",
        "httpAuthPassSet",
        "otaPassSet",
        "mqttPassSet",
        "mqttKeySet",
        "miningPoolUserSet",
    ] {
        assert_eq!(document.get(name), Some(&json!(true)), "{name}");
    }
    let masked = "nostr+walletconnect://b889ff5b…?relay=wss://r.example&secret=…4f3c";
    assert_eq!(document.get("nwcUriMasked"), Some(&json!(masked)));
    for spec in SPECS.iter().filter(|spec| spec.access == Access::WriteOnly) {
        assert!(!document.contains_key(spec.name), "{}", spec.name);
    }
}

/// A client that sends back the whole document, with passwords masked, clears no password.
#[test]
fn masked_secrets_are_kept_when_a_client_sends_them_back() {
    let settings = with_all_secrets();
    let document = bench::get(&settings);
    let hidden = [
        ("proxyHost", "me:***@proxy"),
        ("mqttHost", "me:***@broker"),
        ("explorerInstance", "me:***@explorer:80"),
        ("mempoolInstance", "me:***@explorer:80"),
        ("ceEndpoint", "wss://me:***@relay"),
        ("localPoolHost", "me:***@pool:2019"),
        ("poolLogosUrl", "https://me:***@logos/a"),
        ("minerHostname", "me:***@miner"),
        ("nostrRelay", "wss://me:***@relay/"),
        ("nodeHost", "me:***@node"),
        ("gitReleaseUrl", "https://me:***@releases/"),
    ];
    for (name, expected) in hidden {
        assert_eq!(document.get(name), Some(&json!(expected)), "{name}");
    }
    let sent = hidden.map(|(name, shown)| (name.to_string(), json!(shown)));
    let patched = bench::patch(&settings, &sent.into_iter().collect()).unwrap();
    assert_eq!(
        (patched.settings, patched.changed.reboot_required),
        (settings.clone(), false)
    );
    // The rest of the URL can be changed without the password.
    let moved = bench::send(&settings, r#"{"poolLogosUrl": "https://me:***@logos/b/"}"#).unwrap();
    let expected = "https://me:planted@logos/b";
    assert_eq!(moved.settings.pool_logos_url.expose(), expected);
    let fresh = bench::send(&Settings::default(), r#"{"minerHostname": "me:***@m"}"#).unwrap();
    assert_eq!(fresh.settings.miner_hostname.expose(), "me@m");
    // The password is not sent to another host.
    let other = bench::send(&settings, r#"{"minerHostname": "me:***@other"}"#).unwrap();
    assert_eq!(other.settings.miner_hostname.expose(), "me@other");
    let long = format!(
        r#"{{"poolLogosUrl": "https://me:***@logos/{}"}}"#,
        "x".repeat(234)
    );
    let refused = bench::send(&settings, &long).unwrap_err();
    assert_eq!(refused.to_string(), "poolLogosUrl:bad_type");
}

#[test]
fn an_unreadable_pairing_is_set_but_has_no_masked_form() {
    let settings = Settings {
        nwc_uri: Secret::new("planted"),
        ..Settings::default()
    };
    let document = bench::get(&settings);
    assert_eq!(
        (document.get("nwcUriSet"), document.get("nwcUriMasked")),
        (Some(&json!(true)), None)
    );
    let fresh = bench::get(&Settings::default());
    assert_eq!(
        (fresh.get("nwcUriSet"), fresh.get("nwcUriMasked")),
        (Some(&json!(false)), None)
    );
}

#[test]
fn the_state_is_that_of_the_view() {
    let mut view = bench::view(&Settings::default());
    Arc::make_mut(&mut view.settings.active).timer_active = false;
    view.current_screen = 4;
    view.link.ip = "192.0.2.7".into();
    Arc::make_mut(&mut view.market).height = Some(Datum {
        value: 840_000,
        source: SourceId::Relay,
        seen: Seen::Before(None),
    });
    let document = emit::document(&view, &bench::identity());
    let expected = json!({
        "numScreens": 7, "hostname": "papertick-abcdef", "ip": "192.0.2.7", "hwRev": "Rev B, 7 x 2.13 in, simulated",
        "fsRev": "4.0.0", "gitRev": "4.0.0", "gitTag": "4.0.0", "lastBuildTime": 1_767_225_600, "timerRunning": false,
        "timerActive": true, "currentScreen": 4, "blockHeight": 840_000, "hasFrontlight": true, "hasLightLevel": true,
        "lightLevel": 15.8, "txPower": 80, "screenOrder": "", "timerSeconds": 1800,
        "actCurrencies": ["USD", "EUR", "JPY"],
        "availableCurrencies": ["USD", "EUR", "GBP", "CAD", "CHF", "AUD", "JPY"],
        "dnd": { "enabled": false, "dndTimeEnabled": false, "startHour": 22, "startMinute": 0, "endHour": 7, "endMinute": 0 },
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(document.get(name), Some(value), "{name}");
    }
    let order: Vec<&str> = document.keys().map(String::as_str).take(9).collect();
    let first = [
        "numScreens",
        "hostname",
        "ip",
        "hwRev",
        "fsRev",
        "gitRev",
        "gitTag",
        "lastBuildTime",
        "fontName",
    ];
    assert_eq!(order, first);
}

#[test]
fn unknown_values_are_omitted() {
    let mut view = bench::view(&Settings::default());
    view.millilux = None;
    let document = emit::document(&view, &emit::BuildIdentity::default());
    for name in ["gitRev", "gitTag", "lastBuildTime", "lightLevel"] {
        assert_eq!(document.get(name), None, "{name}");
    }
    assert_eq!(
        (document.get("fsRev"), document.get("blockHeight")),
        (Some(&json!("")), Some(&json!(0)))
    );
    view.board.light_sensor = false;
    view.millilux = Some(1);
    assert_eq!(
        emit::document(&view, &bench::identity()).get("lightLevel"),
        None
    );
}

#[test]
fn light_is_rounded_to_tenths() {
    let rows = [
        (0, "0.0"),
        (49, "0.0"),
        (50, "0.1"),
        (949, "0.9"),
        (950, "1.0"),
        (15_849, "15.8"),
        (u32::MAX, "4294967.3"),
    ];
    for (millilux, expected) in rows {
        assert_eq!(json!(emit::lux(millilux)).to_string(), expected);
    }
}

#[test]
fn fonts_report_whether_they_have_the_bitcoin_sign() {
    let mut identity = bench::identity();
    identity.bitcoin_sign_fonts = device::settings::fonts::FontId::named("inter")
        .into_iter()
        .collect();
    let document = emit::document(&bench::view(&Settings::default()), &identity);
    let fonts = document
        .get("availableFonts")
        .and_then(Value::as_array)
        .unwrap();
    assert_eq!(fonts[0], json!({ "id": "antonio", "hasBtcSymbol": false }));
    assert_eq!(fonts[2], json!({ "id": "inter", "hasBtcSymbol": true }));
}

#[test]
fn the_largest_document_fits_into_a_body() {
    let mut settings = with_all_secrets();
    let longest = |start: &str| format!("{start}{}", "x".repeat(TEXT_MAX - start.len()));
    for spec in SPECS {
        match spec.kind.control()["control"].as_str().unwrap() {
            "text" if spec.kind.is_text() => {
                let most = spec.kind.control()["maxBytes"].as_u64();
                let most = most.map_or(TEXT_MAX, |most| most as usize);
                settings.set(spec.key, &json!("x".repeat(most.min(TEXT_MAX))));
            }
            "url" => {
                settings.set(spec.key, &json!(longest("https://")));
            }
            _ => {}
        }
    }
    settings.nostr_relays = vec![longest("wss://").as_str().into(); 8];
    settings.nostr_zap_pubkeys = vec!["ab".repeat(32); 8];
    settings.kept_texts = vec![vec!["x".repeat(32); 8]; 10];
    settings.mining_pool_name = "ocean".into();
    let document = Value::Object(bench::get(&settings)).to_string();
    assert!(document.len() < 16 * 1024, "{}", document.len());
}

#[test]
fn conditions_of_settings_can_be_true_and_false() {
    let document = bench::get(&Settings::default());
    for spec in SPECS {
        for condition in spec.needs {
            let (key, values) = condition.terms();
            let name = spec.name;
            assert!(document.contains_key(key), "{name}: GET has no `{key}`");
            assert!(
                !values.is_empty(),
                "{name}: no value of `{key}` meets the condition"
            );
            let Some(needed) = SPECS.iter().find(|row| row.name == key) else {
                continue;
            };
            for value in values {
                let mut settings = Settings::default();
                assert!(settings.set(needed.key, &value), "{name}: {key} {value}");
                let body = Map::from_iter([(key.to_string(), value.clone())]);
                let patch = Patch {
                    body,
                    hashes: BTreeMap::new(),
                };
                let own = ["proxyEnabled", "mqttEnabled", "httpAuthEnabled"].contains(&key);
                let taken = patch::apply(&Settings::default(), &patch, &Catalogue::default());
                assert!(
                    own || taken.is_ok(),
                    "{name}: {key} does not accept {value}"
                );
            }
        }
    }
}
