//! Export and import: contents, refusals and reports.

use device::{
    secret::{PasswordHash, Secret},
    settings::{
        SPECS, Settings,
        reject::Rejection,
        spec::Access,
        transfer::{self, Import, SettingChange},
    },
};
use serde_json::{Map, Value, json};

use crate::bench;

const HASH: &str = "$argon2id$v=19$m=7168,t=5,p=1$c2FsdHNhbHRzYWx0$aGFzaA";

/// A clock with a secret of every kind.
fn with_all_secrets() -> Settings {
    Settings {
        http_auth_enabled: true,
        http_auth_pass: PasswordHash::new(HASH),
        proxy_pass: Secret::new("horse-staple-1"),
        nwc_uri: Secret::new("nostr+walletconnect://horse-staple-2"),
        mining_pool_name: "viabtc".into(),
        mining_pool_user: Secret::new("horse-staple-3"),
        pool_user_is_key: true,
        git_release_url: "https://me:horse-staple-4@feed.example".into(),
        nostr_relays: vec!["wss://me:horse-staple-5@relay.example".into()],
        miner_hostname: "me:horse-staple-6@miner".into(),
        ..Settings::default()
    }
}

fn import(stored: &Settings, body: Value) -> Import {
    let Value::Object(body) = body else {
        panic!("no object")
    };
    transfer::import(stored, &body)
}

fn names(import: &Import) -> Vec<&'static str> {
    import.changes.iter().map(|change| change.name).collect()
}

#[test]
fn only_an_export_with_secrets_has_secrets() {
    let settings = with_all_secrets();
    let (without, with) = (
        transfer::without_secrets(&settings),
        transfer::with_secrets(&settings),
    );
    let text = |map: &Map<String, Value>| Value::from(map.clone()).to_string();
    let (open, secret) = (text(&without), text(&with));
    assert!(
        !open.contains("horse-staple") && !open.contains("argon2"),
        "{open}"
    );
    for number in 1..=6 {
        let planted = format!("horse-staple-{number}");
        assert!(secret.contains(&planted), "{planted}: {secret}");
    }
    assert!(secret.contains("argon2"), "{secret}");
    assert_eq!(
        without["gitReleaseUrl"], "https://me:***@feed.example",
        "only the password of an address is secret"
    );
    for spec in SPECS.iter().filter(|spec| spec.access == Access::WriteOnly) {
        assert!(!without.contains_key(spec.name), "{}", spec.name);
        assert!(with.contains_key(spec.name), "{}", spec.name);
    }
}

/// GET returns the token of a pool because the interface requires it; exports treat it as a secret.
#[test]
fn the_token_of_a_pool_is_exported_as_a_secret() {
    let body = r#"{"miningPoolName": "braiins", "miningPoolUser": "horse-staple-7"}"#;
    let settings = bench::send(&Settings::default(), body).unwrap().settings;
    assert_eq!(bench::get(&settings)["miningPoolUser"], "horse-staple-7");
    assert!(!transfer::without_secrets(&settings).contains_key("miningPoolUser"));
    let back = transfer::import(&Settings::default(), &transfer::with_secrets(&settings));
    let user = back
        .changes
        .iter()
        .find(|change| change.name == "miningPoolUser");
    assert_eq!(user.unwrap().values, None);
    assert_eq!(back.settings, settings);
}

#[test]
fn an_import_reports_changes_but_no_values_of_secrets() {
    let stored = with_all_secrets();
    let import = import(
        &stored,
        json!({
            "ledBrightness": 7,
            "fontName": stored.font_name,
            "proxyPass": "other",
            "miningPoolUser": "other key",
            "poolUserIsKey": true,
            "gitReleaseUrl": "https://me:other@feed.example",
            "minerHostname": "other-miner",
        }),
    );
    assert_eq!(import.refused, []);
    let change = |name, values: Option<(Value, Value)>| SettingChange { name, values };
    let mut changes = import.changes;
    changes.sort_by_key(|change| change.name);
    assert_eq!(
        changes,
        [
            change("gitReleaseUrl", None),
            change("ledBrightness", Some((json!(128), json!(7)))),
            change(
                "minerHostname",
                Some((json!("me:***@miner"), json!("other-miner")))
            ),
            change("miningPoolUser", None),
            change("proxyPass", None),
        ]
    );
    assert!(!import.changed.reboot_required);
    assert!(import.settings.pool_user_is_key);
}

