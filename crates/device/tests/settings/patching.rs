//! Bodies and what becomes of them.

use device::settings::Settings;

use crate::bench;

/// Sends a body to a fresh device; the outcome is `ok`, `reboot` or the token of the refusal.
fn outcome(body: &str) -> String {
    outcome_on(&Settings::default(), body)
}

fn outcome_on(stored: &Settings, body: &str) -> String {
    match bench::send(stored, body) {
        Ok(patched) if patched.reboot_required => "reboot".into(),
        Ok(_) => "ok".into(),
        Err(rejection) => rejection.to_string(),
    }
}

fn check(rows: &[(&str, &str)]) {
    for (body, expected) in rows {
        assert_eq!(outcome(body), *expected, "{body}");
    }
}

#[test]
fn what_clients_cannot_write_is_passed_over() {
    check(&[
        ("{}", "ok"),
        (
            r#"{"nonsense": {"a": []}, "tzOffset": 60, "gmtOffset": "x"}"#,
            "ok",
        ),
        (
            r#"{"fgColor": "65535", "bgColor": null, "timerSeconds": "x", "timerRunning": 1}"#,
            "ok",
        ),
        (
            r#"{"hostname": 1, "hwRev": 2, "proxyPassSet": "yes", "availableFonts": 3, "dndStartHour": "x"}"#,
            "ok",
        ),
        (
            r#"{"wifiConfigured": 1, "blockHeight": "x", "currentScreen": [], "screenOrder": 7, "screensHidden": 1}"#,
            "ok",
        ),
        (
            r#"{"suffixShareDot": 1, "useSatsSymbol": "x", "useBtcSymbol": 3}"#,
            "ok",
        ),
    ]);
}
