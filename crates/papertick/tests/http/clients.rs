//! Requests of existing clients, byte for byte where it matters, with the real device.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Answer, Clock, SOON};

/// Headers of a POST without a body, as the Home Assistant integration sends it.
pub(crate) const HOME_ASSISTANT: &[&str] = &[
    "Accept: */*",
    "User-Agent: HomeAssistant/2026.11.1 aiohttp/3.13.2 Python/3.13",
    "Content-Length: 0",
    "Content-Type: application/octet-stream",
];

async fn status(clock: &Clock) -> Value {
    clock.get("/api/status").await.json()
}

/// Switching the lights off does not mute them.
#[tokio::test]
async fn lights_that_are_off_are_not_muted() {
    let clock = Clock::real().await;
    for path in ["/api/lights/off", "/api/lights/color?c=off"] {
        assert_eq!(clock.send("POST", path, &[], "").await.status, 200);
        let settings = clock.get("/api/settings").await.json();
        assert_eq!(settings["disableLeds"], false, "{path}");
    }
    let patch = r#"{"disableLeds":true}"#;
    clock.json("PATCH", "/api/settings", patch).await;
    let path = "/api/lights/color?c=FF8800";
    assert_eq!(clock.send("POST", path, &[], "").await.status, 200);
    let settings = clock.get("/api/settings").await.json();
    assert_eq!(settings["disableLeds"], true, "a colour unmutes nothing");
}

/// The status explains why a colour is not visible.
#[tokio::test]
async fn the_status_has_the_reason_for_muted_lights() {
    let clock = Clock::real().await;
    assert_eq!(status(&clock).await["ledsMuted"], Value::Null);
    for (path, patch, why) in [
        ("", r#"{"disableLeds":true}"#, json!("disableLeds")),
        ("/api/dnd/enable", "", json!("disableLeds")),
        ("", r#"{"disableLeds":false}"#, json!("dnd")),
        ("/api/lights/color?c=FF8800", "", json!("dnd")),
        ("/api/dnd/disable", "", Value::Null),
        ("/api/lights/off", "", Value::Null),
    ] {
        let answer = if path.is_empty() {
            clock.json("PATCH", "/api/settings", patch).await
        } else {
            clock.send("POST", path, &[], "").await
        };
        assert_eq!(answer.status, 200, "{path}{patch}");
        assert_eq!(status(&clock).await["ledsMuted"], why, "{path}{patch}");
    }
}

/// Clients reuse connections.
#[tokio::test]
async fn a_connection_serves_many_requests() {
    let clock = Clock::real().await;
    let mut stream = clock.connect().await;
    for _ in 0..3 {
        let request = format!(
            "POST /api/screen/next HTTP/1.1\r\nHost: {}\r\n{}\r\n\r\n",
            clock.address,
            HOME_ASSISTANT.join("\r\n")
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut received = Vec::new();
        while !received.ends_with(b"\r\n\r\n") {
            let read = tokio::time::timeout(SOON, stream.read_buf(&mut received)).await;
            assert_ne!(
                read.expect("an answer in time").unwrap(),
                0,
                "the connection was closed"
            );
        }
        assert_eq!(Answer::parse(&received).status, 200);
    }
}
