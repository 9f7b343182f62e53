//! Remote displays: recorded requests of real clients, approval, limits, and what a token cannot do.

use device::{
    displays::{DISPLAYS_MAX, LOG_LINES_MAX, WAITING_MAX, WAITING_OF_NETWORK_MAX},
    settings::store,
};
use futures_util::future::join_all;
use serde_json::{Value, json};
use web::proxy::PublicAccess;

use crate::{
    guards::guarded_setup,
    support::{Answer, Clock, Kind, Setup},
};

/// Headers of a TRMNL with firmware 1.8.14.
const OG: &[&str] = &[
    "ID: AB:CD:EF:12:34:56",
    "Content-Type: application/json",
    "Update-Source: timer",
    "Refresh-Rate: 1800",
    "Battery-Voltage: 4.00",
    "Battery-Charging: 0",
    "FW-Version: 1.8.14",
    "FW-Commit: 74f7b18",
    "Model: og",
    "Image-Cached: false",
    "Wake-Time: 5591",
    "RSSI: -69",
    "WiFi-Band: 2.4",
    "Temperature-Profile: true",
    "Width: 800",
    "Height: 480",
];

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A recorded request for a picture, and what the client needs.
struct Recorded {
    client: &'static str,
    headers: &'static [&'static str],
    /// Width, height and depth of its picture.
    glass: (u32, u32, u8),
    /// Model, firmware, volts, percent, charging and signal as the owner sees them.
    report: Value,
}

fn recorded() -> Vec<Recorded> {
    let row = |client, headers, glass, report| Recorded {
        client,
        headers,
        glass,
        report,
    };
    Vec::from([
        row(
            "TRMNL, firmware 1.5",
            &[
                "ID: AA:BB:CC:00:00:15",
                "Refresh-Rate: 900",
                "Battery-Voltage: 3.50",
                "FW-Version: 1.5.12",
                "RSSI: -50",
            ],
            (800, 480, 1),
            json!([null, "1.5.12", 3.5, 5, null, -50]),
        ),
        row(
            "TRMNL, firmware 1.6.8",
            &[
                "ID: aa:bb:cc:00:01:68",
                "Content-Type: application/json",
                "Refresh-Rate: 1800",
                "Battery-Voltage: 4.20",
                "FW-Version: 1.6.8",
                "Model: og",
                "RSSI: -69",
                "Width: 800",
                "Height: 480",
            ],
            (800, 480, 1),
            json!(["og", "1.6.8", 4.2, 100, null, -69]),
        ),
        row(
            "TRMNL, firmware 1.8.14",
            OG,
            (800, 480, 1),
            json!(["og", "1.8.14", 4.0, 84, false, -69]),
        ),
        row(
            "TRMNL X",
            &[
                "ID: AA:BB:CC:00:00:10",
                "Battery-Voltage: 4.10",
                "USB-Connected: true",
                "Percent-Charged: 87",
                "FW-Version: 1.8.14",
                "Model: x",
                "RSSI: -40",
                "Width: 1872",
                "Height: 1404",
            ],
            (1872, 1404, 4),
            json!(["x", "1.8.14", 4.1, 87, true, -40]),
        ),
        row(
            "a kit with a model that is not known",
            &[
                "ID: AA:BB:CC:00:00:20",
                "Battery-Voltage: 4.10",
                "FW-Version: 1.8.14",
                "Model: reTerminal Sticky",
                "RSSI: -40",
                "Width: 960",
                "Height: 640",
            ],
            (960, 640, 1),
            json!(["reTerminal Sticky", "1.8.14", 4.1, 94, null, -40]),
        ),
        row(
            "Go on Linux",
            &[
                "battery-voltage: 100.00",
                "rssi: 0",
                "Content-Type: application/json",
                "User-Agent: trmnl-display/0.1.0",
            ],
            (800, 480, 1),
            json!([null, null, null, null, null, null]),
        ),
        row(
            "Kindle",
            &[
                "battery-voltage: 87",
                "png-width: 600",
                "png-height: 800",
                "rssi: 0",
                "ID: AA:BB:CC:00:00:30",
                "User-Agent: trmnl-display/0.1.1",
            ],
            (600, 800, 8),
            json!([null, null, null, 87, null, null]),
        ),
        row(
            "KOReader",
            &[
                "percent-charged: 64",
                "png-width: 1236",
                "png-height: 1648",
                "rssi: -61",
                "User-Agent: KOReader",
            ],
            (1236, 1648, 8),
            json!([null, null, null, 64, null, -61]),
        ),
        row(
            "Kobo",
            &[
                "ID: AA:BB:CC:00:00:40",
                "Battery-Voltage: 3.80",
                "RSSI: -70",
                "FW-Version: 1.0",
            ],
            (800, 480, 1),
            json!([null, "1.0", 3.8, 58, null, -70]),
        ),
        row(
            "Android",
            &["ID: android-1", "RSSI: -55", "Percent-Charged: 99.6"],
            (800, 480, 1),
            json!([null, null, null, 100, null, -55]),
        ),
    ])
}

