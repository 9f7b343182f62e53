//! Export and import of settings.

use std::time::Duration;

use device::settings::{Settings, transfer};
use runtime::log_lines::LogLines;
use serde_json::{Value, json};
use tokio::{
    io::AsyncWriteExt,
    time::{sleep, timeout},
};
use tracing_subscriber::filter::LevelFilter;

use crate::{
    guards::hash,
    logged::Logged,
    support::{Answer, Clock, Kind, SOON, Setup},
};

const IMPORT: &str = "/api/settings/import";
const EXPORT: &str = "/api/settings/export";

/// 2026-01-01, s since 1970-01-01 UTC.
const START: i64 = 1_767_225_600;

/// A clock with a real device, and credentials if it has a password.
async fn clock_with(settings: Settings) -> Clock {
    Clock::with(Setup {
        device: Kind::Real,
        settings,
        ..Setup::default()
    })
    .await
}

fn with_secrets() -> Settings {
    Settings {
        http_auth_enabled: true,
        http_auth_user: "satoshi".into(),
        http_auth_pass: hash("correct horse"),
        proxy_pass: device::secret::Secret::new("planted"),
        led_brightness: 33,
        ..Settings::default()
    }
}

async fn post(clock: &Clock, path: &str, body: &Value, headers: &[&str]) -> Answer {
    let body = body.to_string();
    let length = format!("Content-Length: {}", body.len());
    let headers = [&[length.as_str()], headers].concat();
    clock.send("POST", path, &headers, &body).await
}

fn file(settings: &Value) -> Value {
    json!({ "format": "papertick settings", "version": 1, "settings": settings })
}

#[tokio::test]
async fn settings_are_exported_and_imported() {
    let from = clock_with(Settings {
        screens_hidden: vec![3, 20],
        http_auth_enabled: false,
        ..with_secrets()
    })
    .await;
    from.time.set(START * 1000);
    let answer = from.get(EXPORT).await;
    assert_eq!(
        answer.header("content-disposition"),
        Some(&*format!(
            "attachment; filename=\"{}-settings.json\"",
            from.view.borrow().hostname
        ))
    );
    let file = answer.json();
    assert_eq!(
        (&file["board"], &file["version"]),
        (&json!("rev-b"), &json!(1))
    );
    assert_eq!(file["clock"], from.view.borrow().hostname);
    assert_eq!(file["firmware"], updates::build::revision());
    let time = file["time"].as_str().unwrap();
    assert!(time.starts_with("2026-01-01T00:0"), "{time}");
    for secret in ["planted", "argon2id$"] {
        assert!(!answer.text().contains(secret), "{secret}: {file}");
    }

    let to = Clock::with(Setup {
        board: "v8",
        device: Kind::Real,
        ..Setup::default()
    })
    .await;
    let before = to.get("/api/settings").await;
    let dry_run = json!({ "file": file, "dryRun": true });
    let response = post(&to, IMPORT, &dry_run, &[]).await.json();
    assert_eq!(
        (
            &response["applied"],
            &response["refused"],
            &response["unknown"]
        ),
        (&json!(false), &json!([]), &json!([]))
    );
    assert_eq!(
        response["changes"],
        json!([
            { "name": "screensHidden", "old": "90", "new": "3,20" },
            { "name": "ledBrightness", "old": 128, "new": 33 },
            { "name": "httpAuthUser", "old": "papertick", "new": "satoshi" },
        ])
    );
    for member in ["clock", "board", "firmware", "time"] {
        assert_eq!(response["from"][member], file[member], "{member}");
    }
    assert_eq!(
        to.get("/api/settings").await.body,
        before.body,
        "nothing was done"
    );

    let response = post(&to, IMPORT, &json!({ "file": file }), &[])
        .await
        .json();
    assert_eq!(response["applied"], true);
    let settings = to.get("/api/settings").await.json();
    assert_eq!(settings["ledBrightness"], 33);
    let again = post(&to, IMPORT, &dry_run, &[]).await.json();
    assert_eq!(again["changes"], json!([]));
}

#[tokio::test]
async fn one_invalid_value_refuses_the_import() {
    let clock = clock_with(Settings::default()).await;
    let wrong = file(&json!({ "ledBrightness": 300, "fontName": "oswald", "tzString": "Mars" }));
    let before = clock.get("/api/settings").await.body;
    for (dry_run, status) in [(true, 200), (false, 400)] {
        let request = json!({ "file": wrong, "dryRun": dry_run });
        let answer = post(&clock, IMPORT, &request, &[]).await;
        assert_eq!(answer.status, status);
        let response = answer.json();
        let mut tokens: Vec<&str> = response["refused"]
            .as_array()
            .unwrap()
            .iter()
            .map(|refusal| refusal["error"].as_str().unwrap())
            .collect();
        tokens.sort_unstable();
        assert_eq!(tokens, ["range:ledBrightness", "tzString:unknown"]);
        assert_eq!(response["applied"], false);
        assert_eq!(response.get("error").is_some(), !dry_run, "{response}");
    }
    assert_eq!(clock.get("/api/settings").await.body, before);

    let except = json!({ "file": wrong, "except": ["ledBrightness", "tzString"] });
    let response = post(&clock, IMPORT, &except, &[]).await.json();
    assert_eq!(
        response["changes"],
        json!([{ "name": "fontName", "old": "antonio", "new": "oswald" }])
    );
}

