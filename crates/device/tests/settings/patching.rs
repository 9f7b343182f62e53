//! Request bodies and their outcomes.

use device::settings::{Settings, patch, reject::Rejection};

use crate::bench;

/// The outcome in one word: `ok`, `reboot` or the token of the rejection.
pub(crate) fn outcome(stored: &Settings, body: &str) -> String {
    match bench::send(stored, body) {
        Ok(patched) if patched.changed.reboot_required => "reboot".into(),
        Ok(_) => "ok".into(),
        Err(rejection) => rejection.to_string(),
    }
}

pub(crate) fn check(rows: &[(&str, &str)]) {
    for (body, expected) in rows {
        assert_eq!(outcome(&Settings::default(), body), *expected, "{body}");
    }
}

/// Sends bodies one after the other to a fresh device.
pub(crate) fn after(bodies: &[&str]) -> Settings {
    let apply = |stored, body: &&str| {
        bench::send(&stored, body)
            .unwrap_or_else(|token| panic!("{body}: {token}"))
            .settings
    };
    bodies.iter().fold(Settings::default(), apply)
}

#[test]
fn bodies_are_parsed() {
    let read = |bytes: &[u8]| patch::body(bytes).map(|members| members.len());
    let fits = format!("{{\"a\":\"{}\"}}", "x".repeat(16 * 1024 - 8));
    assert_eq!((fits.len(), read(fits.as_bytes())), (16 * 1024, Ok(1)));
    assert_eq!(read(format!("{fits} ").as_bytes()), Err(Rejection::BadBody));
    let rows: [(&[u8], &str); 10] = [
        (b"", "bad body"),
        (b" ", "json"),
        (b"{", "json"),
        (b"{} x", "json"),
        (b"\xff", "json"),
        (b"{\"a\":NaN}", "json"),
        (b"[]", "not_object"),
        (b"null", "not_object"),
        (b"\"x\"", "not_object"),
        (b"5", "not_object"),
    ];
    for (bytes, token) in rows {
        assert_eq!(
            read(bytes).map_err(|rejection| rejection.to_string()),
            Err(token.into()),
            "{bytes:?}"
        );
    }
    let deep = "{\"a\":".repeat(1000);
    assert_eq!(read(deep.as_bytes()), Err(Rejection::Json));
}

