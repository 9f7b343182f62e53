//! PATCH requests to the real device: every error token, and the responses of accepted changes.

use serde_json::json;
use web::parse::percent_decode;

use crate::support::Clock;

/// Bodies and their error tokens.
#[tokio::test]
async fn every_error_token() {
    let rows = [
        ("{", "json"),
        ("[]", "not_object"),
        (r#"{"ledBrightness":"5"}"#, "ledBrightness:bad_type"),
        (r#"{"ledBrightness":1e400}"#, "range:ledBrightness"),
        (r#"{"poolWorker":"\ud800"}"#, "poolWorker:bad_type"),
        (r#"{"fgColor":"red"}"#, "fgColor:bad_type"),
        (r#"{"httpAuthEnabled":true}"#, "httpAuthPass:bad_length"),
        (r#"{"nostrPubKey":"zz"}"#, "nostrPubKey:bad_hex"),
        (r#"{"gitReleaseUrl":"ftp://a"}"#, "gitReleaseUrl:bad_scheme"),
        (r#"{"fontName":"comic"}"#, "fontName:unknown"),
        (r#"{"bitaxePollSec":4}"#, "range:bitaxePollSec"),
        (r#"{"screens":[7]}"#, "screens:bad_entry"),
        (r#"{"actCurrencies":["USD",5]}"#, "currency:not_string"),
    ];
    let clock = Clock::real().await;
    let before = clock.get("/api/settings").await;
    for (body, token) in rows {
        for (method, path) in [("PATCH", "/api/settings"), ("POST", "/api/json/settings")] {
            let answer = clock.json(method, path, body).await;
            assert_eq!(
                (answer.status, answer.json()),
                (400, json!({ "error": token })),
                "{method} {path} {body}"
            );
        }
    }
    assert_eq!(
        clock.get("/api/settings").await.body,
        before.body,
        "a refused change changed something"
    );
}

/// The length of the body is checked first.
#[tokio::test]
async fn a_body_is_from_1_byte_to_16_kib() {
    let clock = Clock::real().await;
    let body = |length: usize| {
        let frame = r#"{"unknown":""}"#.len();
        format!(r#"{{"unknown":"{}"}}"#, "x".repeat(length - frame))
    };
    for (length, status) in [
        (16 * 1024, 200),
        (16 * 1024 + 1, 400),
        (200_000, 400),
        (900_000, 400),
    ] {
        let answer = clock.json("PATCH", "/api/settings", &body(length)).await;
        assert_eq!(answer.status, status, "{length} bytes");
        if status == 400 {
            assert_eq!(answer.json()["error"], "bad body", "{length} bytes");
        }
    }
    let answer = clock
        .send("PATCH", "/api/settings", &["Content-Length: 0"], "")
        .await;
    assert_eq!(
        (answer.status, answer.json()["error"].as_str()),
        (400, Some("bad body"))
    );
    let chunked = "Transfer-Encoding: chunked";
    let answer = clock
        .send(
            "PATCH",
            "/api/settings",
            &[chunked],
            "7\r\n{\"a\":1}\r\n0\r\n\r\n",
        )
        .await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn an_accepted_change_is_answered_empty_or_with_reboot_required() {
    let clock = Clock::real().await;
    let live = clock
        .json(
            "PATCH",
            "/api/settings",
            r#"{"ledBrightness":7,"nonsense":[]}"#,
        )
        .await;
    assert_eq!((live.status, live.text()), (200, ""));
    let reboot = clock
        .json("PATCH", "/api/settings", r#"{"dataSource":1}"#)
        .await;
    assert_eq!(
        (reboot.status, reboot.text()),
        (200, r#"{"rebootRequired":true}"#)
    );
    let again = clock
        .json("PATCH", "/api/settings", r#"{"dataSource":1}"#)
        .await;
    assert_eq!((again.status, again.text()), (200, ""));
    let settings = clock.get("/api/settings").await.json();
    assert_eq!(
        (&settings["ledBrightness"], &settings["dataSource"]),
        (&json!(7), &json!(1))
    );
}

/// Every refusal has an explanation for people; the token for programs is unchanged.
#[tokio::test]
async fn a_refusal_is_explained() {
    let clock = Clock::real().await;
    #[rustfmt::skip]
    let rows = [
        ("ledBrightness", json!(256), "range:ledBrightness", "ledBrightness takes 0 to 255"),
        ("dnd", json!({ "startHour": 25, "startMinute": 0, "endHour": 7, "endMinute": 0 }), "dnd:range", "hours are 0 to 23, and minutes 0 to 59"),
        ("httpAuthEnabled", json!(true), "httpAuthPass:bad_length", "httpAuthPass takes a password in the same change, or before"),
        ("mqttEnabled", json!(true), "mqttHost:bad_length", "mqttHost takes a text in the same change, or before"),
        ("nostrRelays", json!(["x".repeat(257)]), "nostrRelays:bad_type", "nostrRelays takes at most 256 bytes"),
        ("poolWorker", json!("a\n"), "poolWorker:bad_type", "poolWorker takes no line breaks or other control characters"),
        ("httpAuthUser", json!("a:b"), "httpAuthUser:bad_type", "httpAuthUser takes no colon, which ends the name in a sign-in"),
        ("updatePin", json!("newest"), "updatePin:bad_type", "updatePin takes a version such as 4.3.0 or 4.3.0-rc.1, or nothing"),
    ];
    for (key, value, token, words) in rows {
        let body = json!({ key: value }).to_string();
        let answer = clock.json("PATCH", "/api/settings", &body).await;
        let expected = json!({ "error": token });
        assert_eq!((answer.status, answer.json()), (400, expected), "{key}");
        let reason = answer.header("papertick-reason").unwrap();
        assert_eq!(percent_decode(reason, false).as_deref(), Some(words));
    }
}

/// A password is never sent to another server than the one it was entered for.
#[tokio::test]
async fn a_password_is_cleared_with_its_server() {
    let clock = Clock::real().await;
    let entered = json!({
        "mqttHost": "broker", "mqttPass": "two",
        "proxyHost": "proxy", "proxyPass": "three",
    });
    for (change, set) in [
        (json!({ "mqttHost": "evil" }), [false, true]),
        (json!({ "mqttHost": "b", "mqttPass": "four" }), [true; 2]),
    ] {
        let answer = clock
            .json("PATCH", "/api/settings", &entered.to_string())
            .await;
        assert_eq!(answer.status, 200);
        let answer = clock
            .json("PATCH", "/api/settings", &change.to_string())
            .await;
        assert_eq!(answer.status, 200);
        let body = answer.text();
        assert!(["", r#"{"rebootRequired":true}"#].contains(&body), "{body}");
        let reason = answer.header("papertick-reason");
        assert_eq!(reason.is_some(), set.contains(&false), "{change}");
        let settings = clock.get("/api/settings").await.json();
        let is_set = ["mqttPassSet", "proxyPassSet"].map(|name| settings[name] == true);
        assert_eq!(is_set, set, "{change}: {reason:?}");
    }
}

/// Passwords are stored as hashes, neither is returned, and the same password again is no change.
#[tokio::test]
async fn passwords_are_stored_as_hashes() {
    let clock = Clock::real().await;
    let body = r#"{"httpAuthPass":"correct horse","otaPass":"battery staple"}"#;
    let first = clock.json("PATCH", "/api/settings", body).await;
    assert_eq!(first.text(), r#"{"rebootRequired":true}"#);
    let second = clock.json("PATCH", "/api/settings", body).await;
    assert_eq!(second.text(), "");
    let stored = clock.view.borrow().settings.stored.http_auth_pass.clone();
    assert!(stored.phc().starts_with("$argon2id$"), "{}", stored.phc());

    let answer = clock.get("/api/settings").await;
    assert_eq!(answer.json()["httpAuthPassSet"], true);
    assert_eq!(answer.json()["otaPassSet"], true);
    for secret in ["correct horse", "battery staple", "argon2"] {
        assert!(!answer.text().contains(secret), "{secret}");
    }
    assert_eq!(
        clock
            .json("PATCH", "/api/settings", r#"{"otaPass":""}"#)
            .await
            .status,
        200
    );
    assert_eq!(clock.get("/api/settings").await.json()["otaPassSet"], false);
}