/// Requests a picture with a token.
async fn display(clock: &Clock, token: &str, headers: &[&str]) -> Answer {
    get_as(clock, "/api/display", token, headers).await
}

async fn get_as(clock: &Clock, path: &str, token: &str, headers: &[&str]) -> Answer {
    let token = format!("Access-Token: {token}");
    let headers = [headers, &[token.as_str()]].concat();
    clock.send("GET", path, &headers, "").await
}

/// Fetches a picture without headers, as Go and Kindle do.
async fn picture(clock: &Clock, document: &Value) -> Answer {
    let url = document["image_url"].as_str().unwrap();
    assert!(url.len() <= 1023, "{url}");
    let path = url.strip_prefix(&format!("http://{}", clock.address));
    let answer = clock.get(path.expect("an absolute address")).await;
    assert_eq!(answer.status, 200, "{url}");
    assert_eq!(answer.header("content-type"), Some("image/png"));
    let length = answer.body.len().to_string();
    assert_eq!(answer.header("content-length"), Some(length.as_str()));
    answer
}

/// Width, height and depth of a grey PNG that is not interlaced.
fn glass(png: &[u8]) -> (u32, u32, u8) {
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert_eq!((png[25], png[28]), (0, 0), "grey, not interlaced");
    (number(16), number(20), png[24])
}

async fn list(clock: &Clock) -> Vec<Value> {
    let list = clock.get("/api/displays").await.json();
    assert_eq!(list["max"], DISPLAYS_MAX);
    list["displays"].as_array().unwrap().clone()
}

