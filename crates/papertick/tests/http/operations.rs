//! Every operation: what a client sends, what the device is asked, what the client is answered.

use device::request::{Refusal, Reply};

use crate::support::Clock;

/// What each request makes of the device's inbox.
#[tokio::test]
async fn operations_reach_the_device() {
    let rows = [
        ("POST /api/show/screen", r#"{"s":20}"#, "ShowScreen(20)"),
        ("POST /api/show/screen?s=20", "", "ShowScreen(20)"),
        ("GET /api/show/screen/20", "", "ShowScreen(20)"),
        (
            "POST /api/show/currency",
            r#"{"c":"eur"}"#,
            "ShowCurrency(EUR)",
        ),
        ("POST /api/show/currency?c=EUR", "", "ShowCurrency(EUR)"),
        ("GET /api/show/currency/EUR", "", "ShowCurrency(EUR)"),
        (
            "POST /api/show/text",
            r#"{"t":"Hodl"}"#,
            "ShowText(\"Hodl\")",
        ),
        ("POST /api/show/text?t=HO%20DL", "", "ShowText(\"HO DL\")"),
        ("GET /api/show/text/HO%2FDL", "", "ShowText(\"HO/DL\")"),
        (
            "POST /api/show/custom",
            r#"["A","B"]"#,
            "ShowCustom { cells: [\"A\", \"B\"], digit_px: None }",
        ),
        (
            "POST /api/show/custom",
            r#"{"cells":["A"],"digitPx":100}"#,
            "ShowCustom { cells: [\"A\"], digit_px: Some(100) }",
        ),
        ("POST /api/screen/next", "", "Next"),
        ("POST /api/screen/previous", "", "Previous"),
        ("POST /api/action/pause", "", "Pause"),
        ("GET /api/action/pause", "", "TogglePause"),
        ("POST /api/action/timer_restart", "", "RestartTimer"),
        ("GET /api/action/timer_restart", "", "RestartTimer"),
        ("POST /api/full_refresh", "", "FullRefresh"),
        ("GET /api/full_refresh", "", "FullRefresh"),
        ("POST /api/restart", "", "Restart"),
        ("GET /api/restart", "", "Restart"),
    ];
    let mut clock = Clock::start().await;
    for (request, body, asked) in rows {
        let (method, path) = request.split_once(' ').unwrap();
        let answer = match body {
            "" => clock.send(method, path, &[], "").await,
            body => clock.json(method, path, body).await,
        };
        assert_eq!(
            (answer.status, answer.text()),
            (200, ""),
            "{request} {body}"
        );
        assert_eq!(
            format!("{:?}", clock.asked().await),
            asked,
            "{request} {body}"
        );
    }
}

/// What a request is answered that is wrong in itself.
#[tokio::test]
async fn wrong_requests_are_answered_in_json() {
    let rows = [
        ("POST /api/show/screen", "", 400, "missing s"),
        ("POST /api/show/screen", r#"{"s":"x"}"#, 400, "missing s"),
        ("GET /api/show/screen/x", "", 400, "unknown screen id"),
        ("POST /api/show/currency", "", 404, "missing c"),
        (
            "POST /api/show/currency",
            r#"{"c":"euro"}"#,
            404,
            "currency not active",
        ),
        ("POST /api/show/text", "{}", 400, "missing_text"),
        ("POST /api/show/custom", "", 400, "bad body"),
        ("POST /api/show/custom", "[1]", 400, "bad_json"),
        ("POST /api/show/custom", "{", 400, "bad_json"),
        ("PATCH /api/settings", "", 400, "bad body"),
        ("PATCH /api/settings", "{", 400, "json"),
        ("PATCH /api/settings", "[]", 400, "not_object"),
        ("GET /api/nothing", "", 404, "not found"),
        ("DELETE /api/status", "", 405, "method not allowed"),
    ];
    let clock = Clock::start().await;
    for (request, body, status, error) in rows {
        let (method, path) = request.split_once(' ').unwrap();
        let answer = match body {
            "" => clock.send(method, path, &[], "").await,
            body => clock.json(method, path, body).await,
        };
        assert_eq!(answer.status, status, "{request} {body}");
        assert_eq!(answer.json()["error"], error, "{request} {body}");
    }
}

/// What the device's refusals are told as.
#[tokio::test]
async fn refusals_have_their_own_status() {
    let rows = [
        (
            Refusal::UnknownScreen,
            400,
            r#"{"error":"unknown screen id"}"#,
        ),
        (
            Refusal::UnavailableScreen(70),
            409,
            r#"{"error":"screen 70 unavailable for active pool"}"#,
        ),
        (
            Refusal::CurrencyNotActive,
            404,
            r#"{"error":"currency not active"}"#,
        ),
        (Refusal::NoLeds, 503, r#"{"error":"leds not available"}"#),
        (
            Refusal::NoFrontlight,
            503,
            r#"{"error":"frontlight not present on this board"}"#,
        ),
        (
            Refusal::UpdateRunning,
            503,
            r#"{"msg":"Update already in progress"}"#,
        ),
        (Refusal::NotStored, 500, r#"{"error":"not stored"}"#),
    ];
    let clock = Clock::start().await;
    for (refusal, status, body) in rows {
        clock.replies.send(Reply::Refused(refusal)).await.unwrap();
        let answer = clock.post("/api/screen/next").await;
        assert_eq!(
            (answer.status, answer.text()),
            (status, body),
            "{refusal:?}"
        );
    }
}

#[tokio::test]
async fn status_has_the_members_of_the_interface() {
    let clock = Clock::start().await;
    let status = clock.get("/api/status").await.json();
    assert_eq!(status["currentScreen"], 20);
    assert_eq!(status["numScreens"], 7);
    assert_eq!(status["lightLevel"], 15.8);
    assert_eq!(status["dnd"]["startTime"], "22:00");
    assert_eq!(status["dnd"]["endTime"], "7:00");
    for name in ["price", "blocks", "V2", "nostr", "nwc"] {
        assert_eq!(status["connectionStatus"][name], false, "{name}");
    }
    assert!(status["espUptime"].is_u64() && status["espHeapSize"].is_u64());
}

#[tokio::test]
async fn a_change_is_in_the_very_next_status() {
    let clock = Clock::start().await;
    for screen in [0, 3, 4, 20] {
        clock.change(|view| view.current_screen = screen);
        assert_eq!(
            clock.get("/api/status").await.json()["currentScreen"],
            screen
        );
    }
}
