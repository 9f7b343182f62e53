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
fn an_export_separates_open_settings_from_secrets() {
    let split = transfer::split_secrets(&with_all_secrets());
    let text = |map: &Map<String, Value>| Value::from(map.clone()).to_string();
    let (open, secret) = (text(&split.open), text(&split.secret));
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
        split.open["gitReleaseUrl"], "https://me:***@feed.example",
        "only the password of an address is secret"
    );
    for spec in SPECS.iter().filter(|spec| spec.access == Access::WriteOnly) {
        assert!(!split.open.contains_key(spec.name), "{}", spec.name);
        assert!(split.secret.contains_key(spec.name), "{}", spec.name);
    }
}

/// GET returns the token of a pool because the interface requires it; exports treat it as a secret.
#[test]
fn the_token_of_a_pool_is_exported_as_a_secret() {
    let body = r#"{"miningPoolName": "braiins", "miningPoolUser": "horse-staple-7"}"#;
    let settings = bench::send(&Settings::default(), body).unwrap().settings;
    assert_eq!(bench::get(&settings)["miningPoolUser"], "horse-staple-7");
    let split = transfer::split_secrets(&settings);
    assert!(!split.open.contains_key("miningPoolUser"));
    assert_eq!(split.secret["miningPoolUser"], "horse-staple-7");
    let back = transfer::import(&Settings::default(), &split.merged());
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
    let open = transfer::split_secrets(&stored).open;
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

/// Secrets that must not be exported after these values of a wallet, each stored with or without sign-in.
fn unguarded_after(steps: &[(&str, bool)]) -> Vec<&'static str> {
    let mut settings = Settings::default();
    for (uri, is_guarded) in steps {
        let before = settings.clone();
        settings.nwc_uri = Secret::new(*uri);
        transfer::record_guarded(&mut settings, &before, *is_guarded);
    }
    transfer::unguarded(&settings)
}

#[test]
fn secrets_are_exported_only_if_they_were_entered_with_sign_in() {
    for (steps, held_back) in [
        (&[][..], false),
        (&[("a", false)], true),
        (&[("a", true)], false),
        // Sign-in after the secret was entered does not allow its export.
        (&[("a", false), ("a", true)], true),
        (&[("a", false), ("b", true)], false),
        (&[("a", true), ("b", false)], true),
        (&[("a", true), ("", false)], false),
        (&[("a", true), ("", false), ("a", false)], true),
    ] {
        let expected: &[&str] = if held_back { &["nwcUri"] } else { &[] };
        assert_eq!(unguarded_after(steps), expected, "{steps:?}");
    }
}

/// A client can change the rest of an address without knowing its password.
#[test]
fn a_masked_secret_that_was_sent_back_does_not_count_as_entered() {
    let relays = |urls: &[&str]| Settings {
        git_release_url: "https://me:planted@feed.example/a".into(),
        nostr_relays: urls.iter().map(|url| (*url).into()).collect(),
        ..Settings::default()
    };
    let unguarded_as = |entered: bool, body: Value| {
        let mut stored = relays(&["wss://me:one@relay", "wss://me:two@relay"]);
        transfer::record_guarded(&mut stored, &Settings::default(), entered);
        let sent = bench::send(&stored, &body.to_string()).unwrap();
        let mut settings = sent.settings;
        transfer::record_guarded(&mut settings, &stored, true);
        transfer::unguarded(&settings)
    };
    let both = ["nostrRelays", "gitReleaseUrl"];
    #[rustfmt::skip]
    let rows = [
        (json!({}), &both[..]),
        (json!({ "gitReleaseUrl": "https://me:***@feed.example/b", "nostrRelays": ["wss://me:***@relay", "wss://new"] }), &both[..]),
        (json!({ "nostrRelays": ["wss://me:***@relay", "wss://me:new@other"] }), &both[..]),
        (json!({ "gitReleaseUrl": "https://me:new@feed.example/a" }), &both[..1]),
        (json!({ "nostrRelays": ["wss://me:new@relay"] }), &both[1..]),
        (json!({ "nostrRelays": ["wss://me:***@moved"] }), &both[1..]),
        (json!({ "nostrRelays": [], "gitReleaseUrl": "" }), &[]),
    ];
    for (body, held_back) in rows {
        assert_eq!(unguarded_as(false, body.clone()), held_back, "{body}");
        assert_eq!(unguarded_as(true, body.clone()), [] as [&str; 0], "{body}");
    }
}

#[test]
fn every_kind_of_secret_except_passwords_with_sign_in_is_held_back() {
    let held_back = transfer::unguarded(&with_all_secrets());
    let expected = [
        "proxyPass",
        "miningPoolUser",
        "minerHostname",
        "nostrRelays",
        "nwcUri",
        "gitReleaseUrl",
    ];
    let mut held_back = held_back;
    held_back.sort_unstable();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(held_back, expected);
}
