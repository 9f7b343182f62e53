//! A password is sent only to the server that it was entered for.

use device::settings::{Settings, patch::Patched, transfer};
use serde_json::{Map, Value, json};

use crate::bench;

/// Settings with every password that is sent to a server.
const ENTERED: &str = r#"{
    "mqttHost": "broker.lan", "mqttUser": "clock", "mqttPass": "secret-2",
    "proxyHost": "proxy", "proxyUser": "me", "proxyPass": "secret-3",
    "miningPoolName": "braiins", "miningPoolUser": "secret-4"
}"#;

/// A change, and the passwords that are cleared with it.
#[rustfmt::skip]
const CHANGES: &[(&str, &[&str])] = &[
    (r#"{"ledBrightness": 3, "mqttHost": "broker.lan"}"#, &[]),
    (r#"{"mqttHost": "evil"}"#, &["mqttPass"]),
    (r#"{"mqttPort": 1884}"#, &["mqttPass"]),
    (r#"{"mqttUser": ""}"#, &["mqttPass"]),
    (r#"{"mqttTls": true, "mqttCa": "-----BEGIN CERTIFICATE-----QUJD-----END CERTIFICATE-----"}"#, &[]),
    (r#"{"mqttHost": "other", "mqttPass": "new"}"#, &[]),
    (r#"{"proxyHost": "evil"}"#, &["proxyPass"]),
    (r#"{"proxyPort": 9050}"#, &["proxyPass"]),
    (r#"{"proxyUser": "other"}"#, &["proxyPass"]),
    (r#"{"proxyType": 1, "proxyBypass": ""}"#, &[]),
    // A proxy can read unencrypted traffic.
    (r#"{"proxyType": 1, "proxyEnabled": true}"#, &["mqttPass"]),
    (r#"{"proxyType": 4, "proxyEnabled": true, "proxyBypass": "broker.*, *"}"#, &[]),
    (r#"{"proxyType": 4, "proxyEnabled": true, "proxyBypass": "*.LAN"}"#, &[]),
    (r#"{"mqttHost": "10.0.0.7", "mqttPass": "new", "proxyType": 4, "proxyEnabled": true}"#, &[]),
    (
        r#"{"mqttHost": "b", "proxyHost": "c", "miningPoolName": "ocean"}"#,
        &["mqttPass", "proxyPass", "miningPoolUser"],
    ),
    (r#"{"miningPoolName": "viabtc"}"#, &["miningPoolUser"]),
    (r#"{"miningPoolName": "viabtc", "miningPoolUser": "secret-4"}"#, &[]),
];

#[test]
fn a_password_is_cleared_when_its_server_changes_without_it() {
    let stored = bench::send(&Settings::default(), ENTERED).unwrap().settings;
    for (body, cleared) in CHANGES {
        let Patched { settings, changed } = bench::send(&stored, body).unwrap();
        assert_eq!(changed.cleared, *cleared, "{body}");
        for name in *cleared {
            let shown = bench::get(&settings);
            let is_set = shown.get(&format!("{name}Set")).or(shown.get(*name));
            let is_empty = [Some(&json!(false)), Some(&json!(""))].contains(&is_set);
            assert!(is_empty, "{name} after {body}: {is_set:?}");
        }
        let secrets = transfer::with_secrets(&settings);
        let text = Value::from(secrets).to_string();
        assert_eq!(
            text.contains("secret-2"),
            !cleared.contains(&"mqttPass") && !body.contains("new")
        );
        assert_eq!(text.contains("secret-3"), !cleared.contains(&"proxyPass"));
    }
}

/// A password that was entered for an encrypted connection is not sent over a less secure one.
#[test]
fn a_password_is_cleared_when_its_connection_becomes_less_secure() {
    let entered = bench::send(&Settings::default(), ENTERED).unwrap().settings;
    let encrypted = r#"{"mqttTls": true}"#;
    let stored = bench::send(&entered, encrypted).unwrap().settings;
    let authority = "-----BEGIN CERTIFICATE-----QUJD-----END CERTIFICATE-----";
    for (body, cleared) in [
        (json!({ "mqttTls": false }), &["mqttPass"][..]),
        (json!({ "mqttTls": false, "mqttPass": "again" }), &[]),
        (json!({ "mqttCa": authority }), &["mqttPass"]),
        (json!({ "mqttCa": "" }), &[]),
        // A proxy cannot read encrypted traffic.
        (
            json!({ "proxyType": 4, "proxyEnabled": true, "proxyBypass": "" }),
            &[],
        ),
    ] {
        let patched = bench::send(&stored, &body.to_string()).unwrap();
        assert_eq!(patched.changed.cleared, cleared, "{body}");
    }
}

/// The rule holds for imports too.
#[test]
fn an_import_clears_passwords_of_other_servers() {
    let stored = bench::send(&Settings::default(), ENTERED).unwrap().settings;
    let import = |body: Value| {
        let body: Map<String, Value> = serde_json::from_value(body).unwrap();
        transfer::import(&stored, &body)
    };
    let moved = import(json!({ "mqttHost": "evil", "proxyHost": "evil", "proxyPass": "theirs" }));
    assert_eq!(moved.changed.cleared, ["mqttPass"]);
    assert!(moved.settings.mqtt_pass.is_empty());
    assert_eq!(moved.settings.proxy_pass.expose(), "theirs");
    let notes: Vec<String> = moved.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        ["mqttPass is cleared, because it belongs to another server: enter it again"]
    );
    let secret =
        |change: &transfer::SettingChange| change.name == "mqttPass" && change.values.is_none();
    assert!(moved.changes.iter().any(secret));
    // Importing the clock's own export without secrets changes nothing.
    let own = transfer::import(&stored, &transfer::without_secrets(&stored));
    assert_eq!(
        (own.changed.cleared, own.settings),
        (vec![], stored.clone())
    );
}

#[test]
fn a_user_name_is_kept_for_every_pool() {
    let mut settings = bench::send(&Settings::default(), r#"{"miningPoolUser": "bc1q"}"#)
        .unwrap()
        .settings;
    for pool in ["ocean", "braiins", "viabtc", "public_pool"] {
        let body = json!({ "miningPoolName": pool }).to_string();
        let patched = bench::send(&settings, &body).unwrap();
        assert_eq!(patched.changed.cleared, [] as [&str; 0], "{pool}");
        settings = patched.settings;
    }
    assert_eq!(bench::get(&settings)["miningPoolUser"], "bc1q");
}
