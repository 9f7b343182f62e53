//! GET requests: settings with their ETag, pictures, the page, metrics, the OpenAPI document.

use std::{sync::Arc, time::Duration};

use api::{documents::lights, openapi};
use chain::{Work, anchor::genesis, network::Network};
use device::{
    board::PanelFault,
    history::{BlockReading, History, Readings, Series},
    refresh::Refresh,
    sources::Route,
    view::{SourceState, View},
};
use market::{
    Datum, HeightState, PriceState, PriceTruth, Reorganisations, Seen, TimeState, Tip,
    heights::Claimed,
    now::{Now, UtcTime},
    source_id::SourceId,
    units::{Currency, Price},
};
use net::{
    dialer::{Destination, Dialer, TransportSecurity},
    tls::Roots,
};
use runtime::panels::PanelState;
use serde_json::{Value, json};
use tokio::{
    net::TcpSocket,
    time::{Instant, sleep},
};

use crate::support::{Clock, Kind, Setup};

#[tokio::test]
async fn the_etag_of_the_settings_changes_only_with_them() {
    let clock = Clock::start().await;
    let first = clock.get("/api/settings").await;
    let tag = first.header("etag").unwrap().to_string();
    assert_eq!(first.json()["numScreens"], 7);
    assert_eq!(first.json()["gitTag"], "4.0.0");

    let known = format!("If-None-Match: {tag}");
    let read = async || clock.send("GET", "/api/settings", &[&known], "").await;
    let same = read().await;
    assert_eq!(
        (same.status, same.header("etag"), same.body.len()),
        (304, Some(tag.as_str()), 0)
    );

    clock.change(|view| view.millilux = Some(1));
    assert_eq!(read().await.status, 304);
    clock.change(|view| Arc::make_mut(&mut view.settings.stored).timer_active = false);
    assert_eq!(
        clock.get("/api/settings").await.header("etag"),
        Some(tag.as_str())
    );
    clock.change(|view| Arc::make_mut(&mut view.settings.stored).led_brightness = 5);
    let other = read().await;
    assert_eq!(other.status, 200);
    assert_ne!(other.header("etag"), Some(tag.as_str()));
}

/// Page and program can be compared.
#[tokio::test]
async fn the_embedded_page_has_the_version_of_the_program() {
    let clock = Clock::start().await;
    let settings = clock.get("/api/settings").await.json();
    let answer = clock.get("/manifest.json").await;
    let manifest = answer.json();
    assert_eq!(settings["gitRev"], "4.0.0-abc1234");
    assert_eq!(settings["fsRev"], settings["gitRev"]);
    assert_eq!(manifest["commit"], settings["gitRev"]);
    assert_eq!(manifest["buildTime"], settings["lastBuildTime"]);
    assert_eq!(manifest["minFirmware"], "4.0.0");
    let tag = format!("If-None-Match: {}", answer.header("etag").unwrap());
    let known = clock.send("GET", "/manifest.json", &[&tag], "").await;
    assert_eq!(known.status, 304);
}

#[tokio::test]
async fn a_patch_of_an_old_version_is_refused() {
    let mut clock = Clock::start().await;
    let tag = clock
        .get("/api/settings")
        .await
        .header("etag")
        .unwrap()
        .to_string();
    let body = r#"{"ledBrightness":7}"#;
    let length = format!("Content-Length: {}", body.len());
    let patch = async |condition: &str| {
        let headers = [length.as_str(), condition];
        clock.send("PATCH", "/api/settings", &headers, body).await
    };
    assert_eq!(patch(&format!("If-Match: {tag}")).await.status, 200);
    assert_eq!(patch("If-Match: *").await.status, 200);
    assert_eq!(patch("X-None: 1").await.status, 200);
    let refused = patch("If-Match: \"another\"").await;
    assert_eq!(refused.status, 412);
    assert_eq!(refused.json()["error"], "settings changed");
    assert_eq!(patch("If-Match: \u{fe}\u{ff}").await.status, 412);
    assert_eq!(patch("If-Match: ").await.status, 412);
    let lines = format!("If-Match: \"another\"\r\nIf-Match: {tag}");
    assert_eq!(patch(&lines).await.status, 200);
    for _ in 0..4 {
        clock.next_request().await;
    }
    assert!(clock.requests.try_recv().is_err());
}

#[tokio::test]
async fn of_two_concurrent_patches_one_is_refused() {
    let clock = Clock::real().await;
    let settings = clock.get("/api/settings").await;
    let condition = format!("If-Match: {}", settings.header("etag").unwrap());
    let patch = async |brightness: u32| {
        // Hashing is slow, so that the requests overlap.
        let body = json!({ "ledBrightness": brightness, "otaPass": "horse" }).to_string();
        let length = format!("Content-Length: {}", body.len());
        let headers = [length.as_str(), &condition];
        let answer = clock.send("PATCH", "/api/settings", &headers, &body).await;
        (answer.status, brightness)
    };
    let (one, other) = tokio::join!(patch(7), patch(8));
    let (saved, refused) = if one.0 == 200 { (one, other) } else { (other, one) };
    assert_eq!((saved.0, refused.0), (200, 412));
    let stored = clock.get("/api/settings").await.json();
    assert_eq!(stored["ledBrightness"], saved.1);
}

