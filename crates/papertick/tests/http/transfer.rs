//! Export and import of settings.

use std::{sync::Arc, time::Duration};

use device::settings::Settings;
use runtime::log_lines::LogLines;
use serde_json::{Value, json};
use tokio::{
    io::AsyncWriteExt,
    time::{sleep, timeout},
};
use tracing_subscriber::filter::LevelFilter;

use crate::{
    guards::{basic, hash},
    logged::Logged,
    support::{Answer, Clock, Kind, SOON, Setup},
};

const IMPORT: &str = "/api/settings/import";
const EXPORT: &str = "/api/settings/export";
const PASSPHRASE: &str = "four words by chance";

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

fn guarded() -> Settings {
    Settings {
        http_auth_enabled: true,
        http_auth_user: "satoshi".into(),
        http_auth_pass: hash("correct horse"),
        proxy_pass: device::secret::Secret::new("planted"),
        guarded_secrets: "proxyPass".into(),
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
        led_brightness: 33,
        screens_hidden: vec![3, 20],
        ..Settings::default()
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
    assert!(file.get("secrets").is_none(), "{file}");

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
async fn secrets_are_exported_only_from_a_protected_clock_with_a_passphrase() {
    let open = clock_with(Settings {
        http_auth_enabled: false,
        ..guarded()
    })
    .await;
    let request = json!({ "passphrase": PASSPHRASE });
    let refused = post(&open, EXPORT, &request, &[]).await;
    assert_eq!(refused.status, 403);
    assert_eq!(refused.json()["error"], "password required");
    assert_eq!(post(&open, EXPORT, &json!({}), &[]).await.status, 200);
    // A password that applies from the next start does not protect before.
    open.change(|view| view.settings = Arc::new(guarded()));
    assert_eq!(post(&open, EXPORT, &request, &[]).await.status, 403);

    let clock = clock_with(guarded()).await;
    let credentials = basic("satoshi:correct horse");
    assert_eq!(post(&clock, EXPORT, &request, &[]).await.status, 401);
    let answer = post(&clock, EXPORT, &request, &[&credentials]).await;
    let text = answer.text();
    for secret in ["planted", "argon2id$", PASSPHRASE] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    let file = answer.json();

    let to = clock_with(Settings::default()).await;
    let wrong = json!({ "file": file, "passphrase": "four words by luck" });
    let answer = post(&to, IMPORT, &wrong, &[]).await;
    assert_eq!(
        (answer.status, &answer.json()["error"]),
        (400, &json!("passphrase:wrong"))
    );
    let right = json!({ "file": file, "passphrase": PASSPHRASE });
    let response = post(&to, IMPORT, &right, &[]).await;
    assert!(!response.text().contains("planted"), "{}", response.text());
    let response = response.json();
    assert_eq!(
        (&response["secrets"], &response["rebootRequired"]),
        (&json!("opened"), &json!(true))
    );
    let secret = |name: &str| json!({ "name": name, "secret": true });
    let changes = response["changes"].as_array().unwrap();
    assert!(changes.contains(&secret("proxyPass")), "{changes:?}");
    assert!(changes.contains(&secret("httpAuthPass")), "{changes:?}");
    let stored = to.view.borrow().settings.clone();
    // The secret was entered while the clock was open.
    let expected = Settings {
        guarded_secrets: String::new(),
        ..guarded()
    };
    assert_eq!(*stored, expected);
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
    let mut listed = good();
    listed["secrets"] = json!([
        "argon2id",
        2048,
        1,
        "AAAAAAAAAAAAAAAAAAAAAA==",
        "chacha20-poly1305",
        "AAAA"
    ]);
    #[rustfmt::skip]
    let rows = [
        (json!({ "file": listed, "dryRun": true }), "file:bad_type"),
        (json!([]), "not_object"),
        (json!({}), "file:bad_type"),
        (json!({ "file": { "format": "else" } }), "file:bad_type"),
        (json!({ "file": { "format": "papertick settings", "version": 2 } }), "file:unknown"),
        (json!({ "file": good(), "passphrase": "short" }), "passphrase:bad_length"),
        (json!({ "file": good(), "passphrase": 12_345_678 }), "passphrase:bad_length"),
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
    for body in [r#"{"passphrase":"short"}"#, "[]", "{"] {
        assert_eq!(clock.json("POST", EXPORT, body).await.status, 400, "{body}");
    }
    assert_eq!(clock.view.borrow().settings.led_brightness, 128);
}

/// A client of an open clock can set a password, but must not get earlier secrets by that.
#[tokio::test]
async fn a_later_password_does_not_allow_to_export_earlier_secrets() {
    let clock = clock_with(Settings {
        guarded_secrets: String::new(),
        nwc_uri: device::secret::Secret::new("nostr+walletconnect://planted"),
        ..guarded()
    })
    .await;
    let credentials = basic("satoshi:correct horse");
    let request = json!({ "passphrase": PASSPHRASE });
    let opened = async || {
        let file = post(&clock, EXPORT, &request, &[&credentials]).await.json();
        let left_out = file["leftOut"].clone();
        let to = clock_with(Settings::default()).await;
        let right = json!({ "file": file, "passphrase": PASSPHRASE });
        assert_eq!(post(&to, IMPORT, &right, &[]).await.status, 200);
        let stored = to.view.borrow().settings.clone();
        (left_out, stored.proxy_pass.expose().to_string())
    };
    assert_eq!(
        opened().await,
        (json!(["proxyPass", "nwcUri"]), String::new())
    );
    // A secret that is entered again with the password can be exported.
    let body = r#"{"proxyPass":"entered again"}"#;
    let length = format!("Content-Length: {}", body.len());
    let headers = [length.as_str(), credentials.as_str()];
    let entered = clock.send("PATCH", "/api/settings", &headers, body).await;
    assert_eq!(entered.status, 200);
    assert_eq!(
        opened().await,
        (json!(["nwcUri"]), "entered again".to_string())
    );
}

/// The same for an imported secret, if the import used the password.
#[tokio::test]
async fn an_imported_secret_can_be_exported_if_the_clock_was_protected() {
    let source = clock_with(guarded()).await;
    let credentials = basic("satoshi:correct horse");
    let request = json!({ "passphrase": PASSPHRASE });
    let file = post(&source, EXPORT, &request, &[&credentials])
        .await
        .json();
    let right = json!({ "file": file, "passphrase": PASSPHRASE });
    let clock = clock_with(Settings {
        guarded_secrets: String::new(),
        proxy_pass: device::secret::Secret::default(),
        ..guarded()
    })
    .await;
    let imported = post(&clock, IMPORT, &right, &[&credentials]).await;
    assert_eq!(imported.status, 200);
    let file = post(&clock, EXPORT, &request, &[&credentials]).await.json();
    assert_eq!(
        file.get("leftOut").cloned().unwrap_or_default(),
        Value::Null
    );
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
async fn pages_of_other_sites_neither_export_nor_import() {
    let clock = clock_with(Settings::default()).await;
    let foreign = "Origin: http://evil.example";
    let request = json!({ "file": file(&json!({ "ledBrightness": 3 })) });
    assert_eq!(post(&clock, IMPORT, &request, &[foreign]).await.status, 403);
    assert_eq!(
        post(&clock, EXPORT, &json!({}), &[foreign]).await.status,
        403
    );
}

#[tokio::test]
async fn the_log_can_be_read_and_has_no_passphrase() {
    let log = LogLines::new();
    let _logged = Logged::from_now(LevelFilter::TRACE, &log);
    let clock = Clock::with(Setup {
        device: Kind::Real,
        settings: guarded(),
        log,
        ..Setup::default()
    })
    .await;
    let credentials = basic("satoshi:correct horse");
    let request = json!({ "passphrase": PASSPHRASE });
    let exported = post(&clock, EXPORT, &request, &[&credentials]).await.json();
    let request = json!({ "file": exported, "passphrase": PASSPHRASE });
    assert_eq!(
        post(&clock, IMPORT, &request, &[&credentials]).await.status,
        200
    );
    let response = clock.send("GET", "/api/log", &[&credentials], "").await;
    let text = response.text();
    assert!(text.contains("settings imported from a file"), "{text}");
    for secret in [PASSPHRASE, "planted", "correct horse"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    assert!(response.json()["lines"].as_array().unwrap().len() > 2);
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
