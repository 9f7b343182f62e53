//! Settings and uploads of existing clients, with the real device.

use serde_json::{Value, json};

use crate::support::{Clock, Kind, Setup};

async fn settings(clock: &Clock) -> Value {
    clock.get("/api/settings").await.json()
}

/// The Home Assistant integration changes single settings, and the whole schedule at once.
#[tokio::test]
async fn settings_from_home_assistant() {
    let clock = Clock::real().await;
    let dnd = json!({
        "enabled": true, "dndTimeEnabled": true,
        "startHour": 21, "startMinute": 15, "endHour": 6, "endMinute": 45,
    });
    let rows = [
        ("dnd", dnd),
        ("fontName", json!("oswald")),
        ("bitaxePollSec", json!(20)),
        ("bitaxeEnabled", json!(true)),
        ("actCurrencies", json!(["EUR"])),
        ("tzString", json!("Europe/Lisbon")),
        ("miningPoolName", json!("ocean")),
        ("ledBrightness", json!(9)),
    ];
    for (key, value) in rows {
        let body = json!({ key: value }).to_string();
        let answer = clock.json("PATCH", "/api/settings", &body).await;
        assert_eq!((answer.status, answer.text()), (200, ""), "{key}");
        assert_eq!(settings(&clock).await[key], value, "{key}");
    }
    let settings = settings(&clock).await;
    assert_eq!(settings["minerPollSec"], 20);
    assert_eq!(settings["minerEnabled"], true);
    assert_eq!(settings["dndStartHour"], 21);
    let custom: Vec<String> = ('A'..='G').map(String::from).collect();
    for count in 1..=custom.len() {
        let body = json!(custom[..count]).to_string();
        let answer = clock.json("POST", "/api/show/custom", &body).await;
        assert_eq!((answer.status, answer.text()), (200, ""), "{count}");
    }
}

/// Older clients send images as forms. A refusal must never look like a success.
#[tokio::test]
async fn a_refused_form_upload_does_not_look_like_a_success() {
    let clock = Clock::with(Setup {
        device: Kind::Real,
        ..Setup::default()
    })
    .await;
    for (path, field) in [
        ("/upload/firmware", "firmware"),
        ("/upload/firmware", "file"),
        ("/upload/webui", "webui"),
        ("/upload/webui", "file"),
    ] {
        let body = format!(
            "--mark\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"image.bin\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n{}\r\n--mark--\r\n",
            "x".repeat(100_000)
        );
        let length = format!("Content-Length: {}", body.len());
        let headers = ["Content-Type: multipart/form-data; boundary=mark", &length];
        let answer = clock.send("POST", path, &headers, &body).await;
        assert_eq!(answer.status, 503, "{path} {field}");
        assert!(answer.json()["error"].is_string(), "{path} {field}");
    }
}
