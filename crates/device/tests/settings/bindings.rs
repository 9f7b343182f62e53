//! A password is sent only to the server that it was entered for.

use device::settings::{Settings, patch::Patched, transfer};
use serde_json::{Map, Value, json};

use crate::bench;

/// Settings with every password that is sent to a server.
const ENTERED: &str = r#"{
    "nodeKind": 4, "nodeHost": "node.lan", "nodePort": 8332, "nodeUser": "rpc", "nodePass": "secret-1",
    "mqttHost": "10.0.0.7", "mqttUser": "clock", "mqttPass": "secret-2",
    "proxyHost": "proxy", "proxyUser": "me", "proxyPass": "secret-3",
    "miningPoolName": "braiins", "miningPoolUser": "secret-4"
}"#;

/// A change, and the passwords that are cleared with it.
#[rustfmt::skip]
const CHANGES: &[(&str, &[&str])] = &[
    (r#"{"ledBrightness": 3, "nodeHost": "node.lan"}"#, &[]),
    (r#"{"nodeHost": "evil"}"#, &["nodePass"]),
    (r#"{"nodePort": 8333}"#, &["nodePass"]),
    (r#"{"nodeUser": "other"}"#, &["nodePass"]),
    (r#"{"nodeTls": true}"#, &[]),
    (r#"{"nodeHost": "other", "nodePass": "secret-1"}"#, &[]),
    (r#"{"mqttHost": "evil"}"#, &["mqttPass"]),
    (r#"{"mqttPort": 1884}"#, &["mqttPass"]),
    (r#"{"mqttUser": ""}"#, &["mqttPass"]),
    (r#"{"mqttTls": true, "mqttCa": "-----BEGIN CERTIFICATE-----QUJD-----END CERTIFICATE-----"}"#, &[]),
    (r#"{"mqttHost": "other", "mqttPass": "new"}"#, &[]),
    (r#"{"proxyHost": "evil"}"#, &["proxyPass"]),
    (r#"{"proxyPort": 9050}"#, &["proxyPass"]),
    (r#"{"proxyUser": "other"}"#, &["proxyPass"]),
    (r#"{"proxyType": 1, "proxyBypass": ""}"#, &[]),
    // A proxy can read unencrypted traffic; the broker is bypassed, because 10.* is by default.
    (r#"{"proxyType": 1, "proxyEnabled": true}"#, &["nodePass"]),
    (r#"{"proxyType": 4, "proxyEnabled": true, "proxyBypass": "node.*, *"}"#, &[]),
    (r#"{"proxyType": 4, "proxyEnabled": true, "proxyBypass": "*.LAN"}"#, &["mqttPass"]),
    (
        r#"{"nodeHost": "a", "mqttHost": "b", "proxyHost": "c", "miningPoolName": "ocean"}"#,
        &["nodePass", "mqttPass", "proxyPass", "miningPoolUser"],
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
        let secrets = transfer::split_secrets(&settings).merged();
        let text = Value::from(secrets).to_string();
        assert_eq!(text.contains("secret-1"), !cleared.contains(&"nodePass"));
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
    let encrypted = r#"{"nodeTls": true, "mqttTls": true}"#;
    let stored = bench::send(&entered, encrypted).unwrap().settings;
    let authority = "-----BEGIN CERTIFICATE-----QUJD-----END CERTIFICATE-----";
    for (body, cleared) in [
        (json!({ "nodeTls": false }), &["nodePass"][..]),
        (json!({ "mqttTls": false }), &["mqttPass"]),
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
    let moved = import(json!({ "nodeHost": "evil", "mqttHost": "evil", "mqttPass": "theirs" }));
    assert_eq!(moved.changed.cleared, ["nodePass"]);
    assert!(moved.settings.node_pass.is_empty());
    assert_eq!(moved.settings.mqtt_pass.expose(), "theirs");
    let notes: Vec<String> = moved.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        ["nodePass is cleared, because it belongs to another server: enter it again"]
    );
    let secret =
        |change: &transfer::SettingChange| change.name == "nodePass" && change.values.is_none();
    assert!(moved.changes.iter().any(secret));
    // Importing the clock's own export without secrets changes nothing.
    let own = transfer::import(&stored, &transfer::split_secrets(&stored).open);
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