async fn approve(clock: &Clock, id: &Value) -> Value {
    let path = format!("/api/displays/{}", id.as_str().unwrap());
    let answer = clock.json("PATCH", &path, r#"{"state":"approved"}"#).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

/// Adds a display and returns its token.
async fn add(clock: &Clock, body: &str) -> String {
    let answer = clock.json("POST", "/api/displays", body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["token"].as_str().unwrap().to_string()
}

#[tokio::test]
async fn each_client_gets_its_format() {
    for recorded in recorded() {
        let Recorded {
            client,
            headers,
            glass: expected,
            report,
        } = recorded;
        let clock = Clock::real().await;
        let waiting = display(&clock, TOKEN, headers).await;
        assert_eq!(waiting.status, 200, "{client}");
        let document = waiting.json();
        assert_eq!(document["status"], 0, "{client}: 202 shows no picture");
        assert_eq!(document["refresh_rate"], 60, "{client}");
        assert_eq!(glass(&picture(&clock, &document).await.body), expected);

        let [listed] = list(&clock).await.try_into().unwrap();
        assert_eq!(listed["state"], "waiting", "{client}");
        assert_eq!(listed["intervalMin"], 10, "{client}");
        let battery = &listed["battery"];
        let seen = json!([
            listed["model"],
            listed["firmware"],
            battery["volts"],
            battery["percent"],
            battery["charging"],
            listed["rssi"],
        ]);
        assert_eq!(seen, report, "{client}");
        assert_eq!(approve(&clock, &listed["id"]).await["state"], "approved");

        for path in ["/api/display", "/api/display/"] {
            let shown = get_as(&clock, path, TOKEN, headers).await;
            assert_eq!(shown.status, 200, "{client}");
            // Shell scripts find the address with a pattern.
            let text = shown.text();
            let is_found = text.contains(r#""image_url":"http://"#)
                && text.contains(&format!(
                    r#""refresh_rate":{}"#,
                    shown.json()["refresh_rate"]
                ));
            assert!(is_found && !text.contains('\n'), "{client}: {text}");
            let document = shown.json();
            assert_eq!(document["status"], 0, "{client}");
            assert!(document["refresh_rate"].as_u64().unwrap() >= 30, "{client}");
            let name = document["filename"].as_str().unwrap();
            let hex = name.strip_prefix("pt-").unwrap();
            assert!(hex.len() == 12 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
            let others = json!([
                document["image_url_timeout"],
                document["update_firmware"],
                document["firmware_url"],
                document["firmware_version"],
                document["reset_firmware"],
                document["special_function"],
                document["action"],
                document["maximum_compatibility"],
                document["temperature_profile"],
            ]);
            let expected_others =
                json!([15, false, null, null, false, "none", null, false, "default"]);
            assert_eq!(others, expected_others, "{client}");
            let image = picture(&clock, &document).await.body;
            assert_eq!(glass(&image), expected, "{client}");
            let is_small = image.len() < 90_000 || expected.2 > 1;
            assert!(is_small, "{client}: {} bytes", image.len());
        }
    }
}

#[tokio::test]
async fn a_trmnl_is_set_up_approved_and_removed() {
    let clock = Clock::real().await;
    for path in ["/api/setup", "/api/setup/"] {
        assert_eq!(clock.get(path).await.status, 400, "without an address");
        let headers = ["ID: ab:cd:ef:12:34:56", "FW-Version: 1.8.14", "Model: og"];
        // Neither a HEAD request nor a page of another site creates a display.
        assert_eq!(clock.send("HEAD", path, &headers, "").await.status, 405);
        let foreign = [&headers[..], &["Sec-Fetch-Site: cross-site"]].concat();
        assert_eq!(clock.send("GET", path, &foreign, "").await.status, 403);
        let answer = clock.send("GET", path, &headers, "").await;
        assert_eq!(answer.status, 200);
        let document = answer.json();
        assert_eq!(document["status"], 200);
        let message = document["message"].as_str().unwrap();
        let id = document["friendly_id"].as_str().unwrap();
        assert!(message.contains(id) && message.len() <= 127, "{message}");
        assert_eq!(glass(&picture(&clock, &document).await.body), (800, 480, 1));
    }
    // Each set-up creates a token. The second one is used.
    let [waiting] = list(&clock).await.try_into().unwrap();
    assert_eq!(waiting["mac"], "AB:CD:EF:12:34:56");
    approve(&clock, &waiting["id"]).await;
    assert_eq!(list(&clock).await.len(), 1);

    // A display that was reset waits with its old settings while its old token works, and then replaces it.
    let clock = Clock::real().await;
    let token = |document: Value| document["api_key"].as_str().unwrap().to_string();
    let setup = || clock.send("GET", "/api/setup", OG, "");
    let old = token(setup().await.json());
    let [waiting] = list(&clock).await.try_into().unwrap();
    let path = format!("/api/displays/{}", waiting["id"].as_str().unwrap());
    let named = r#"{"state":"approved","name":"Kitchen","intervalMin":30}"#;
    clock.json("PATCH", &path, named).await;
    let new = token(setup().await.json());
    display(&clock, &old, OG).await;
    display(&clock, &new, OG).await;
    let [replaced, waiting] = list(&clock).await.try_into().unwrap();
    assert_eq!(replaced["state"], "approved");
    assert_eq!(waiting["replaces"], replaced["id"]);
    approve(&clock, &waiting["id"]).await;
    display(&clock, &new, OG).await;
    let [approved] = list(&clock).await.try_into().unwrap();
    assert_eq!(
        (&approved["name"], &approved["intervalMin"]),
        (&json!("Kitchen"), &json!(30))
    );

    // A removed display waits again, and gets no picture under its old address.
    let shown = display(&clock, &new, OG).await.json();
    let path = format!("/api/displays/{}", approved["id"].as_str().unwrap());
    assert_eq!(clock.send("DELETE", &path, &[], "").await.status, 200);
    assert_eq!(clock.send("DELETE", &path, &[], "").await.status, 404);
    let url = shown["image_url"].as_str().unwrap();
    let path = url.strip_prefix(&format!("http://{}", clock.address));
    assert_eq!(clock.get(path.unwrap()).await.status, 404);
    display(&clock, &new, OG).await;
    let [waiting] = list(&clock).await.try_into().unwrap();
    assert_eq!(waiting["state"], "waiting");
}

#[tokio::test]
async fn an_added_display_has_the_size_that_its_client_reports() {
    let clock = Clock::real().await;
    let kindle = ["png-width: 1072", "png-height: 1448", "battery-voltage: 87"];
    let scribe = ["png-width: 1860", "png-height: 2480"];
    let token = add(&clock, "{}").await;
    for (headers, expected) in [
        (&kindle[..], (1072, 1448, 8)),
        (&scribe[..], (1620, 2160, 8)),
    ] {
        let shown = display(&clock, &token, headers).await.json();
        assert_eq!(glass(&picture(&clock, &shown).await.body), expected);
    }
    // A Kindle on its side reports its height as width; its client draws a picture only as it is.
    const CLIENT: &str = "User-Agent: trmnl-display/0.1.1";
    let upright = ["png-width: 1072", "png-height: 1448", CLIENT];
    let kindle = ["png-width: 1448", "png-height: 1072", CLIENT];
    let form = async |headers: &[&str]| {
        let shown = display(&clock, &token, headers).await.json();
        let rotate = list(&clock).await[0]["rotate"].clone();
        (glass(&picture(&clock, &shown).await.body), rotate)
    };
    let id = list(&clock).await[0]["id"].clone();
    let path = format!("/api/displays/{}", id.as_str().unwrap());
    for (headers, rotate) in [(&kindle, 90), (&upright, 0), (&kindle, 90)] {
        assert_eq!(form(headers).await, ((1072, 1448, 8), json!(rotate)));
        // Another change stores the display as it is now.
        clock.json("PATCH", &path, r#"{"name":"Hall"}"#).await;
    }
    for rotate in [270, 0] {
        let body = json!({ "rotate": rotate }).to_string();
        clock.json("PATCH", &path, &body).await;
        assert_eq!(form(&kindle).await, ((1072, 1448, 8), json!(rotate)));
    }

    let token = add(&clock, "{}").await;
    display(&clock, &token, &scribe).await;
    // Settings of the owner override it.
    let listed = list(&clock).await.pop().unwrap();
    let path = format!("/api/displays/{}", listed["id"].as_str().unwrap());
    clock.json("PATCH", &path, r#"{"depth":4}"#).await;
    let shown = display(&clock, &token, &kindle).await.json();
    assert_eq!(glass(&picture(&clock, &shown).await.body), (1620, 2160, 4));
}

#[tokio::test]
async fn an_unchanged_picture_keeps_its_name_and_is_drawn_once() {
    let clock = Clock::real().await;
    let drawn = async || {
        let metrics = clock.get("/metrics").await;
        let line = (metrics.text().lines())
            .find_map(|line| line.strip_prefix("papertick_drawings_total "));
        line.unwrap().parse::<u64>().unwrap()
    };
    let mut tokens = Vec::new();
    for _ in 0..20 {
        tokens.push(add(&clock, r#"{"content":"screen","screens":[0]}"#).await);
    }
    // The time of the device advances by a second per request; after a minute it shows that it has no data.
    for _ in 0..60 {
        clock.post("/api/full_refresh").await;
    }
    let before = drawn().await;
    let requests = (0..100).map(|number| display(&clock, &tokens[number % 20], OG));
    let answers = join_all(requests).await;
    let names = answers
        .iter()
        .map(|answer| answer.json()["filename"].clone());
    let mut names: Vec<Value> = names.collect();
    names.dedup();
    assert_eq!(names.len(), 1, "{names:?}");
    assert_eq!(drawn().await - before, 1);
    // Another screen has another name.
    let token = add(&clock, r#"{"content":"screen","screens":[3]}"#).await;
    let other = display(&clock, &token, OG).await.json();
    assert_ne!(other["filename"], names[0]);
}

#[tokio::test]
async fn the_own_rotation_turns_at_each_request_of_the_display() {
    let clock = Clock::real().await;
    // The feature of screen 70 was switched off.
    let token = add(&clock, r#"{"content":"rotation","screens":[0,70,40,4]}"#).await;
    let name = |answer: Answer| answer.json()["filename"].clone();
    let mut shown = Vec::new();
    for _ in 0..4 {
        let answer = display(&clock, &token, OG).await;
        assert_eq!(answer.json()["special_function"], "restart_playlist");
        shown.push(name(answer));
        for path in ["/api/current_screen", "/api/current_screen/"] {
            let current = get_as(&clock, path, &token, &[]).await;
            assert_eq!(current.json()["status"], 200);
            assert_eq!(current.json()["rendered_at"], Value::Null);
            assert_eq!(Some(&name(current)), shown.last());
        }
    }
    assert_eq!(shown[3], shown[0]);
    assert!(shown[0] != shown[1] && shown[1] != shown[2] && shown[2] != shown[0]);
    display(&clock, &token, OG).await;
    let button = [OG, &["special_function: true"]].concat();
    let pressed = display(&clock, &token, &button).await;
    assert_eq!(pressed.json()["action"], "restart_playlist");
    assert_eq!(name(pressed), shown[0]);
    // A display that stored the function before it was changed, or reset, must not show an error.
    for token in [TOKEN, &add(&clock, "{}").await] {
        let pressed = display(&clock, token, &button).await.json();
        assert_eq!(pressed["action"], "restart_playlist");
    }
}

/// A display with little memory gets fewer greys if the file would be too large.
#[tokio::test]
async fn a_file_that_is_too_large_has_fewer_greys() {
    let clock = Clock::real().await;
    let body = json!(vec!["&8%@&8%@/@%8&@%8&"; 7]).to_string();
    clock.json("POST", "/api/show/custom", &body).await;
    let token = add(
        &clock,
        r#"{"width":3840,"height":2160,"depth":8,"layout":"column"}"#,
    )
    .await;
    for (client, headers, is_limited) in [
        ("without a limit", &[][..], false),
        ("TRMNL X", &["Model: x"], false),
        ("another model", &["Model: og"], true),
        ("a firmware", &["FW-Version: 1.0"], true),
    ] {
        let shown = display(&clock, &token, headers).await.json();
        let file = picture(&clock, &shown).await.body;
        let (width, height, depth) = glass(&file);
        assert_eq!((width, height), (3840, 2160), "{client}");
        assert_eq!(depth < 8, is_limited, "{client}: {depth} bits");
        assert_eq!(file.len() <= 90_000, is_limited, "{client}: {}", file.len());
    }
}

/// A display with little charge returns less often, unless it is being charged.
#[tokio::test]
async fn the_battery_decides_how_often_a_display_returns() {
    let clock = Clock::real().await;
    let token = add(&clock, r#"{"content":"screen","screens":[0]}"#).await;
    let returns_in = async |headers: &[&str]| {
        let shown = display(&clock, &token, headers).await.json();
        shown["refresh_rate"].as_u64().unwrap()
    };
    let full = returns_in(&["Percent-Charged: 90"]).await;
    for (percent, charging, is_rarer) in [
        (5, "Battery-Charging: 0", true),
        (5, "Battery-Charging: 1", false),
        (5, "USB-Connected: false", true),
        (5, "USB-Connected: true", false),
        (15, "Battery-Charging: 0", true),
        (15, "Battery-Charging: 1", false),
    ] {
        let percent = format!("Percent-Charged: {percent}");
        let rate = returns_in(&[&percent, charging]).await;
        assert_eq!(rate > full, is_rarer, "{percent}, {charging}: {rate}");
    }
}

#[tokio::test]
async fn metrics_have_the_reports_of_displays() {
    let clock = Clock::real().await;
    let token = add(&clock, r#"{"name":"Hall"}"#).await;
    display(&clock, &token, &["Percent-Charged: 87", "RSSI: -69"]).await;
    let log = r#"{"log":["one","two"]}"#;
    let headers = [
        format!("Access-Token: {token}"),
        format!("Content-Length: {}", log.len()),
    ];
    let headers = headers.each_ref().map(String::as_str);
    clock.send("POST", "/api/log", &headers, log).await;
    // Only the number of displays that wait is known.
    display(&clock, TOKEN, &["Percent-Charged: 12"]).await;
    let id = list(&clock).await[0]["id"].clone();
    let metrics = clock.get("/metrics").await;
    for (name, value) in [
        ("display_battery_ratio", "0.87"),
        ("display_signal_dbm", "-69"),
        ("display_log_lines", "2"),
    ] {
        let prefix = format!("papertick_{name}{{");
        let lines: Vec<&str> = (metrics.text().lines())
            .filter(|line| line.starts_with(&prefix))
            .collect();
        let line = format!("{prefix}id={id},name=\"Hall\"}} {value}");
        assert_eq!(lines, [line]);
    }
    assert!(metrics.text().contains("\npapertick_displays_waiting 1\n"));
}

#[tokio::test]
async fn a_token_only_fetches_pictures() {
    let clock = Clock::with(Setup {
        device: Kind::Real,
        ..guarded_setup()
    })
    .await;
    let credentials = crate::guards::basic("satoshi:correct horse");
    let waiting = display(&clock, TOKEN, OG).await.json();
    picture(&clock, &waiting).await;
    let listed = clock
        .send("GET", "/api/displays", &[&credentials], "")
        .await;
    let id = listed.json()["displays"][0]["id"]
        .as_str()
        .unwrap()
        .to_string();
    let own = format!("/api/displays/{id}");
    let png = format!("/api/displays/{id}.png");
    for (method, path) in [
        ("GET", "/api/displays"),
        ("POST", "/api/displays"),
        ("PATCH", own.as_str()),
        ("DELETE", own.as_str()),
        ("GET", png.as_str()),
        ("GET", "/api/status"),
        ("GET", "/api/settings"),
        ("GET", "/api/log"),
        ("GET", "/api/panels.png"),
        ("POST", "/api/screen/next"),
        ("GET", "/metrics"),
    ] {
        let header = format!("Access-Token: {TOKEN}");
        let bearer = format!("Authorization: Bearer {TOKEN}");
        let basic = crate::guards::basic(&format!("satoshi:{TOKEN}"));
        for headers in [&[header.as_str()][..], &[&bearer], &[&basic]] {
            let answer = clock.send(method, path, headers, "").await;
            assert_eq!(answer.status, 401, "{method} {path}");
        }
    }
    // No document has the token or its digest.
    for path in [
        "/api/displays",
        "/api/settings",
        "/metrics",
        "/api/settings/export",
    ] {
        let answer = clock.send("GET", path, &[&credentials], "").await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.text().contains(&TOKEN[..8]), "{path}");
        assert!(!answer.text().contains("digest"), "{path}");
    }
    // Tokens that cannot be secrets are refused, but no response makes a TRMNL wipe its token.
    for token in ["", "short", "0123456789abcde", "0123456789 abcdef"] {
        for path in ["/api/display", "/api/current_screen"] {
            let answer = get_as(&clock, path, token, OG).await;
            assert_eq!(answer.status, 401, "{path} {token:?}");
            assert!(answer.json().get("status").is_none());
        }
    }
    let unknown = get_as(
        &clock,
        "/api/current_screen",
        "another token of 32 bytes",
        OG,
    )
    .await;
    assert_eq!(unknown.status, 401, "spaces are not allowed");
    let unknown = get_as(
        &clock,
        "/api/current_screen",
        "another-token-of-32-bytes",
        OG,
    )
    .await;
    assert_eq!(unknown.status, 404);
}

/// A client that registers displays pushes out its own, not those of others.
#[tokio::test]
async fn at_most_four_displays_of_a_network_wait() {
    let (access, _) = PublicAccess::parse(&["127.0.0.1".into()], &[]);
    let clock = Clock::with(Setup {
        access,
        device: Kind::Real,
        ..Setup::default()
    })
    .await;
    let own = "ID: AA:BB:CC:DD:EE:FF";
    let near = "X-Forwarded-For: 192.0.2.7";
    clock.send("GET", "/api/setup", &[own, near], "").await;
    for number in 0..3 * WAITING_MAX {
        // Every host has a whole /64.
        let far = format!("X-Forwarded-For: 2001:db8::{number:x}");
        let id = format!("ID: AA:BB:CC:DD:00:{number:02X}");
        clock.send("GET", "/api/setup", &[&id, &far], "").await;
        let token = format!("a-token-that-was-made-up-{number}");
        display(&clock, &token, &[&far]).await;
        // The hardware address of another display does not replace it.
        clock.send("GET", "/api/setup", &[own, &far], "").await;
    }
    let waiting = list(&clock).await;
    assert_eq!(waiting.len(), 1 + WAITING_OF_NETWORK_MAX);
    assert_eq!(waiting[0]["mac"], "AA:BB:CC:DD:EE:FF");
    // Equal tokens have other ids.
    let other = Clock::real().await;
    let mut ids = Vec::new();
    for clock in [&clock, &other] {
        display(clock, TOKEN, &[]).await;
        ids.push(list(clock).await.last().unwrap()["id"].clone());
    }
    assert_ne!(ids[0], ids[1]);
}

/// The address of a picture is valid for the display that it was announced to, and has no other form.
#[tokio::test]
async fn a_picture_belongs_to_its_display() {
    let clock = Clock::real().await;
    let path = |document: &Value| {
        let url = document["image_url"].as_str().unwrap();
        let path = url.strip_prefix(&format!("http://{}/display/", clock.address));
        path.unwrap().to_string()
    };
    let token = add(&clock, r#"{"content":"screen","screens":[3]}"#).await;
    let own = path(&display(&clock, &token, OG).await.json());
    let waiting = path(&display(&clock, TOKEN, OG).await.json());
    let (key, name) = own.split_once('-').unwrap();
    let (foreign_key, foreign_name) = waiting.split_once('-').unwrap();
    assert_ne!(name, foreign_name);
    #[rustfmt::skip]
    let rows = [
        (own.clone(), 200),
        (format!("{key}-{foreign_name}"), 404),
        (format!("{foreign_key}-{name}"), 404),
        (format!("{key}-x.png"), 404),
        (format!("{key}-.png"), 404),
        (format!("{key}.png"), 404),
        (format!("-{name}"), 404),
        (format!("{}-{name}", &key[1..]), 404),
        (format!("{}-{name}", &key[..key.len() - 1]), 404),
        (format!("{key}0-{name}"), 404),
        ("-x.png".into(), 404),
        ("-.png".into(), 404),
        ("x.png".into(), 404),
        (String::new(), 404),
    ];
    for (path, status) in rows {
        let path = format!("/display/{path}");
        assert_eq!(clock.get(&path).await.status, status, "{path}");
    }
    // Another start gives the same picture another name.
    let other = Clock::real().await;
    let token = add(&other, r#"{"content":"screen","screens":[3]}"#).await;
    let shown = display(&other, &token, OG).await.json();
    assert!(!name.starts_with(shown["filename"].as_str().unwrap()));
}

#[tokio::test]
async fn there_are_at_most_64_displays() {
    let (access, _) = PublicAccess::parse(&["127.0.0.1".into()], &[]);
    let clock = Clock::with(Setup {
        access,
        device: Kind::Real,
        ..Setup::default()
    })
    .await;
    for number in 0..WAITING_MAX + 2 {
        let id = format!("ID: AA:BB:CC:DD:EE:{number:02X}");
        let network = format!("X-Forwarded-For: 192.0.2.{}", number / 4);
        let setup = clock.send("GET", "/api/setup", &[&id, &network], "").await;
        assert_eq!(setup.status, 200);
    }
    let waiting = list(&clock).await;
    assert_eq!(waiting.len(), WAITING_MAX);
    assert_eq!(
        waiting[0]["mac"], "AA:BB:CC:DD:EE:02",
        "the oldest display was dropped"
    );
    let last = &waiting[WAITING_MAX - 1]["id"];
    // Waiting displays are dropped for displays that the owner adds.
    for _ in 1..DISPLAYS_MAX {
        add(&clock, "{}").await;
    }
    assert_eq!(list(&clock).await.len(), DISPLAYS_MAX);
    approve(&clock, last).await;
    assert_eq!(clock.json("POST", "/api/displays", "{}").await.status, 409);
    assert_eq!(list(&clock).await.len(), DISPLAYS_MAX);
    assert_eq!(clock.send("GET", "/api/setup", OG, "").await.status, 404);
    assert_eq!(display(&clock, TOKEN, OG).await.status, 409);
}

#[tokio::test]
async fn approved_displays_outlive_a_restart() {
    let clock = Clock::real().await;
    let body = r#"{"name":"Hall","width":600,"height":800,"depth":8,"rotate":90,"layout":"column","dark":true,"content":"screen","screens":[40],"intervalMin":60}"#;
    let token = add(&clock, body).await;
    let before = list(&clock).await;
    display(&clock, TOKEN, OG).await;
    let stored = store::to_json(&clock.view.borrow().settings.stored);
    let (settings, notes) = store::from_json(&stored);
    assert!(notes.is_empty(), "{notes:?}");
    let clock = Clock::with(Setup {
        settings,
        device: Kind::Real,
        ..Setup::default()
    })
    .await;
    assert_eq!(list(&clock).await, before);
    let shown = display(&clock, &token, OG).await.json();
    assert_eq!(glass(&picture(&clock, &shown).await.body), (600, 800, 8));
}

#[tokio::test]
async fn the_list_tells_how_much_of_a_board_is_shown() {
    let clock = Clock::real().await;
    clock.json("POST", "/api/show/screen", r#"{"s":0}"#).await;
    let tiles = async || list(&clock).await[0]["tiles"].clone();
    let token = add(&clock, r#"{"layout":"board","width":200,"height":100}"#).await;
    assert_eq!(tiles().await, Value::Null);
    display(&clock, &token, &[]).await;
    assert_eq!(tiles().await, json!({ "shown": 4, "of": 6 }));
    let path = format!(
        "/api/displays/{}",
        list(&clock).await[0]["id"].as_str().unwrap()
    );
    let changed = clock
        .json("PATCH", &path, r#"{"width":800,"height":480}"#)
        .await;
    assert_eq!(changed.json()["tiles"], Value::Null);
    clock.get(&format!("{path}.png")).await;
    assert_eq!(tiles().await, json!({ "shown": 6, "of": 6 }));
}

#[tokio::test]
async fn log_lines_of_both_forms_are_listed() {
    let clock = Clock::real().await;
    let token = add(&clock, "{}").await;
    let log = async |token: &str, body: &str| {
        let headers = [
            format!("Access-Token: {token}"),
            format!("Content-Length: {}", body.len()),
        ];
        let headers = headers.each_ref().map(String::as_str);
        clock.send("POST", "/api/log", &headers, body).await.status
    };
    let lines: Vec<Value> = (0..LOG_LINES_MAX + 3)
        .map(|number| {
            json!({ "created_at": 1_764_120_000 + number, "id": number, "message": format!("line {number}\n"),
                "source_line": 597, "source_path": "src/bl.cpp", "wifi_signal": -69, "level": "warn" })
        })
        .collect();
    assert_eq!(
        log(&token, &json!({ "logs": lines }).to_string()).await,
        204
    );
    // The token is not in the list, even in part.
    let secret = format!("{:190}{token}", "Access-Token:");
    let own = json!({ "logs": [{ "level": token, "message": secret }] });
    assert_eq!(log(&token, &own.to_string()).await, 204);
    let [listed] = list(&clock).await.try_into().unwrap();
    let line = listed["log"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .to_string();
    assert!(
        line.contains("***") && !line.contains(&token[..8]),
        "{line}"
    );
    assert_eq!(log(&token, r#"{"log":["from a Kobo"]}"#).await, 204);
    let [listed] = list(&clock).await.try_into().unwrap();
    let listed = listed["log"].as_array().unwrap();
    assert_eq!(listed.len(), LOG_LINES_MAX);
    let expected = json!({ "at": 1_764_120_012, "level": "warn", "message": "line 12 " });
    assert_eq!(listed[LOG_LINES_MAX - 3], expected);
    assert_eq!(listed[LOG_LINES_MAX - 1]["message"], "from a Kobo");
    for (body, status) in [("", 400), ("x", 400), ("[]", 400), (r#"{"logs":7}"#, 400)] {
        assert_eq!(log(&token, body).await, status, "{body}");
    }
    assert_eq!(
        log("a-token-that-no-display-has", r#"{"log":[]}"#).await,
        404
    );
    assert_eq!(log("short", r#"{"log":[]}"#).await, 401);
}

/// The clock needs them to remove their entities from Home Assistant.
#[tokio::test]
async fn the_last_removed_displays_are_known() {
    let clock = Clock::real().await;
    let mut ids = Vec::new();
    for _ in 0..=DISPLAYS_MAX {
        add(&clock, "{}").await;
        let [listed] = list(&clock).await.try_into().unwrap();
        let id = listed["id"].as_str().unwrap().to_string();
        let path = format!("/api/displays/{id}");
        assert_eq!(clock.send("DELETE", &path, &[], "").await.status, 200);
        ids.push(id);
    }
    assert_eq!(clock.view.borrow().former_displays, ids[1..]);
}

#[tokio::test]
async fn a_bad_value_is_refused_with_its_bounds() {
    let clock = Clock::real().await;
    add(&clock, "{}").await;
    let [listed] = list(&clock).await.try_into().unwrap();
    let path = format!("/api/displays/{}", listed["id"].as_str().unwrap());
    let long = json!({ "name": "x".repeat(65) }).to_string();
    let many = json!({ "screens": (0..33).collect::<Vec<u16>>() }).to_string();
    #[rustfmt::skip]
    let rows = [
        ("", "the body must be JSON"),
        ("[]", "the body must be a JSON object"),
        (r#"{"width":199}"#, "width must be a whole number from 200 to 3840"),
        (r#"{"width":"800"}"#, "width must be a whole number from 200 to 3840"),
        (r#"{"height":2161}"#, "height must be a whole number from 100 to 2160"),
        (r#"{"depth":3}"#, "depth must be one of 1, 2, 4, 8"),
        (r#"{"rotate":45}"#, "rotate must be one of 0, 90, 180, 270"),
        (r#"{"layout":"heap"}"#, "layout must be one of auto, figure, board, cells, row, two-rows, column"),
        (r#"{"dark":1}"#, "dark must be true, false or null"),
        (r#"{"content":"all"}"#, "content must be one of clock, screen, rotation"),
        (r#"{"screens":[1]}"#, "screens must be a list of at most 32 different ids of screens"),
        (r#"{"screens":[0,0]}"#, "screens must be a list of at most 32 different ids of screens"),
        (&many, "screens must be a list of at most 32 different ids of screens"),
        (r#"{"content":"screen"}"#, "screens must have 1 to 32 ids of screens for this content"),
        (r#"{"intervalMin":0}"#, "intervalMin must be a whole number from 1 to 1440"),
        (r#"{"state":"gone"}"#, "state must be approved"),
        (r#"{"name":"a\u0007b"}"#, "name must be a text of at most 64 bytes without control characters"),
        (&long, "name must be a text of at most 64 bytes without control characters"),
    ];
    for (body, error) in rows {
        for (method, path) in [("PATCH", path.as_str()), ("POST", "/api/displays")] {
            let answer = clock.json(method, path, body).await;
            assert_eq!(
                (answer.status, &answer.json()["error"]),
                (400, &json!(error)),
                "{method} {body}"
            );
        }
    }
    assert_eq!(list(&clock).await, std::slice::from_ref(&listed));
    // A client may send a whole display back.
    let answer = clock.json("PATCH", &path, &listed.to_string()).await;
    assert_eq!((answer.status, answer.json()), (200, listed));
    let unknown = clock.json("PATCH", "/api/displays/000000", "{}").await;
    assert_eq!(unknown.status, 404);
}

#[tokio::test]
async fn the_address_of_a_picture_is_as_the_display_reached_the_clock() {
    let (access, mistakes) = PublicAccess::parse(
        &["127.0.0.1".into()],
        &[
            "https://home.example/clock".into(),
            "https://bare.example".into(),
        ],
    );
    assert!(mistakes.is_empty());
    let clock = Clock::with(Setup {
        access,
        device: Kind::Real,
        ..Setup::default()
    })
    .await;
    let own = format!("http://{}/", clock.address);
    #[rustfmt::skip]
    let rows: &[(&str, &[&str], &str)] = &[
        ("/api/display", &[], &own),
        ("/api/display", &["Host: 192.0.2.7"], "http://192.0.2.7/"),
        ("/api/display", &["Host: [2001:db8::7]:8080"], "http://[2001:db8::7]:8080/"),
        ("/api/display", &["Host: papertick:8080"], "http://papertick:8080/"),
        ("/api/display", &["Host: 127.0.0.1:1", "X-Forwarded-Host: 192.0.2.7", "X-Forwarded-Proto: https"], "https://192.0.2.7/"),
        ("/api/display", &["Host: 192.0.2.7", "X-Forwarded-Prefix: /p", "X-Forwarded-Host: 192.0.2.8"], "http://192.0.2.8/p/"),
        ("/clock/api/display", &["Host: home.example"], "https://home.example/clock/"),
        ("/api/display", &["Host: bare.example", "X-Forwarded-Prefix: /p"], "https://bare.example/p/"),
        ("/clock/api/display", &["Host: 192.0.2.7"], "http://192.0.2.7/clock/"),
    ];
    for (path, headers, base) in rows {
        let document = get_as(&clock, path, TOKEN, headers).await.json();
        let url = document["image_url"].as_str().unwrap();
        assert!(
            url.starts_with(&format!("{base}display/")),
            "{url}, not {base}"
        );
    }
}
