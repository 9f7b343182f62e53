//! Every operation that the description names is asked for once, with the core of the clock behind it, and answers as
//! the description promises: its status is one of those, and the body is of their type and shape.
//!
//! A new operation needs a row here; what it does is tested elsewhere.

use std::collections::BTreeSet;

use api::openapi;
use board::sim::{self, SimOptions};
use device::request::{Refusal, Reply};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

use crate::{
    provisioning::Portal,
    support::{Answer, Clock, Kind, SOON, Setup},
};

/// Operations of a clock at work: what is asked, its body, and the status of the answer.
#[rustfmt::skip]
const ROWS: &[(&str, &str, u16)] = &[
    ("GET /api/status", "", 200),
    ("GET /api/system/status", "", 200),
    ("GET /api/system_status", "", 200),
    ("GET /api/widget", "", 200),
    ("GET /events", "", 200),
    ("GET /api/panels.png", "", 200),
    ("GET /api/panels/0.png", "", 200),
    ("GET /api/frame.png", "", 200),
    ("GET /api/frame.bmp", "", 200),
    ("GET /api/settings", "", 200),
    ("PATCH /api/settings", r#"{"digitFontPx":200}"#, 200),
    ("POST /api/settings", r#"{"digitFontPx":200}"#, 200),
    ("GET /api/settings/export", "", 200),
    ("POST /api/settings/export", "", 200),
    (
        "POST /api/settings/import",
        r#"{"file":{"format":"papertick settings","version":1,"clock":"","board":"","firmware":"","time":null,"settings":{"ledBrightness":3,"holograms":true}}}"#,
        200,
    ),
    ("POST /api/preview.png", r#"{"digitFontPx":200}"#, 200),
    ("POST /api/show/preview.png", r#"["GM","mdi:bell"]"#, 200),
    ("PATCH /api/json/settings", r#"{"digitFontPx":200}"#, 200),
    ("POST /api/json/settings", r#"{"digitFontPx":200}"#, 200),
    ("POST /api/show/screen", r#"{"s":3}"#, 200),
    ("GET /api/show/screen/3", "", 200),
    ("POST /api/show/currency", r#"{"c":"USD"}"#, 200),
    ("GET /api/show/currency/USD", "", 200),
    ("POST /api/show/text", r#"{"t":"HODL"}"#, 200),
    ("GET /api/show/text/HODL", "", 200),
    ("POST /api/show/custom", r#"["A"]"#, 200),
    ("POST /api/screen/next", "", 200),
    ("POST /api/screen/previous", "", 200),
    ("POST /api/action/pause", "", 200),
    ("GET /api/action/pause", "", 200),
    ("POST /api/action/timer_restart", "", 200),
    ("GET /api/action/timer_restart", "", 200),
    ("POST /api/full_refresh", "", 200),
    ("GET /api/full_refresh", "", 200),
    ("POST /api/action/simulate_zap", "", 200),
    ("GET /api/lights", "", 200),
    ("POST /api/lights/color", r#"{"c":"FF0000"}"#, 200),
    ("GET /api/lights/color/FF0000", "", 200),
    ("GET /api/lights/FF0000", "", 200),
    ("POST /api/lights/set", r#"[{"hex":"FF0000"},{"hex":"FF0000"},{"hex":"FF0000"},{"hex":"FF0000"}]"#, 200),
    ("PATCH /api/lights/set", r#"[{"hex":"FF0000"},{"hex":"FF0000"},{"hex":"FF0000"},{"hex":"FF0000"}]"#, 200),
    ("POST /api/lights/off", "", 200),
    ("GET /api/lights/off", "", 200),
    ("POST /api/lights/effect", r#"{"name":"rainbow"}"#, 200),
    ("GET /api/frontlight/status", "", 200),
    ("POST /api/frontlight/on", "", 200),
    ("GET /api/frontlight/on", "", 200),
    ("POST /api/frontlight/off", "", 200),
    ("GET /api/frontlight/off", "", 200),
    ("POST /api/frontlight/flash", "", 200),
    ("GET /api/frontlight/flash", "", 200),
    ("POST /api/frontlight/brightness", r#"{"b":7}"#, 200),
    ("GET /api/frontlight/brightness/7", "", 200),
    ("POST /api/frontlight/set", r#"[1,2,3,4,5,6,7]"#, 200),
    ("GET /api/dnd/status", "", 200),
    ("POST /api/dnd/enable", "", 200),
    ("GET /api/dnd/enable", "", 200),
    ("POST /api/dnd/disable", "", 200),
    ("GET /api/dnd/disable", "", 200),
    ("POST /api/identify", "", 200),
    ("GET /api/identify", "", 200),
    ("POST /api/restart", "", 200),
    ("GET /api/restart", "", 200),
    ("POST /api/factory_reset", r#"{"confirm":"factory_reset"}"#, 200),
    ("POST /api/stop_datasources", "", 200),
    ("POST /api/restart_datasources", r#"{"source":"relay"}"#, 200),
    ("POST /api/action/clear_pool_logos", "", 200),
    ("POST /api/wifi_set_tx_power", r#"{"txPower":20}"#, 200),
    ("POST /api/firmware/auto_update", "", 503),
    ("GET /api/firmware/auto_update", "", 503),
    ("POST /upload/firmware", r#"x"#, 503),
    ("POST /upload/webui", r#"x"#, 503),
    ("GET /api/log", "", 200),
    ("GET /api/coredump", "", 404),
    ("DELETE /api/coredump", "", 200),
    ("POST /api/diag/heap_trace/start", "", 501),
    ("POST /api/diag/heap_trace/stop", "", 501),
    ("GET /api/diag/heap", "", 200),
    ("GET /sim/state", "", 200),
    ("GET /sim/panels.png", "", 200),
    ("POST /sim/buttons", r#"{"press":[1],"ms":1}"#, 200),
    ("POST /sim/lux", r#"{"lux":0.5}"#, 200),
    ("POST /sim/wifi", r#"{"link":"down"}"#, 200),
    ("POST /sim/power", r#"{"action":"cycle","hold":[1],"ms":1}"#, 200),
    ("POST /sim/market", r#"{"event":"payment"}"#, 200),
    ("POST /sim/panel", r#"{"panel":3,"fault":"none"}"#, 200),
    ("GET /api/displays", "", 200),
    ("POST /api/displays", r#"{"name":"Hall"}"#, 200),
    ("GET /api/displays/917F0B.png", "", 404),
    ("PATCH /api/displays/917F0B", r#"{"name":"Hall"}"#, 404),
    ("DELETE /api/displays/917F0B", "", 404),
    ("GET /api/setup", "", 200),
    ("GET /api/display", "", 200),
    ("GET /api/current_screen", "", 404),
    ("POST /api/log", r#"{"log":["hello"]}"#, 404),
    ("GET /display/0123.png", "", 404),
    ("GET /", "", 200),
    ("GET /manifest.json", "", 200),
    ("GET /glass", "", 200),
    ("GET /api/qr.png", "", 400),
    ("GET /docs", "", 200),
    ("GET /openapi.json", "", 200),
    ("GET /healthz", "", 200),
    ("GET /readyz", "", 200),
    ("GET /metrics", "", 200),
];

/// Operations of a clock that is an access point.
const PORTAL_ROWS: &[(&str, &str, u16)] = &[
    ("GET /scan", "", 200),
    ("GET /api/scan", "", 200),
    ("POST /save", r#"{"ssid":"Home","pw":"correct horse"}"#, 200),
    (
        "POST /api/wifi",
        r#"{"ssid":"Home","pw":"correct horse"}"#,
        200,
    ),
];

async fn on_the_bench() -> Clock {
    let board = sim::board(board::spec::find("rev-b").unwrap(), SimOptions::default());
    Clock::with(Setup {
        device: Kind::Real,
        bench: Some(board.bench),
        ..Setup::default()
    })
    .await
}

/// Asks, and reads the answer as far as it comes: a stream does not end.
async fn ask(clock: &Clock, method: &str, path: &str, body: &str) -> Answer {
    let mut stream = clock.connect().await;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\nID: AB:CD:EF:12:34:56\r\nAccess-Token: 0123456789abcdef\r\nContent-Length: {}\r\n\r\n",
        clock.address,
        body.len()
    );
    stream
        .write_all(format!("{head}{body}").as_bytes())
        .await
        .unwrap();
    let mut received = Vec::new();
    if path == "/events" {
        while !received.windows(8).any(|piece| piece == b"welcome\n") {
            let read = timeout(SOON, stream.read_buf(&mut received)).await;
            assert_ne!(read.expect("an answer in time").unwrap(), 0);
        }
    } else {
        let read = timeout(SOON, stream.read_to_end(&mut received)).await;
        read.expect("an answer in time").unwrap();
    }
    Answer::parse(&received)
}

/// The description of the operation that a request is for.
fn described<'a>(api: &'a Value, method: &str, path: &str) -> (&'a str, &'a Value) {
    let fits = |pattern: &str| {
        let (mut named, mut given) = (pattern.split('/'), path.split('/'));
        let mut pairs = named.by_ref().zip(given.by_ref());
        let all = pairs.all(|(name, given)| {
            let suffix = name.split_once('}').map_or("", |(_, suffix)| suffix);
            let is_open = name.starts_with('{') && !given.is_empty();
            name == given || (is_open && given.ends_with(suffix))
        });
        all && pattern.matches('/').count() == path.matches('/').count()
    };
    let paths = api["paths"].as_object().unwrap();
    let exact = paths.get_key_value(path);
    let (pattern, item) = exact
        .or_else(|| {
            let fitting = paths.iter().filter(|(pattern, _)| fits(pattern));
            fitting.max_by_key(|(pattern, _)| pattern.len())
        })
        .unwrap_or_else(|| panic!("{path} is not described"));
    (pattern, &item[method.to_ascii_lowercase()])
}

fn check(api: &Value, request: &str, operation: &Value, answer: &Answer) {
    let promised = &operation["responses"][answer.status.to_string()];
    assert!(
        promised.is_object(),
        "{request}: {} is not promised",
        answer.status
    );
    let Some(content) = promised["content"].as_object() else {
        assert_eq!(answer.text(), "", "{request}: no body is promised");
        return;
    };
    let given = answer.header("content-type").unwrap_or_default();
    let kind = given.split(';').next().unwrap();
    let promised = content
        .get(kind)
        .unwrap_or_else(|| panic!("{request}: {given} is not promised"));
    if kind == "application/json" {
        let mut schema = promised["schema"].clone();
        schema["components"] = api["components"].clone();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&answer.json())
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{request}: {errors:?}");
    }
}

#[tokio::test]
async fn every_operation_answers_as_it_is_described() {
    let api = openapi::document();
    let mut asked = BTreeSet::new();
    let portal = Portal::new().await;
    for (rows, at_work) in [(ROWS, true), (PORTAL_ROWS, false)] {
        for (request, body, status) in rows {
            let (method, path) = request.split_once(' ').unwrap();
            let fresh;
            let clock = if at_work {
                fresh = on_the_bench().await;
                &fresh
            } else {
                &portal.clock
            };
            let answer = ask(clock, method, path, body).await;
            assert_eq!(answer.status, *status, "{request}: {:?}", answer.body);
            let (pattern, operation) = described(&api, method, path);
            check(&api, request, operation, &answer);
            asked.insert((pattern.to_owned(), method.to_ascii_lowercase()));
        }
    }
    let all = api["paths"].as_object().unwrap().iter();
    for (path, item) in all {
        for method in item.as_object().unwrap().keys() {
            let operation = (path.clone(), method.clone());
            assert!(asked.contains(&operation), "nobody asks {method} {path}");
        }
    }
}

#[tokio::test]
async fn a_factory_reset_that_fails_answers_as_it_is_described() {
    let clock = Clock::start().await;
    let refusal = Reply::Refused(Refusal::NotErased);
    clock.replies.send(refusal).await.unwrap();
    let (request, confirmation) = ("POST /api/factory_reset", r#"{"confirm":"factory_reset"}"#);
    let answer = ask(&clock, "POST", "/api/factory_reset", confirmation).await;
    assert_eq!(answer.status, 500);
    assert_eq!(answer.json(), json!({ "error": "not erased" }));
    let api = openapi::document();
    let (_, operation) = described(&api, "POST", "/api/factory_reset");
    check(&api, request, operation, &answer);
    // And as nothing else.
    let schema = &operation["responses"]["500"]["content"]["application/json"]["schema"];
    assert_eq!(schema["$ref"], "#/components/schemas/NotErased");
    assert_eq!(
        api["components"]["schemas"]["NotErased"]["properties"]["error"]["const"],
        "not erased"
    );
}