#[test]
fn masked_and_missing_settings_keep_their_values() {
    let stored = with_all_secrets();
    let open = transfer::without_secrets(&stored);
    let same = transfer::import(&stored, &open);
    assert_eq!((names(&same), same.settings), (vec![], stored.clone()));
    assert!(same.missing.contains(&"nwcUri"), "{:?}", same.missing);
    let nothing = import(&stored, json!({}));
    assert_eq!(nothing.settings, stored);
    assert!(!nothing.missing.contains(&"screensHidden"));
    assert_eq!(
        nothing.missing.len(),
        SPECS
            .iter()
            .filter(|spec| spec.access != Access::Internal)
            .count()
            - 1,
        "all settings except the internal ones and one that belongs to the machine"
    );
}

#[test]
fn an_import_reports_all_refusals() {
    let import = import(
        &Settings::default(),
        json!({
            "ledBrightness": 300,
            "tzString": "Mars/Olympus",
            "dndStartHour": "late",
            "actCurrencies": "USD",
            "proxyEnabled": true,
            "httpAuthEnabled": true,
            "invertedColor": true,
        }),
    );
    let mut tokens: Vec<String> = import.refused.iter().map(Rejection::to_string).collect();
    tokens.sort();
    assert_eq!(
        tokens,
        [
            "actCurrencies:bad_type",
            "dndStartHour:bad_type",
            "httpAuthPass:bad_length",
            "proxyHost:bad_length",
            "range:ledBrightness",
            "tzString:unknown",
        ]
    );
}

#[test]
fn an_import_lists_unknown_names() {
    let import = import(
        &Settings::default(),
        json!({ "ledBrigthness": 3, "holograms": true, "version": 1, "tzOffset": 60, "ledBrightness": 3 }),
    );
    assert_eq!(import.unknown, ["ledBrigthness", "holograms"]);
    assert_eq!(names(&import), ["ledBrightness"]);
}

#[test]
fn values_of_retired_names_are_imported_with_notes() {
    let import = import(
        &Settings {
            font_name: "oswald".into(),
            ..Settings::default()
        },
        json!({ "suffixShareDot": true, "bitaxeHostname": "old-miner", "fontName": "dejavu" }),
    );
    let mut notes: Vec<String> = import.notes.iter().map(ToString::to_string).collect();
    notes.sort();
    assert_eq!(
        notes,
        [
            "decimalShareDot was taken over from suffixShareDot",
            "fontName had a retired value, the default is used",
            "minerHostname was taken over from bitaxeHostname",
        ]
    );
    assert_eq!(import.settings.miner_hostname.expose(), "old-miner");
    assert_eq!(import.settings.font_name, Settings::default().font_name);
    assert_eq!((import.unknown, import.refused), (vec![], vec![]));
}

#[test]
fn the_user_of_a_pool_without_keys_is_not_secret() {
    let import = import(
        &with_all_secrets(),
        json!({ "miningPoolName": "ocean", "miningPoolUser": "bc1q", "poolUserIsKey": false }),
    );
    assert!(!import.settings.pool_user_is_key);
    assert_eq!(import.settings.mining_pool_user.expose(), "bc1q");
    // The previous value was a key, so it is not reported.
    let user = import
        .changes
        .iter()
        .find(|change| change.name == "miningPoolUser");
    assert_eq!(user.unwrap().values, None);
}

#[test]
fn a_file_cannot_declare_a_stored_key_as_public() {
    for body in [
        json!({ "miningPoolName": "ocean", "poolUserIsKey": false }),
        json!({ "poolUserIsKey": false }),
    ] {
        let settings = import(&with_all_secrets(), body).settings;
        let (user, is_key) = (
            settings.mining_pool_user.expose(),
            settings.pool_user_is_key,
        );
        assert!(user.is_empty() || is_key, "{user}");
        assert_ne!(
            (settings.mining_pool_name.as_str(), user),
            ("ocean", "horse-staple-3")
        );
    }
}

#[test]
fn stored_passwords_are_not_sent_to_hosts_of_an_imported_file() {
    let body =
        json!({ "gitReleaseUrl": "https://me:***@feed.evil", "minerHostname": "me:***@miner/2" });
    let settings = import(&with_all_secrets(), body).settings;
    assert_eq!(settings.git_release_url.expose(), "https://me@feed.evil");
    assert_eq!(
        settings.miner_hostname.expose(),
        "me:horse-staple-6@miner/2"
    );
}
