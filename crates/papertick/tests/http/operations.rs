//! Responses of operations: documents of the view, refusals, and special cases.

use std::{sync::Arc, time::Duration};

use device::{
    lights::Rgb,
    request::{Changed, Refusal},
    settings::Settings,
    view::SourceState,
};
use market::{Datum, Figure, FigureIdentity, Seen, source_id::SourceId, units::FeeRate};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use updates::policy::Signatures;

use crate::support::{Answer, Clock, Setup};

#[tokio::test]
async fn operations_with_special_responses() {
    let red = [Rgb {
        red: 255,
        green: 0,
        blue: 0,
    }];
    let lights = r##"[{"red":255,"green":0,"blue":0,"hex":"#FF0000"}]"##;
    #[rustfmt::skip]
    let rows = [
        ("POST /api/lights/color", r#"{"c":"FF0000"}"#, Ok(Changed::default()), lights),
        ("POST /api/lights/set", r#"[{"hex":"FF0000"}]"#, Ok(Changed::default()), ""),
        ("POST /api/lights/effect", r#"{"name":"rainbow","speed":3}"#, Ok(Changed::default()), r#"{"queued":true,"name":"rainbow"}"#),
        ("POST /api/factory_reset", r#"{"confirm":"factory_reset"}"#, Ok(Changed::default()), r#"{"msg":"factory reset scheduled"}"#),
        ("POST /api/action/clear_pool_logos", "", Ok(Changed::default()), r#"{"removed":0}"#),
        ("POST /api/wifi_set_tx_power", r#"{"txPower":-1}"#, Ok(Changed::default()), r#"{"setTxPower":"ok"}"#),
        ("POST /api/wifi_set_tx_power?txPower=80", "", Ok(Changed::default()), r#"{"setTxPower":"ok"}"#),
        ("PATCH /api/settings", "{}", Ok(Changed { reboot_required: true,..Changed::default() }), r#"{"rebootRequired":true}"#),
    ];
    let clock = Clock::start().await;
    clock.change(|view| view.lights = red.to_vec());
    for (request, body, reply, answered) in rows {
        let (method, path) = request.split_once(' ').unwrap();
        clock.replies.send(reply).await.unwrap();
        let answer = match body {
            "" => clock.send(method, path, &[], "").await,
            body => clock.json(method, path, body).await,
        };
        assert_eq!(
            (answer.status, answer.text()),
            (200, answered),
            "{request} {body}"
        );
    }
}

#[tokio::test]
async fn documents_have_the_values_of_the_view() {
    let clock = Clock::start().await;
    let dnd = r#"{"enabled":false,"dndTimeEnabled":false,"timeBasedEnabled":false,"startTime":"22:00","endTime":"7:00","active":false}"#;
    let rows = [
        ("GET /api/dnd/status", dnd),
        (
            "GET /api/frontlight/status",
            r#"{"flStatus":[2048,2048,2048,2048,2048,2048,2048]}"#,
        ),
        ("GET /healthz", r#"{"ok":true}"#),
        ("GET /readyz", r#"{"ok":true}"#),
    ];
    for (request, body) in rows {
        let answer = clock.get(request.strip_prefix("GET ").unwrap()).await;
        assert_eq!((answer.status, answer.text()), (200, body), "{request}");
    }
    let lights = clock.get("/api/lights").await.json();
    assert_eq!(
        (lights.as_array().unwrap().len(), lights[0]["hex"].as_str()),
        (4, Some("#000000"))
    );
    assert!(clock.get("/api/diag/heap").await.json()["caps"]["spiram"].is_object());
}

#[tokio::test]
async fn a_managed_clock_refuses_updates_and_names_the_manager() {
    let clock = Clock::with(Setup {
        managed_by: Some("Umbrel".into()),
        signatures: Signatures::NotRequired,
        ..Setup::default()
    })
    .await;
    let refusal = json!({
        "error": "ota_disabled",
        "msg": "Umbrel updates this clock: install the new version there",
    });
    for path in [
        "/upload/firmware",
        "/upload/webui",
        "/api/firmware/auto_update",
    ] {
        let answer = clock.send("POST", path, &["Content-Length: 1"], "x").await;
        assert_eq!(
            (answer.status, answer.json()),
            (403, refusal.clone()),
            "{path}"
        );
    }
    let system = clock.get("/api/system/status").await.json();
    assert_eq!(system["firmware"]["managedBy"], "Umbrel");
}

/// Operations of a missing part are refused, also before the device knows that it is missing.
#[tokio::test]
async fn operations_of_missing_parts_are_refused() {
    let clock = Clock::start().await;
    let keys = clock.folder.path().join("update-keys");
    let no_key = format!(
        r#"{{"error":"ESP_ERR_OTA_VALIDATE_FAILED","msg":"no key is trusted here: put the public key of the signer into the folder {}, or start the clock with --update-key FILE"}}"#,
        keys.display()
    );
    #[rustfmt::skip]
    let rows = [
        ("POST /upload/firmware", "x", 503, no_key.as_str()),
        ("POST /upload/webui", "x", 503, no_key.as_str()),
        ("POST /upload/firmware", "", 411, r#"{"error":"content-length required"}"#),
        ("POST /api/firmware/auto_update", "", 503, no_key.as_str()),
        ("GET /api/firmware/auto_update", "", 503, no_key.as_str()),
    ];
    for (request, body, status, expected) in rows {
        let (method, path) = request.split_once(' ').unwrap();
        let length = format!("Content-Length: {}", body.len());
        let answer = clock.send(method, path, &[&length], body).await;
        assert_eq!(
            (answer.status, answer.text()),
            (status, expected),
            "{request}"
        );
    }
    // The response does not wait for the rest of the body.
    let mut stream = clock.connect().await;
    let head = format!(
        "POST /upload/firmware HTTP/1.1\r\nHost: {}\r\nContent-Length: 99999999999\r\n\r\n",
        clock.address
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut received = Vec::new();
    while !received.ends_with(b"}") {
        assert_ne!(stream.read_buf(&mut received).await.unwrap(), 0);
    }
    let answer = Answer::parse(&received);
    assert_eq!(
        (answer.status, answer.json()["error"].as_str()),
        (413, Some("oversize"))
    );

    let plain = Clock::with(Setup {
        board: "rev-a",
        ..Setup::default()
    })
    .await;
    let answer = plain.get("/api/frontlight/status").await;
    assert_eq!(
        answer.text(),
        r#"{"error":"frontlight not present on this board"}"#
    );
    let status = plain.get("/api/status").await.json();
    assert!(status.get("frontlight").is_none() && status.get("lightLevel").is_none());
}

#[tokio::test]
async fn uploads_can_be_switched_off() {
    let clock = Clock::with(Setup {
        settings: Settings {
            ota_enabled: false,
            ..Settings::default()
        },
        ..Setup::default()
    })
    .await;
    for path in [
        "/upload/firmware",
        "/upload/webui",
        "/api/firmware/auto_update",
    ] {
        let answer = clock.send("POST", path, &["Content-Length: 1"], "x").await;
        assert_eq!(
            (answer.status, answer.text()),
            (403, r#"{"error":"ota_disabled"}"#),
            "{path}"
        );
    }
}

/// The setting takes effect at the next start.
#[tokio::test]
async fn switching_uploads_needs_a_restart() {
    for started_with in [false, true] {
        let with = |ota_enabled| Settings {
            ota_enabled,
            ..Settings::default()
        };
        let clock = Clock::with(Setup {
            settings: with(started_with),
            ..Setup::default()
        })
        .await;
        clock.change(|view| view.settings.stored = with(!started_with).into());
        for path in ["/upload/firmware", "/upload/webui"] {
            let answer = clock.send("POST", path, &["Content-Length: 1"], "x").await;
            let expected = if started_with { 503 } else { 403 };
            assert_eq!(answer.status, expected, "{path}, {started_with}");
        }
    }
}

#[tokio::test]
async fn unknown_paths_and_methods_are_refused_in_json() {
    let rows = [
        ("GET", "/api/nothing", 404, "not found"),
        ("GET", "/api/show/text/", 404, "not found"),
        ("GET", "/api/show/currency/", 404, "not found"),
        ("GET", "/api/show/text/%ff%fe", 400, "bad path"),
        ("GET", "/api/show/text/%00", 400, "bad path"),
        ("GET", "/api/show/screen/x", 400, "unknown screen id"),
        ("DELETE", "/api/status", 405, "method not allowed"),
    ];
    let clock = Clock::start().await;
    for (method, path, status, error) in rows {
        let answer = clock.send(method, path, &[], "").await;
        assert_eq!(answer.status, status, "{method} {path}");
        assert_eq!(answer.json()["error"], error, "{method} {path}");
        let sniffing = answer.header("x-content-type-options");
        assert_eq!(sniffing, Some("nosniff"), "{method} {path}");
    }
}

/// Lists of the wrong length are refused by the device, with a text for each kind.
#[tokio::test]
async fn lists_of_the_wrong_length_are_refused() {
    let rows = [
        (
            "/api/lights/set",
            r#"[{"hex":"FF0000"},{"hex":"FF0000"}]"#,
            "pixel count mismatch",
        ),
        ("/api/frontlight/set", "[1]", "channel count mismatch"),
    ];
    let clock = Clock::start().await;
    for (path, body, error) in rows {
        clock.replies.send(Err(Refusal::WrongCount)).await.unwrap();
        let answer = clock.json("POST", path, body).await;
        assert_eq!(
            (answer.status, answer.json()["error"].as_str()),
            (400, Some(error)),
            "{path}"
        );
    }
}

/// Responses for refusals of the device.
#[tokio::test]
async fn refusals_have_status_codes() {
    #[rustfmt::skip]
    let rows = [
        (Refusal::UnknownScreen, 400, r#"{"error":"unknown screen id"}"#),
        (Refusal::UnavailableScreen(70), 409, r#"{"error":"screen 70 unavailable for active pool"}"#),
        (Refusal::CurrencyNotActive, 404, r#"{"error":"currency not active"}"#),
        (Refusal::NoLeds, 503, r#"{"error":"leds not available"}"#),
        (Refusal::NoFrontlight, 503, r#"{"error":"frontlight not present on this board"}"#),
        (Refusal::UpdateRunning, 503, r#"{"msg":"Update already in progress"}"#),
        (Refusal::NotStored, 500, r#"{"error":"not stored"}"#),
        (Refusal::Erasing, 503, r#"{"error":"everything is being erased"}"#),
    ];
    let clock = Clock::start().await;
    for (refusal, status, body) in rows {
        clock.replies.send(Err(refusal.clone())).await.unwrap();
        let answer = clock.post("/api/screen/next").await;
        assert_eq!(
            (answer.status, answer.text()),
            (status, body),
            "{refusal:?}"
        );
    }
}

/// Connected sources, and the connections in the status.
#[tokio::test]
async fn the_status_has_the_connections() {
    use SourceId::{Exchange, Explorer, Nostr, Pool, Relay, Wallet, Zaps};
    // The data source, whether the wallet is on, what is up: price, blocks, V2, nostr, nwc.
    let rows: &[(u32, bool, &[SourceId], [bool; 5])] = &[
        (0, false, &[], [false; 5]),
        (0, false, &[Relay], [true, true, true, false, false]),
        (0, false, &[Exchange, Explorer, Pool], [false; 5]),
        (0, false, &[Nostr], [false, false, false, true, false]),
        (0, false, &[Zaps], [false, false, false, true, false]),
        (1, false, &[Exchange], [true, false, false, false, false]),
        (1, false, &[Explorer], [false, true, false, false, false]),
        (1, false, &[Relay], [true, false, true, false, false]),
        (2, false, &[Nostr], [true, true, false, true, false]),
        (2, false, &[Zaps], [false, false, false, true, false]),
        (2, false, &[Relay], [false, false, true, false, false]),
        (3, false, &[Relay], [true, true, true, false, false]),
        (3, false, &[Exchange, Explorer], [false; 5]),
        (0, true, &[Wallet], [false, false, false, false, true]),
        (0, false, &[Wallet], [false; 5]),
        (0, true, &[], [false; 5]),
    ];
    let clock = Clock::start().await;
    for (data_source, nwc_enabled, up, expected) in rows {
        clock.change(|view| {
            view.settings.active = Arc::new(Settings {
                data_source: *data_source,
                nwc_enabled: *nwc_enabled,
                ..Settings::default()
            });
            // All enabled sources have a state, also disconnected ones.
            let all = [Exchange, Explorer, Nostr, Pool, Relay, Wallet, Zaps];
            let state = |id: SourceId| SourceState {
                up: up.contains(&id),
                ..SourceState::default()
            };
            view.sources = all.map(|id| (id, state(id))).into();
        });
        let status = clock.get("/api/status").await.json();
        let actual = ["price", "blocks", "V2", "nostr", "nwc"]
            .map(|name| status["connectionStatus"][name].as_bool().unwrap());
        assert_eq!(actual, *expected, "{data_source} {nwc_enabled} {up:?}");
    }
}

/// Facts of the host, and counters of the device.
#[tokio::test]
async fn the_system_status_has_the_values_of_host_and_device() {
    let clock = Clock::start().await;
    let rows = [
        (None, None, 78),
        (Some(40), None, 40),
        (Some(40), Some(60), 60),
    ];
    for (configured, reported, expected) in rows {
        clock.change(|view| {
            view.settings.active = Arc::new(Settings {
                tx_power: configured,
                ..Settings::default()
            });
            view.link.tx_power = reported;
            view.link.rssi = -61;
            view.strip_drops = 3;
        });
        let system = clock.get("/api/system/status").await.json();
        assert_eq!(system["txPower"], expected, "{configured:?} {reported:?}");
        assert_eq!(system["rssi"], -61);
        let drops = json!({ "buttons": 0, "led": 3, "frontlight": 0 });
        assert_eq!(system["queueDrops"], drops);
    }
    // Other programs write meanwhile.
    const SLACK: u64 = 64 << 20;
    let disk = || rustix::fs::statvfs(std::env::temp_dir()).unwrap();
    let used = || (disk().f_blocks - disk().f_bfree) * disk().f_frsize;
    let before = used();
    let system = clock.get("/api/system_status").await.json();
    let after = used();
    let bytes = |name: &str| system[name].as_u64().unwrap();
    assert_eq!(bytes("fsTotalBytes"), disk().f_blocks * disk().f_frsize);
    let possible = before.min(after).saturating_sub(SLACK)..=before.max(after) + SLACK;
    assert!(
        possible.contains(&bytes("fsUsedBytes")),
        "{possible:?}, {system}"
    );
    assert!(bytes("espFreeHeap") < bytes("espHeapSize"), "{system}");
    assert!(bytes("espMinFreeHeap") <= bytes("espFreeHeap"), "{system}");
    assert!(bytes("uptime") < 60, "{system}");
}

#[tokio::test]
async fn the_fee_rate_of_the_status_is_the_shown_one() {
    let clock = Clock::start().await;
    let fee = |text: &str, secs| {
        Some(Figure {
            datum: Datum {
                value: FeeRate::parse(text).unwrap(),
                source: SourceId::Relay,
                seen: Seen::At(Duration::from_secs(secs)),
            },
            identity: FigureIdentity::default(),
            failed_polls: 0,
        })
    };
    // Sources send decimals only while the setting is on. Afterwards the value with decimals is old.
    let rows = [
        (true, ("4", 9), ("4.25", 9), "4.25", "4.25"),
        (true, ("7", 9), ("4.25", 8), "7.00", "7"),
        (false, ("7", 9), ("4.25", 8), "7", "7"),
        (false, ("7", 8), ("4.25", 9), "4", "4.25"),
    ];
    for (decimals, whole, precise, in_status, in_metrics) in rows {
        clock.change(|view| {
            view.settings.active = Arc::new(Settings {
                block_fee_dec: decimals,
                ..Settings::default()
            });
            let market = Arc::make_mut(&mut view.market);
            market.fee = fee(whole.0, whole.1);
            market.precise_fee = fee(precise.0, precise.1);
        });
        let status = clock.get("/api/status").await.json();
        assert_eq!(
            status["market"]["feeRate"]["value"], in_status,
            "{decimals}"
        );
        let metrics = clock.get("/metrics").await;
        let line = format!("papertick_fee_rate {in_metrics}");
        assert!(metrics.text().lines().any(|found| found == line), "{line}");
    }
}