#[tokio::test]
async fn invalid_files_are_refused_with_a_reason() {
    let clock = clock_with(Settings::default()).await;
    let good = || file(&json!({ "ledBrightness": 3 }));
    #[rustfmt::skip]
    let rows = [
        (json!([]), "not_object"),
        (json!({}), "file:bad_type"),
        (json!({ "file": { "format": "else" } }), "file:bad_type"),
        (json!({ "file": { "format": "papertick settings", "version": 2 } }), "file:unknown"),
        (json!({ "file": good(), "dryRun": "yes" }), "dryRun:bad_type"),
        (json!({ "file": good(), "except": "ledBrightness" }), "except:bad_type"),
        (json!({ "file": good(), "except": ["fontName"] }), "except:unknown"),
        (json!({ "file": file(&json!({ "otaPass": "in the clear" })) }), "otaPass:bad_type"),
    ];
    for (body, token) in rows {
        let answer = post(&clock, IMPORT, &body, &[]).await;
        assert_eq!(answer.status, 400, "{body}");
        assert_eq!(answer.json()["error"], token, "{body}");
    }
    let answer = clock.json("POST", IMPORT, "{").await;
    assert_eq!(
        (answer.status, &answer.json()["error"]),
        (400, &json!("json"))
    );
    let huge = json!({ "file": good(), "padding": "x".repeat(200_000) });
    assert_eq!(post(&clock, IMPORT, &huge, &[]).await.status, 400);
    assert_eq!(clock.view.borrow().settings.stored.led_brightness, 128);
}

#[tokio::test]
async fn a_dry_run_equals_the_import() {
    let clock = clock_with(Settings::default()).await;
    let tag = clock.get("/api/settings").await;
    let tag = format!("If-Match: {}", tag.header("etag").unwrap());
    clock
        .json("PATCH", "/api/settings", r#"{"digitFontPx":200}"#)
        .await;
    let request = json!({ "file": file(&json!({ "ledBrightness": 3 })) });
    assert_eq!(post(&clock, IMPORT, &request, &[&tag]).await.status, 412);
    assert_eq!(post(&clock, IMPORT, &request, &[]).await.status, 200);
}

#[tokio::test]
async fn pages_of_other_sites_do_not_import() {
    let clock = clock_with(Settings::default()).await;
    let foreign = "Origin: http://evil.example";
    let request = json!({ "file": file(&json!({ "ledBrightness": 3 })) });
    assert_eq!(post(&clock, IMPORT, &request, &[foreign]).await.status, 403);
}

#[tokio::test]
async fn an_import_and_its_log_line_name_secrets_without_values() {
    let log = LogLines::new();
    let _logged = Logged::from_now(LevelFilter::TRACE, &log);
    let clock = Clock::with(Setup {
        device: Kind::Real,
        log,
        ..Setup::default()
    })
    .await;
    let file = file(&Value::from(transfer::with_secrets(&with_secrets())));
    let response = post(&clock, IMPORT, &json!({ "file": file }), &[]).await;
    assert!(!response.text().contains("planted"), "{}", response.text());
    let response = response.json();
    assert_eq!(response["rebootRequired"], true);
    let changes = response["changes"].as_array().unwrap();
    for name in ["proxyPass", "httpAuthPass"] {
        let change = json!({ "name": name, "secret": true });
        assert!(changes.contains(&change), "{name}: {changes:?}");
    }
    assert_eq!(*clock.view.borrow().settings.stored, with_secrets());
    let response = clock.get("/api/log").await;
    let text = response.text();
    assert!(text.contains("settings imported from a file"), "{text}");
    for secret in ["planted", "argon2id$"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}

#[tokio::test]
async fn the_number_of_concurrent_imports_is_limited() {
    const IMPORTS_MAX: usize = 8;

    let clock = Clock::start().await;
    let body = json!({ "file": {}, "dryRun": true }).to_string();
    let begin = async || {
        let mut stream = clock.connect().await;
        let head = format!(
            "POST {IMPORT} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n{{",
            clock.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    };
    let mut started = Vec::new();
    for _ in 0..IMPORTS_MAX {
        started.push(begin().await);
    }
    let status = async || clock.json("POST", IMPORT, &body).await.status;
    let refused = async {
        // The requests have been accepted by then.
        while status().await != 503 {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(SOON, refused)
        .await
        .expect("imports are refused at the limit");
    drop(started.pop());
    let room = async {
        while status().await == 503 {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(SOON, room)
        .await
        .expect("a finished import frees its place");
}