#[test]
fn read_only_and_unknown_members_are_ignored() {
    #[rustfmt::skip]
    let rows = &[
        ("{}", "ok"),
        (r#"{"nonsense": {"a": []}, "tzOffset": 60, "gmtOffset": "x"}"#, "ok"),
        (r#"{"fgColor": 65535, "bgColor": 0, "timerSeconds": "x", "timerRunning": 1}"#, "ok"),
        (r#"{"hostname": 1, "hwRev": 2, "proxyPassSet": "yes", "availableFonts": 3, "dndStartHour": "x"}"#, "ok"),
        (r#"{"wifiConfigured": 1, "blockHeight": "x", "currentScreen": [], "screenOrder": 7, "screensHidden": 1}"#, "ok"),
        (r#"{"suffixShareDot": 1, "useSatsSymbol": "x", "useBtcSymbol": 3, "": 0}"#, "ok"),
        (r#"{"tzOffset": "x", "ledBrightness": 256}"#, "range:ledBrightness"),
    ];
    check(rows);
    assert_eq!(
        after(&[r#"{"timerSeconds": 5, "dndEnabled": true, "fgColor": 0, "tzOffset": 1}"#]),
        Settings::default()
    );
}

#[test]
fn legacy_colours_are_numbers_in_text() {
    check(&[
        (r##"{"fgColor": "#ff8800", "bgColor": "0x0"}"##, "ok"),
        (r#"{"fgColor": "red"}"#, "fgColor:bad_type"),
        (r#"{"fgColor": 5}"#, "fgColor:bad_type"),
        (r#"{"bgColor": null, "mowMode": 1}"#, "bgColor:bad_type"),
        (r#"{"mowMode": 1, "bgColor": ""}"#, "mowMode:bad_type"),
        (r#"{"bgColor": "16777216"}"#, "range:bgColor"),
    ]);
}

/// This JSON is valid, but most programs cannot represent it exactly.
#[test]
fn huge_numbers_and_lone_surrogates_are_refused_by_name() {
    #[rustfmt::skip]
    let rows = [
        (r#"{"ledBrightness": 1e400}"#, "range:ledBrightness"),
        (r#"{"txPower": -1e400}"#, "range:txPower"),
        (r#"{"timePerScreen": 1e400}"#, "range:timePerScreen"),
        (r#"{"mowMode": 1e400}"#, "mowMode:bad_type"),
        (r#"{"dnd": {"startHour": 1e400, "startMinute": 0, "endHour": 0, "endMinute": 0}}"#, "dnd:range"),
        (r#"{"poolWorker": "a\ud800"}"#, "poolWorker:bad_type"),
        (r#"{"fontName": "\udc00"}"#, "fontName:bad_type"),
        (r#"{"proxyPass": "\ud800\ud800"}"#, "proxyPass:bad_type"),
        (r#"{"mqttCa": "\ud800"}"#, "mqttCa:bad_type"),
        (r#"{"actCurrencies": ["\ud800"]}"#, "actCurrencies:bad_type"),
        (r#"{"nostrRelays": ["wss://\ud800"]}"#, "nostrRelays:bad_type"),
        (r#"{"holograms": [1e400, "\ud800"], "\udc00": -1e400}"#, "ok"),
        (r#"{"poolWorker": "\ud83d\ude00"}"#, "ok"),
    ];
    for (body, expected) in rows {
        let read = patch::body(body.as_bytes()).unwrap();
        let outcome = bench::patch(&Settings::default(), &read);
        let token = outcome.map_or_else(|token| token.to_string(), |_| "ok".into());
        assert_eq!(token, expected, "{body}");
    }
}

#[test]
fn all_control_characters_are_refused() {
    for control in ["\u{1}", "\u{7f}", "\u{80}", "\u{9b}", "\u{9f}"] {
        let body = serde_json::json!({ "poolWorker": control }).to_string();
        check(&[(&body, "poolWorker:bad_type")]);
    }
    check(&[(r#"{"poolWorker": "\u00a0"}"#, "ok")]);
}

#[test]
fn errors_are_reported_in_the_order_of_checks_and_members() {
    #[rustfmt::skip]
    let rows = &[
        (r#"{"digitFontPx": "x", "labelFitPct": 1}"#, "digitFontPx:bad_type"),
        (r#"{"labelFitPct": 1, "digitFontPx": "x"}"#, "range:labelFitPct"),
        (r#"{"fontName": "nope", "digitFontPx": 1}"#, "range:digitFontPx"),
        (r#"{"fontName": "nope", "nostrRelay": "x"}"#, "fontName:unknown"),
        (r#"{"nostrRelay": "x", "fontName": "nope"}"#, "nostrRelay:bad_scheme"),
        (r#"{"screens": [5], "dnd": []}"#, "dnd:bad_type"),
        (r#"{"screens": [5], "fontName": "nope"}"#, "screens:bad_entry"),
        (r#"{"actCurrencies": [5], "screens": [5]}"#, "currency:not_string"),
        (r#"{"dnd": {"startHour": 24, "startMinute": 0, "endHour": 0, "endMinute": 0}, "tzString": "x"}"#, "dnd:range"),
        (r#"{"proxyEnabled": true, "tzString": "x"}"#, "tzString:unknown"),
        (r#"{"proxyEnabled": true, "mowMode": 1}"#, "mowMode:bad_type"),
        // Rules on two keys are checked after all single keys.
        (r#"{"proxyEnabled": true, "proxyHost": "", "screens": [5]}"#, "screens:bad_entry"),
        (r#"{"proxyEnabled": true, "actCurrencies": [5]}"#, "currency:not_string"),
        (r#"{"proxyEnabled": true, "gitReleaseUrl": "ftp://a", "httpAuthEnabled": true}"#, "gitReleaseUrl:bad_scheme"),
        (r#"{"httpAuthEnabled": true, "proxyEnabled": true}"#, "proxyHost:bad_length"),
        (r#"{"mowMode": 1, "fetchEurPrice": 1}"#, "mowMode:bad_type"),
        (r#"{"fontName": "nope", "fetchEurPrice": 1, "screen[2]": "on"}"#, "fetchEurPrice:bad_type"),
        (r#"{"screen[2]": "on", "fetchEurPrice": 1}"#, "screen[2]:bad_type"),
    ];
    check(rows);
}

#[test]
fn sign_in_requires_a_password() {
    #[rustfmt::skip]
    let rows = &[
        (r#"{"httpAuthEnabled": true}"#, "httpAuthPass:bad_length"),
        (r#"{"httpAuthPass": "", "httpAuthEnabled": true}"#, "httpAuthPass:bad_length"),
        (r#"{"httpAuthEnabled": true, "httpAuthPass": "pw"}"#, "reboot"),
        (r#"{"httpAuthEnabled": false, "httpAuthPass": ""}"#, "ok"),
    ];
    check(rows);
    let on = after(&[r#"{"httpAuthEnabled": true, "httpAuthPass": "pw"}"#]);
    assert_eq!(outcome(&on, r#"{"httpAuthEnabled": true}"#), "ok");
    assert_eq!(
        outcome(&on, r#"{"httpAuthPass": ""}"#),
        "httpAuthPass:bad_length"
    );
    assert_eq!(
        outcome(&on, r#"{"httpAuthPass": "", "httpAuthEnabled": false}"#),
        "reboot"
    );
    // Invalid stored settings: the next change must fix them.
    let open = Settings {
        http_auth_enabled: true,
        ..Settings::default()
    };
    assert_eq!(
        outcome(&open, r#"{"ledBrightness": 5}"#),
        "httpAuthPass:bad_length"
    );
    assert_eq!(outcome(&open, r#"{"httpAuthPass": "pw"}"#), "reboot");
}

#[test]
fn a_proxy_and_a_broker_need_a_host() {
    check(&[
        (r#"{"proxyEnabled": true}"#, "proxyHost:bad_length"),
        (
            r#"{"proxyEnabled": true, "proxyHost": ""}"#,
            "proxyHost:bad_length",
        ),
        (r#"{"proxyEnabled": true, "proxyHost": "p"}"#, "ok"),
        (r#"{"proxyEnabled": false, "proxyHost": ""}"#, "ok"),
        (r#"{"mqttEnabled": true}"#, "mqttHost:bad_length"),
        (r#"{"mqttEnabled": true, "mqttHost": "b"}"#, "ok"),
        (r#"{"proxyEnabled": 1}"#, "proxyEnabled:bad_type"),
    ]);
    let on = after(&[r#"{"proxyEnabled": true, "proxyHost": "p"}"#]);
    assert_eq!(outcome(&on, r#"{"proxyHost": ""}"#), "proxyHost:bad_length");
    assert_eq!(
        outcome(&on, r#"{"proxyHost": "", "proxyEnabled": false}"#),
        "ok"
    );
}

#[test]
fn a_restart_is_required_only_after_an_actual_change() {
    check(&[
        (r#"{"dataSource": 2}"#, "reboot"),
        (r#"{"dataSource": 0}"#, "ok"),
        (
            r#"{"mempoolInstance": "mempool.space", "ledBrightness": 1}"#,
            "ok",
        ),
        (r#"{"mempoolInstance": "example.org"}"#, "reboot"),
        (r#"{"nwcUri": ""}"#, "ok"),
        (r#"{"nwcUri": "anything"}"#, "reboot"),
        (r#"{"otaPass": ""}"#, "ok"),
        (r#"{"otaPass": "x"}"#, "reboot"),
    ]);
}

#[test]
fn aliases_are_accepted_and_used_in_errors() {
    check(&[
        (r#"{"mempoolInstance": 5}"#, "mempoolInstance:bad_type"),
        (r#"{"bitaxePollSec": 4}"#, "range:bitaxePollSec"),
        (r#"{"minerPollSec": 4}"#, "range:minerPollSec"),
    ]);
    let settings =
        after(&[r#"{"bitaxeEnabled": true, "mempoolSecure": false, "bitaxeHostname": "b"}"#]);
    assert!(
        settings.miner_enabled
            && !settings.explorer_secure
            && settings.miner_hostname.expose() == "b"
    );
}

#[test]
fn of_a_key_and_its_alias_the_changed_one_counts() {
    let stored = after(&[r#"{"explorerInstance": "old"}"#]);
    #[rustfmt::skip]
    let rows = [
        (r#"{"explorerInstance": "old", "mempoolInstance": "new"}"#, "new"),
        (r#"{"mempoolInstance": "new", "explorerInstance": "old"}"#, "new"),
        (r#"{"explorerInstance": "new", "mempoolInstance": "old"}"#, "new"),
        (r#"{"mempoolInstance": "old", "explorerInstance": "new"}"#, "new"),
        (r#"{"mempoolInstance": "other", "explorerInstance": "new"}"#, "new"),
        (r#"{"explorerInstance": "new", "mempoolInstance": "other"}"#, "new"),
        (r#"{"explorerInstance": "old", "mempoolInstance": "old"}"#, "old"),
    ];
    for (body, expected) in rows {
        assert_eq!(
            bench::send(&stored, body)
                .unwrap()
                .settings
                .explorer_instance
                .expose(),
            expected,
            "{body}"
        );
    }
}
