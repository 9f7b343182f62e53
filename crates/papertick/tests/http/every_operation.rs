//! Every operation of the OpenAPI document: the request to the device, and the response, which is as documented.

use std::collections::BTreeSet;

use api::openapi;
use board::sim::{self, SimOptions};
use device::request::Refusal;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

use crate::{
    clients::HOME_ASSISTANT,
    operation_table::{PORTAL_ROWS, ROWS, Row},
    provisioning::Portal,
    support::{Answer, Clock, Kind, SOON, Setup},
};

async fn simulated_clock() -> Clock {
    let board = sim::board(board::spec::find("rev-b").unwrap(), SimOptions::default());
    Clock::with(Setup {
        device: Kind::Real,
        bench: Some(board.bench),
        ..Setup::default()
    })
    .await
}

/// Sends a request and reads the response; of a stream, which has no end, only the first event.
async fn send(clock: &Clock, method: &str, path: &str, body: &str) -> Answer {
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
    if path.starts_with("/events") {
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
        let (mut pattern_parts, mut path_parts) = (pattern.split('/'), path.split('/'));
        let mut pairs = pattern_parts.by_ref().zip(path_parts.by_ref());
        let all = pairs.all(|(name, value)| {
            let suffix = name.split_once('}').map_or("", |(_, suffix)| suffix);
            let is_open = name.starts_with('{');
            name == value || (is_open && value.ends_with(suffix))
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
    // A document with input of a client must not be interpreted as HTML.
    let sniffing = answer.header("x-content-type-options");
    assert_eq!(sniffing, Some("nosniff"), "{request}");
    let documented = &operation["responses"][answer.status.to_string()];
    assert!(
        documented.is_object(),
        "{request}: {} is not documented",
        answer.status
    );
    let Some(content) = documented["content"].as_object() else {
        assert_eq!(answer.text(), "", "{request}: no body is documented");
        return;
    };
    let content_type = answer.header("content-type").unwrap_or_default();
    let kind = content_type.split(';').next().unwrap();
    let documented = content
        .get(kind)
        .unwrap_or_else(|| panic!("{request}: {content_type} is not documented"));
    if kind == "application/json" {
        let mut schema = documented["schema"].clone();
        schema["components"] = api["components"].clone();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&answer.json())
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{request}: {errors:?}");
    }
}

/// The page of 2024 uses GET.
const PAGE_OF_2024: &[&str] = &[
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36",
    "Sec-Fetch-Site: same-origin",
];

fn requests(row: &Row) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let (preferred, body, _, _, others) = *row;
    let all = [preferred].into_iter().chain(others.iter().copied());
    all.map(move |request| {
        let (method, path) = request.split_once(' ').unwrap();
        let has_parameters = request != preferred && (method == "GET" || path.contains('?'));
        (method, path, if has_parameters { "" } else { body })
    })
}

#[tokio::test]
async fn operations_reach_the_device() {
    let mut clock = Clock::start().await;
    for row in ROWS {
        let effect = row.3;
        if effect.starts_with(|first: char| first.is_ascii_digit()) {
            continue;
        }
        for (method, path, body) in requests(row) {
            let length = format!("Content-Length: {}", body.len());
            let headers: [&[&str]; 2] = match (method, body) {
                ("GET", _) => [&[], PAGE_OF_2024],
                (_, "") => [&[], HOME_ASSISTANT],
                _ => [
                    &[&length],
                    &[&length, "Content-Type: application/json; charset=utf-8"],
                ],
            };
            for headers in headers {
                let answer = clock.send(method, path, headers, body).await;
                assert_eq!(answer.status, 200, "{method} {path} {body}");
                let request = format!("{:?}", clock.next_request().await);
                assert_eq!(request, effect, "{method} {path} {body}");
            }
        }
    }
}

#[tokio::test]
async fn every_operation_answers_as_it_is_described() {
    let api = openapi::document();
    let mut tested = BTreeSet::new();
    let portal = Portal::new().await;
    let rows = ROWS.iter().map(|row| (row, true));
    for (row, at_work) in rows.chain(PORTAL_ROWS.iter().map(|row| (row, false))) {
        let (status, reason) = row.3.split_once(' ').unwrap_or((row.3, ""));
        let refused: Option<u16> = status.parse().ok();
        for (method, path, body) in requests(row) {
            let fresh;
            let clock = if at_work {
                fresh = simulated_clock().await;
                &fresh
            } else {
                &portal.clock
            };
            let answer = send(clock, method, path, body).await;
            let request = format!("{method} {path} {body}");
            let expected = refused.unwrap_or(200);
            assert_eq!(answer.status, expected, "{request}: {:?}", answer.body);
            if refused.is_some() && !reason.is_empty() {
                assert_eq!(answer.json()["error"], reason, "{request}");
            }
            let (path, _query) = path.split_once('?').unwrap_or((path, ""));
            let (pattern, operation) = described(&api, method, path);
            check(&api, &request, operation, &answer);
            tested.insert((pattern.to_owned(), method.to_ascii_lowercase()));
        }
    }
    let all = api["paths"].as_object().unwrap().iter();
    for (path, item) in all {
        for method in item.as_object().unwrap().keys() {
            let operation = (path.clone(), method.clone());
            assert!(tested.contains(&operation), "no row for {method} {path}");
        }
    }
}

#[tokio::test]
async fn a_factory_reset_that_fails_answers_as_it_is_described() {
    let clock = Clock::start().await;
    let refusal = Err(Refusal::NotErased);
    clock.replies.send(refusal).await.unwrap();
    let (request, confirmation) = ("POST /api/factory_reset", r#"{"confirm":"factory_reset"}"#);
    let answer = send(&clock, "POST", "/api/factory_reset", confirmation).await;
    assert_eq!(answer.status, 500);
    assert_eq!(answer.json(), json!({ "error": "not erased" }));
    let api = openapi::document();
    let (_, operation) = described(&api, "POST", "/api/factory_reset");
    check(&api, request, operation, &answer);
    // The schema allows no other error.
    let schema = &operation["responses"]["500"]["content"]["application/json"]["schema"];
    assert_eq!(schema["$ref"], "#/components/schemas/NotErased");
    assert_eq!(
        api["components"]["schemas"]["NotErased"]["properties"]["error"]["const"],
        "not erased"
    );
}