#[tokio::test]
async fn a_picture_has_the_requested_scale() {
    let clock = Clock::real().await;
    for (method, path, body) in [
        ("GET", "/api/panels.png", ""),
        ("POST", "/api/preview.png", "{}"),
        ("POST", "/api/show/preview.png", r#"["GM"]"#),
    ] {
        let width = async |query: &str| {
            let picture = clock.json(method, &format!("{path}{query}"), body).await;
            u32::from_be_bytes(picture.body[16..20].try_into().unwrap())
        };
        let plain = width("").await;
        for scale in [1, 2, 4] {
            let query = format!("?scale={scale}");
            assert_eq!(width(&query).await, plain * scale, "{path}{query}");
        }
    }
}

#[tokio::test]
async fn a_history_has_times_values_and_gaps() {
    const START: i64 = 2_960_000 * 600;
    let clock = Clock::start().await;
    let mut history = Arc::new(History::default());
    for (step, price, block) in [
        (0, None, 900_000),
        (1, Some(60_000_500_000), 900_000),
        (2, None, 900_001),
        (3, Some(61_000_000_000), 900_002),
    ] {
        let at = START + 600 * step;
        let now = Now {
            uptime: Duration::from_secs(600 * step as u64),
            utc: UtcTime::plausible(at * 1000),
        };
        history.record(Some(block), now, || Readings {
            values: vec![(Series::Price(Currency::USD), price)],
            block: Some(BlockReading {
                height: block,
                at: at - 7,
                is_by_header: true,
            }),
        });
    }
    clock.change(|view| view.history = Arc::clone(&history));
    let at = |step: i64| START + 600 * step;
    #[rustfmt::skip]
    let rows = [
        ("series=price&currency=USD&span=day", json!({
            "series": "price", "span": "day", "unit": "USD", "stepSecs": 600,
            "times": [at(1), at(2), at(3)], "values": [60000.5, null, 61000],
        })),
        ("span=year", json!({
            "series": "price", "span": "year", "unit": "USD", "stepSecs": 21_600,
            "times": [at(3) / 21_600 * 21_600], "values": [60000.5],
        })),
        ("series=fee", json!({
            "series": "fee", "span": "day", "unit": "sat/vB", "stepSecs": 600, "times": [], "values": [],
        })),
        ("series=blocks", json!({
            "series": "blocks", "span": "day", "unit": "blocks", "stepSecs": null,
            "times": [at(0) - 7, at(2) - 7, at(3) - 7], "values": [900_000, 900_001, 900_002],
        })),
    ];
    for (query, expected) in rows {
        let path = format!("/api/history?{query}");
        let answer = clock.get(&path).await;
        assert_eq!(answer.json(), expected, "{path}");
        let known = format!("If-None-Match: {}", answer.header("etag").unwrap());
        assert_eq!(
            clock.send("GET", &path, &[&known], "").await.status,
            304,
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_frame_is_of_the_requested_form_and_changes_nothing() {
    let clock = Clock::real().await;
    let before = clock.get("/api/status").await.json();
    // Width, height and depth of a PNG file are at fixed places.
    let plain = clock.get("/api/frame.png").await.body;
    for (query, form) in [
        ("", (800, 480, 4)),
        ("?screen=", (800, 480, 4)),
        ("?width=600&height=800&depth=8", (600, 800, 8)),
        (
            "?width=296&height=128&depth=1&rotate=90&layout=row&dark",
            (296, 128, 1),
        ),
        ("?depth=2&screen=3", (800, 480, 2)),
    ] {
        let path = format!("/api/frame.png{query}");
        let picture = clock.get(&path).await;
        assert_eq!(picture.status, 200, "{path}");
        let number = |at: usize| u32::from_be_bytes(picture.body[at..at + 4].try_into().unwrap());
        assert_eq!((number(16), number(20), picture.body[24]), form, "{path}");
        let known = format!("If-None-Match: {}", picture.header("etag").unwrap());
        let same = clock.send("GET", &path, &[&known], "").await;
        assert_eq!(same.status, 304, "{path}");
        for answer in [&picture, &same] {
            assert_eq!(answer.header("cache-control"), Some("no-cache"), "{path}");
        }
        let follows = ["", "?screen="].contains(&query);
        assert_eq!(picture.body == plain, follows, "{path}");
    }
    let bmp = clock.get("/api/frame.bmp?depth=1").await;
    assert_eq!(
        (bmp.header("content-type"), &bmp.body[..2], bmp.body.len()),
        (Some("image/bmp"), &b"BM"[..], 48_062)
    );
    let time = clock.get("/api/frame.png?screen=3").await.body;
    assert_ne!(time, clock.get("/api/frame.png?screen=0").await.body);
    // The screens of pools are disabled.
    assert_eq!(clock.get("/api/frame.png?screen=70").await.status, 409);
    assert_eq!(clock.get("/api/frame.png?screen=1").await.status, 400);
    let after = clock.get("/api/status").await.json();
    assert_eq!(before["currentScreen"], after["currentScreen"]);
}

#[tokio::test]
async fn a_board_tells_how_many_screens_have_room_and_is_drawn_before_it_is_saved() {
    let clock = Clock::real().await;
    // The splash would take the whole board.
    clock.json("POST", "/api/show/screen", r#"{"s":0}"#).await;
    for (size, change, tiles) in [
        ("", "{}", "6 of 6"),
        ("&width=200&height=100", "{}", "4 of 6"),
        ("", r#"{"boardScreens":[3,"20:EUR","0"]}"#, "3 of 3"),
    ] {
        let path = format!("/api/frame.png?layout=board{size}");
        let preview = clock.json("POST", &path, change).await;
        let header = preview.header("papertick-tiles");
        assert_eq!(header, Some(tiles), "{path} {change}");
        let is_stored = clock.get(&path).await.body == preview.body;
        assert_eq!(is_stored, change == "{}", "{path} {change}");
    }
    let path = "/api/frame.png?layout=figure";
    assert_eq!(clock.get(path).await.header("papertick-tiles"), None);
    let refused = clock.json("POST", path, r#"{"boardScreens":["0"]}"#).await;
    assert_eq!(refused.status, 400);
    assert_eq!(refused.json()["error"], "boardScreens:bad_length");
}

#[tokio::test]
async fn a_browser_without_scripts_reloads_one_picture() {
    let clock = Clock::real().await;
    let kindle = "User-Agent: Mozilla/5.0 (X11; U; Linux armv7l like Android) Kindle/3.0+";
    for (query, agent, picture) in [
        ("", "", "?width=800&amp;height=480\""),
        ("", kindle, "?width=600&amp;height=800\""),
        (
            "?width=758&height=1024&rotate=90&depth=8&screen=3",
            kindle,
            "?width=758&amp;height=1024&amp;rotate=90&amp;depth=8&amp;screen=3\"",
        ),
    ] {
        let headers: Vec<&str> = [agent]
            .into_iter()
            .filter(|line| !line.is_empty())
            .collect();
        let path = format!("/glass{query}");
        let page = clock.send("GET", &path, &headers, "").await;
        let reload: u64 = page.header("refresh").unwrap().parse().unwrap();
        assert!((60..=3600).contains(&reload), "{path}: {reload}");
        let text = page.text();
        assert!(
            text.contains(&format!("<img src=\"api/frame.png{picture}")),
            "{path}: {text}"
        );
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.ends_with("frame-ancestors 'self'"), "{policy}");
    }
    // A person gets an error as a page, a program as JSON.
    for (query, status) in [("screen=999", 400), ("screen=70", 409), ("width=1", 400)] {
        let path = format!("/glass?{query}");
        let page = clock.send("GET", &path, &["Accept: text/html"], "").await;
        assert_eq!(page.status, status, "{path}");
        assert!(page.text().contains("<a href=\"./\">"), "{path}");
        let answer = clock.get(&path).await;
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.json()["error"].is_string(), "{path}");
    }
    // The live page polls by itself.
    let live = clock.get("/glass?live").await;
    assert_eq!(
        (live.header("refresh"), live.text().contains("<img")),
        (None, false)
    );
}

#[tokio::test]
async fn pictures_have_an_etag() {
    let clock = Clock::real().await;
    let display = clock.json("POST", "/api/displays", "{}").await.json();
    let display = format!("/api/displays/{}.png", display["id"].as_str().unwrap());
    for path in [
        "/api/panels.png",
        "/api/panels.png?scale=2",
        "/api/panels/6.png",
        &display,
    ] {
        let first = clock.get(path).await;
        assert_eq!(
            (first.status, first.header("content-type")),
            (200, Some("image/png")),
            "{path}"
        );
        assert_eq!(&first.body[..4], b"\x89PNG", "{path}");
        let known = format!("If-None-Match: {}", first.header("etag").unwrap());
        let second = clock.send("GET", path, &[&known], "").await;
        assert_eq!((second.status, second.body.len()), (304, 0), "{path}");
        for answer in [first, second] {
            assert_eq!(answer.header("cache-control"), Some("no-cache"), "{path}");
        }
    }
    for path in ["/api/panels/7.png", "/api/panels/x.png", "/api/panels/.png"] {
        assert_eq!(clock.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn the_page_is_compressed_and_has_an_etag() {
    let clock = Clock::start().await;
    let plain = clock.get("/").await;
    assert_eq!(
        plain.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    assert_eq!(
        (
            plain.header("content-encoding"),
            plain.header("cache-control")
        ),
        (None, Some("no-cache"))
    );
    let packed = clock.send("GET", "/", &["Accept-Encoding: gzip"], "").await;
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert_eq!(packed.header("vary"), Some("Accept-Encoding"));
    assert_ne!(packed.header("etag"), plain.header("etag"));
    let known = format!("If-None-Match: {}", packed.header("etag").unwrap());
    assert_eq!(
        clock
            .send("GET", "/", &["Accept-Encoding: gzip", &known], "")
            .await
            .status,
        304
    );
    let refused = clock
        .send("GET", "/", &["Accept-Encoding: gzip;q=0"], "")
        .await;
    assert_eq!(refused.header("content-encoding"), None);

    let script = clock.get("/docs.js").await;
    assert_eq!(script.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(clock.get("/nothing.js").await.status, 404);
    assert_eq!(clock.get("/%2e%2e/secret").await.status, 400);
}

#[tokio::test]
async fn head_is_answered_like_get_without_a_body() {
    let clock = Clock::start().await;
    for path in ["/", "/api/status", "/api/settings", "/api/panels/0.png"] {
        let (head, get) = (
            clock.send("HEAD", path, &[], "").await,
            clock.get(path).await,
        );
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        assert_eq!(
            head.header("content-length"),
            get.header("content-length"),
            "{path}"
        );
    }
    assert_eq!(
        clock.send("HEAD", "/api/restart", &[], "").await.status,
        405
    );
}

#[tokio::test]
async fn a_wrong_method_is_answered_with_the_allowed_ones() {
    let clock = Clock::start().await;
    let rows = [
        ("DELETE", "/api/settings", "GET, PATCH, POST, HEAD"),
        ("GET", "/api/screen/next", "POST"),
        ("PUT", "/api/restart", "POST, GET"),
        ("POST", "/api/status", "GET, HEAD"),
    ];
    for (method, path, allow) in rows {
        let answer = clock.send(method, path, &[], "").await;
        assert_eq!(
            (answer.status, answer.header("allow")),
            (405, Some(allow)),
            "{method} {path}"
        );
    }
}

struct Metrics(String);

impl Metrics {
    async fn of(clock: &Clock) -> Metrics {
        Metrics(clock.get("/metrics").await.text().to_string())
    }

    /// The value of a metric, with its labels. `None` if it is missing.
    fn value(&self, name: &str) -> Option<&str> {
        let samples = self.0.lines().filter_map(|line| line.rsplit_once(' '));
        let mut found = samples.filter(|(series, _)| *series == name);
        Some(found.next()?.1)
    }

    fn assert_has(&self, line: &str) {
        let is_there = self.0.lines().any(|found| found == line);
        assert!(is_there, "{line}: {}", self.0);
    }
}

const OPEN_METRICS: &str = "Accept: application/openmetrics-text; version=1.0.0,text/plain;q=0.5";

#[tokio::test]
async fn metrics_have_the_accepted_format() {
    let clock = Clock::start().await;
    let classic = clock.get("/metrics").await;
    let kind = classic.header("content-type").unwrap();
    assert_eq!(kind, "text/plain; version=0.0.4; charset=utf-8");
    for line in [
        "# TYPE papertick_crashes_total counter",
        "papertick_crashes_total 2",
        "# TYPE papertick_build_info gauge",
        "# TYPE process_cpu_seconds_total counter",
        "papertick_current_screen{id=\"20\",name=\"Ticker\"} 1",
    ] {
        let is_there = classic.text().lines().any(|found| found == line);
        assert!(is_there, "{line}: {}", classic.text());
    }
    assert!(!classic.text().contains("# UNIT") && !classic.text().contains("# EOF"));
    let open = clock.send("GET", "/metrics", &[OPEN_METRICS], "").await;
    let kind = open.header("content-type").unwrap();
    assert_eq!(
        kind,
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    for line in [
        "# TYPE papertick_crashes counter",
        "papertick_crashes_total 2",
        "# TYPE papertick_build info",
        "papertick_refreshes_total 1",
        "# UNIT process_resident_memory_bytes bytes",
    ] {
        let is_there = open.text().lines().any(|found| found == line);
        assert!(is_there, "{line}: {}", open.text());
    }
    assert!(open.text().ends_with("# EOF\n"));
    let build = "papertick_build_info{version=\"4.0.0\",board=\"rev-b\",revision=\"";
    assert!(open.text().contains(build), "{}", open.text());
    let samples = |text: &str| -> Vec<String> {
        let samples = text.lines().filter(|line| !line.starts_with('#'));
        let names = samples.map(|line| line.rsplit_once(' ').unwrap().0.to_string());
        names.collect()
    };
    assert_eq!(samples(classic.text()), samples(open.text()));
}

/// A source, up or down, that dropped seven messages.
fn source(up: bool) -> SourceState {
    SourceState {
        up,
        dropped: [("not-text", 7)].into(),
        ..SourceState::default()
    }
}

#[tokio::test]
async fn the_metrics_have_the_state_of_the_clock() {
    let clock = Clock::start().await;
    type Change = fn(&mut View);
    let rows: &[(Change, &str)] = &[
        (
            |_| {},
            "timer_running 1|dnd_active 0|safe_mode 0|stale 0|disputed 0",
        ),
        (
            |view| Arc::make_mut(&mut view.settings.active).timer_active = false,
            "timer_running 0",
        ),
        (|view| view.dnd_active = true, "dnd_active 1"),
        (
            |view| view.safe_mode = Some("it ended".into()),
            "safe_mode 1",
        ),
        (|view| view.stale = true, "stale 1"),
        (|view| view.disputed = true, "disputed 1"),
        (
            |view| view.mqtt = Some(source(true)),
            "mqtt_connected 1|mqtt_dropped_total{reason=\"not-text\"} 7",
        ),
        (|view| view.mqtt = Some(source(false)), "mqtt_connected 0"),
        (
            |view| {
                view.sources = [
                    (SourceId::Relay, source(false)),
                    (SourceId::Node, source(true)),
                ]
                .into()
            },
            "source_up{source=\"relay\"} 0|source_up{source=\"node\"} 1|\
             source_dropped_total{source=\"relay\",reason=\"not-text\"} 7",
        ),
        (
            |view| {
                Arc::make_mut(&mut view.market).height = Some(Datum {
                    value: 900_000,
                    source: SourceId::Relay,
                    seen: Seen::Before(Some(UtcTime {
                        unix_ms: 1_767_225_600_000,
                    })),
                });
            },
            "block_height 900000|height_timestamp_seconds 1767225600",
        ),
    ];
    let broker = "papertick_mqtt_connected";
    assert_eq!(Metrics::of(&clock).await.value(broker), None);
    for (change, lines) in rows {
        clock.change(change);
        let metrics = Metrics::of(&clock).await;
        for line in lines.split('|') {
            metrics.assert_has(&format!("papertick_{line}"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_metrics_have_the_last_success_of_a_source() {
    let clock = Clock::start().await;
    sleep(Duration::from_secs(100)).await;
    clock.change(|view| {
        let source = SourceState {
            last_success: Some(Duration::from_secs(40)),
            ..SourceState::default()
        };
        view.sources = [(SourceId::Relay, source)].into();
    });
    let metrics = Metrics::of(&clock).await;
    let value = |name: &str| -> f64 { metrics.value(name).unwrap().parse().unwrap() };
    let age = value("papertick_source_age_seconds{source=\"relay\"}");
    assert!((60.0..65.0).contains(&age), "{age}");
    let uptime = value("papertick_uptime_seconds");
    assert!((uptime - age - 40.0).abs() < 0.01, "{uptime} and {age}");
    let since = "papertick_source_last_success_timestamp_seconds{source=\"relay\"}";
    assert_eq!(metrics.value(since), None, "the time is unknown");
    clock.time.set(1_767_225_660_000);
    let metrics = Metrics::of(&clock).await;
    let value = |name: &str| -> f64 { metrics.value(name).unwrap().parse().unwrap() };
    let ago = 1_767_225_660.0 - value(since);
    assert!((55.0..65.0).contains(&ago), "{ago}");
}

#[tokio::test]
async fn the_metrics_have_states_and_deviations_of_values() {
    let clock = Clock::start().await;
    let tip = |height| Tip {
        height,
        hash: genesis(Network::Main).block_hash(),
        time: 0,
    };
    let seen = Seen::Before(None);
    let claimed = |source, height| Claimed {
        source,
        height,
        seen,
    };
    clock.change(|view| {
        let price = Datum {
            value: Price::parse("60000").unwrap(),
            source: SourceId::Relay,
            seen,
        };
        let priced = [
            (Currency::USD, price.clone()),
            (Currency::parse("EUR").unwrap(), price),
        ];
        Arc::make_mut(&mut view.market).prices = Arc::new(priced.into());
        let truth = &mut view.truth;
        truth.height = HeightState::Alone;
        truth.time.state = TimeState::Refused;
        truth.fee = PriceState::Single;
        let agreed = PriceTruth {
            state: PriceState::Agreed,
            doubted: None,
            spread_permille: Some(7),
            quotes: Vec::new(),
        };
        truth.prices = Arc::new([(Currency::USD, agreed)].into());
        truth.proven = Some(tip(900_000));
        truth.proofs = vec![
            (SourceId::Node, tip(900_000)),
            (SourceId::Peers, tip(900_000)),
            (SourceId::Peers, tip(899_999)),
        ];
        truth.claims = vec![
            claimed(SourceId::Relay, 900_003),
            claimed(SourceId::Explorer, 899_998),
        ];
        truth.reorganisations = Reorganisations {
            count: 2,
            last_depth: 5,
        };
    });
    let metrics = Metrics::of(&clock).await;
    for line in [
        "truth{value=\"height\",state=\"alone\"} 1",
        "truth{value=\"height\",state=\"proven\"} 0",
        "truth{value=\"fee\",state=\"single\"} 1",
        "truth{value=\"fee\",state=\"agreed\"} 0",
        "truth{value=\"USD\",state=\"agreed\"} 1",
        "truth{value=\"USD\",state=\"stale\"} 0",
        // No source has quoted this currency in this run.
        "truth{value=\"EUR\",state=\"stale\"} 1",
        "truth{value=\"EUR\",state=\"agreed\"} 0",
        "truth{value=\"time\",state=\"refused\"} 1",
        "truth{value=\"time\",state=\"bounded\"} 0",
        "price{currency=\"USD\"} 60000",
        "price{currency=\"EUR\"} 60000",
        "price_spread_ratio{currency=\"USD\"} 0.007",
        "proven_height 900000",
        "proof_peers 2",
        "reorganisations_total 2",
        "claim_lead_blocks{source=\"relay\"} 3",
        "claim_lead_blocks{source=\"explorer\"} -2",
    ] {
        let line = format!("papertick_{line}");
        metrics.assert_has(&line);
    }
}

#[tokio::test(start_paused = true)]
async fn each_panel_has_its_text_and_fault() {
    let clock = Clock::start().await;
    clock.glass.send_modify(|glass| {
        let glass = Arc::make_mut(glass);
        glass.generation += 1;
        glass.panels[0].partials = 12;
        for (refresh, millis) in [(Refresh::Full, 2100), (Refresh::Partial, 601)] {
            glass.panels[0]
                .refreshes
                .add(refresh, Some(Duration::from_millis(millis)));
        }
        glass.panels[6] = PanelState {
            fault: Some(PanelFault::NotRefreshed),
            failures: 3,
            retry_at: Some(Instant::now() + Duration::from_secs(20)),
            ..PanelState::unknown(Arc::clone(&glass.panels[6].bitmap))
        };
    });
    let panels = clock.get("/api/status").await.json()["panels"].clone();
    let sound = json!({
        "ageSec": 0, "refresh": "full", "partials": 12, "partialsMax": 0, "fault": null, "failures": 0,
        "refreshes": {
            "full": 1, "partial": 1, "failed": 0, "fullAgeSec": 0, "fullMs": 2100, "partialMs": 601
        }
    });
    assert_eq!(panels[0], sound);
    let broken = json!({
        "partials": 0, "partialsMax": 0, "fault": "not-refreshed", "failures": 3, "nextTrySec": 20,
        "refreshes": { "full": 0, "partial": 0, "failed": 0 }
    });
    assert_eq!(panels[6], broken);
    sleep(Duration::from_secs(30)).await;
    let metrics = Metrics::of(&clock).await;
    let age = metrics.value("papertick_panel_age_seconds{panel=\"0\"}");
    let age: f64 = age.unwrap().parse().unwrap();
    assert!((30.0..35.0).contains(&age), "{age}");
    for line in [
        "papertick_panel_up{panel=\"0\"} 1",
        "papertick_panel_up{panel=\"6\"} 0",
        "papertick_panel_fault{panel=\"6\",fault=\"not-refreshed\"} 1",
        "papertick_panel_failures{panel=\"6\"} 3",
        "papertick_panel_partials{panel=\"0\"} 12",
        "papertick_panel_refreshes_total{panel=\"0\",kind=\"partial\"} 1",
    ] {
        metrics.assert_has(line);
    }
    let ages = metrics
        .0
        .lines()
        .filter(|line| line.starts_with("papertick_panel_age_seconds{"));
    assert_eq!(ages.count(), 6, "a panel that was never painted has no age");
}

#[tokio::test]
async fn connections_and_failures_are_counted() {
    let dialer = Dialer::new(Roots::public());
    let clock = Clock::with(Setup {
        dialer: dialer.clone(),
        ..Setup::default()
    })
    .await;
    // A reserved port without a listener.
    let silent = TcpSocket::new_v4().unwrap();
    silent.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let closed = silent.local_addr().unwrap().port();
    for port in [clock.address.port(), clock.address.port(), closed] {
        let place = Destination {
            host: "127.0.0.1",
            port,
            security: TransportSecurity::Plain,
        };
        // Only the connection is counted.
        let _ = dialer.connect(&Route::default(), place).await;
    }
    let metrics = Metrics::of(&clock).await;
    for line in [
        "papertick_outbound_connections_total{route=\"direct\"} 2",
        "papertick_outbound_connections_total{route=\"proxy\"} 0",
        "papertick_outbound_connection_failures_total 1",
    ] {
        metrics.assert_has(line);
    }
}

#[tokio::test]
async fn dropped_strip_effects_are_counted() {
    let clock = Clock::real().await;
    let drops = async || clock.get("/api/system/status").await.json()["queueDrops"]["led"].clone();
    assert_eq!(drops().await, 0);
    // The time advances a second with each request, and the effect is longer.
    for _ in 0..40 {
        let body = r#"{"name":"breathe_error"}"#;
        let answer = clock.json("POST", "/api/lights/effect", body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    assert!(drops().await.as_u64().unwrap() > 0);
}

#[tokio::test]
async fn the_openapi_document_is_served() {
    let clock = Clock::start().await;
    let served = clock.get("/openapi.json").await.json();
    let mut expected = openapi::document();
    let board = clock.view.borrow().board;
    let schemas = &mut expected["components"]["schemas"];
    lights::set_lengths(schemas, board.leds, board.panels);
    assert_eq!(served, expected);
}

/// The format of Bitcoin nodes.
#[tokio::test]
async fn the_status_has_the_work_of_the_chain_in_64_digits() {
    let clock = Clock::start().await;
    let chain_work =
        async || clock.get("/api/status").await.json()["truth"]["height"]["chainWork"].clone();
    assert_eq!(chain_work().await, Value::Null);
    let mut work = [0; 32];
    work[19..22].copy_from_slice(&[0x0d, 0x5e, 0x0f]);
    clock.change(|view| view.truth.work = Some(Work::from_be_bytes(work)));
    let digits = format!("{}0d5e0f{}", "0".repeat(38), "0".repeat(20));
    assert_eq!(chain_work().await, digits);
}

/// Each view of the page has a URL.
#[tokio::test]
async fn every_view_of_the_page_has_an_address() {
    let clock = Clock::start().await;
    let page = clock.get("/").await;
    for (path, root) in [
        ("/settings", "./"),
        ("/settings/", "../"),
        ("/settings/quiet", "../"),
        ("/settings?search=relay", "./"),
        ("/care", "./"),
        ("/care/reset", "../"),
    ] {
        let answer = clock.get(path).await;
        let base = |root| format!("<base href=\"{root}\"");
        let expected = page.text().replace(&base("./"), &base(root));
        assert_eq!((answer.status, answer.text()), (200, &*expected), "{path}");
    }
    for (path, root) in [
        ("/setting", "./"),
        ("/assets/settings", "../"),
        ("/api/settings/quiet", "../../"),
    ] {
        let answer = clock.get(path).await;
        assert_eq!(
            (answer.status, answer.json()),
            (404, json!({ "error": "not found" }))
        );
        let accept = ["Accept: text/html,application/xhtml+xml,*/*;q=0.8"];
        let page = clock.send("GET", path, &accept, "").await;
        assert_eq!(
            (page.status, page.header("content-type")),
            (404, Some("text/html; charset=utf-8"))
        );
        let link = format!("<a href=\"{root}\">");
        assert!(page.text().contains(&link), "{path}");
    }
}

/// Files are compressed at their first request, and clients cache files with a hash in their name.
#[tokio::test]
async fn the_files_of_the_page_are_compressed_and_cacheable() {
    let clock = Clock::start().await;
    let page = clock.get("/").await;
    let script = page
        .text()
        .split('"')
        .find(|part| part.ends_with(".js") && part.contains("assets"));
    let script = script.unwrap().replacen("./", "/", 1);
    let plain = clock.get(&script).await;
    assert_eq!(
        plain.header("cache-control"),
        Some("public, max-age=31536000, immutable")
    );
    assert_eq!(page.header("cache-control"), Some("no-cache"));
    let mut tags = std::collections::BTreeSet::new();
    let rows = [
        ("gzip, deflate, br", Some("gzip")),
        ("gzip;q=0, br", None),
        ("identity", None),
    ];
    for (accepted, coding) in rows {
        let header = format!("Accept-Encoding: {accepted}");
        let answer = clock.send("GET", &script, &[&header], "").await;
        assert_eq!(answer.header("content-encoding"), coding, "{accepted}");
        assert_eq!(answer.header("vary"), Some("Accept-Encoding"), "{accepted}");
        assert!(
            coding.is_none() || answer.body.len() * 2 < plain.body.len(),
            "{accepted}"
        );
        let tag = answer.header("etag").unwrap().to_string();
        let known = format!("If-None-Match: {tag}");
        let again = clock.send("GET", &script, &[&header, &known], "").await;
        assert_eq!(again.status, 304, "{accepted}");
        tags.insert(tag);
    }
    assert_eq!(tags.len(), 2);
}

/// A long document is compressed if the client accepts it, with the same ETag.
#[tokio::test]
async fn long_documents_are_compressed_on_request() {
    let mut clock = Clock::start().await;
    let plain = clock.get("/api/settings").await;
    assert_eq!(plain.header("content-encoding"), None);
    let packed = clock
        .send("GET", "/api/settings", &["Accept-Encoding: gzip"], "")
        .await;
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let mut unpacked = String::new();
    std::io::Read::read_to_string(
        &mut flate2::read::GzDecoder::new(&*packed.body),
        &mut unpacked,
    )
    .unwrap();
    assert_eq!(unpacked, plain.text());
    let tag = packed.header("etag").unwrap();
    assert_eq!(tag, format!("W/{}", plain.header("etag").unwrap()));
    let insists = format!("If-Match: {tag}");
    let body = r#"{"ledBrightness":5}"#;
    let length = format!("Content-Length: {}", body.len());
    let changed = clock
        .send("PATCH", "/api/settings", &[&insists, &length], body)
        .await;
    assert_eq!(changed.status, 200);
    clock.next_request().await;
    let short = clock
        .send("GET", "/healthz", &["Accept-Encoding: gzip"], "")
        .await;
    assert_eq!(short.header("content-encoding"), None);
}

/// A preview of a PATCH equals the later panels.
#[tokio::test]
async fn a_preview_of_settings_changes_nothing() {
    let clock = Clock::real().await;
    let text = clock.json("POST", "/api/show/text", r#"{"t":"8"}"#).await;
    assert_eq!(text.status, 200);
    let before = clock.get("/api/settings").await;
    let drawn = async |change: &str| {
        let answer = clock.json("POST", "/api/preview.png", change).await;
        assert_eq!(
            answer.status,
            200,
            "{change}: {}",
            String::from_utf8_lossy(&answer.body)
        );
        assert_eq!(answer.header("content-type"), Some("image/png"));
        answer.body
    };
    let now = drawn("{}").await;
    assert_eq!(drawn(r#"{"ledBrightness":5}"#).await, now);
    for change in [
        r#"{"invertedColor":true}"#,
        r#"{"fontName":"inter"}"#,
        r#"{"fontName":"oswald","invertedColor":true}"#,
    ] {
        assert_ne!(drawn(change).await, now, "{change}");
    }
    assert_eq!(clock.get("/api/settings").await.text(), before.text());
    for (body, error) in [
        (r#"{"digitFontPx":1}"#, "range:digitFontPx"),
        ("[]", "bad_root"),
    ] {
        let answer = clock.json("POST", "/api/preview.png", body).await;
        assert_eq!(answer.status, 400, "{body}");
        assert!(
            answer.text().contains(error) || error == "bad_root",
            "{}",
            answer.text()
        );
    }
    let large = clock.json("POST", "/api/preview.png?scale=99", "{}").await;
    assert_eq!(large.status, 400);
    // After the PATCH the panels show the same picture.
    let inverted = drawn(r#"{"invertedColor":true}"#).await;
    clock
        .json("PATCH", "/api/settings", r#"{"invertedColor":true}"#)
        .await;
    assert_eq!(drawn("{}").await, inverted);
}

#[tokio::test]
async fn a_preview_of_one_panel_has_its_size_and_layout() {
    let setup = Setup {
        board: "waveshare-7.5-v2",
        device: Kind::Real,
        ..Setup::default()
    };
    let clock = Clock::with(setup).await;
    // A screen, because the start screen covers every layout.
    let path = "/api/preview.png?s=3";
    let drawn = async |change: &str| clock.json("POST", path, change).await.body;
    let now = drawn("{}").await;
    let side = |at: usize| u32::from_be_bytes(now[at..at + 4].try_into().unwrap());
    // With the frame around a panel.
    assert_eq!((side(16), side(20)), (816, 496));
    for layout in [1, 2] {
        let other = drawn(&format!(r#"{{"panelLayout":{layout}}}"#)).await;
        assert_ne!(other, now, "{layout}");
    }
}

/// Texts and other screens are drawn like on the panels, but not shown.
#[tokio::test]
async fn a_preview_of_a_text_changes_nothing() {
    let clock = Clock::real().await;
    let before = clock.get("/api/status").await.json()["data"].clone();
    let drawn = async |path: &str, body: &str| {
        let answer = clock.json("POST", path, body).await;
        assert_eq!(answer.status, 200, "{path} {body}");
        assert_eq!(answer.header("content-type"), Some("image/png"));
        answer.body
    };
    let text = drawn("/api/show/preview.png", r#"["GM","mdi:bell"]"#).await;
    let other = drawn("/api/show/preview.png", r#"["GM","BELL"]"#).await;
    assert_ne!(text, other);
    let clock_screen = drawn("/api/preview.png?s=3", "{}").await;
    assert_ne!(clock_screen, drawn("/api/preview.png?s=6", "{}").await);
    for (path, body, status) in [
        ("/api/show/preview.png", "{}", 400),
        ("/api/show/preview.png", "[1]", 400),
        ("/api/show/preview.png?scale=9", "[]", 400),
        ("/api/preview.png?s=x", "{}", 400),
        ("/api/preview.png?s=99", "{}", 400),
        ("/api/preview.png?s=70", "{}", 409),
    ] {
        let answer = clock.json("POST", path, body).await;
        assert_eq!(answer.status, status, "{path} {body}: {}", answer.text());
    }
    assert_eq!(clock.get("/api/status").await.json()["data"], before);
    clock
        .json("POST", "/api/show/custom", r#"["GM","mdi:bell"]"#)
        .await;
    assert_eq!(drawn("/api/preview.png", "{}").await, text);
}
