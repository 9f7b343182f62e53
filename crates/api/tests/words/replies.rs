//! Replies: what the device says on the left, what a client is told on the right.

use api::{
    answer::Answer,
    asked::{DeviceCall, refused},
    given::Parameters,
    operation::OperationHandler,
    operations::{self, all},
};
use device::request::{Refusal, Reply, Request};
use serde_json::json;

use crate::clock::{BARE, BOARD, clock, reply};

fn asked(name: &str, body: &str) -> DeviceCall {
    let view = clock(BOARD).view();
    operations::command(name, Parameters::body(body.as_bytes()), &view).unwrap()
}

/// Status and document.
fn told(answer: Answer) -> (u16, String) {
    let body = answer.body.map(|body| body.to_string());
    (answer.status, body.unwrap_or_default())
}

#[test]
fn what_was_done_is_told() {
    let lights = r##"{"red":1,"green":2,"blue":3,"hex":"#010203"}"##;
    let lights = format!("[{}]", [lights; 4].join(","));
    let rows = [
        ("screen/next", "", ""),
        ("settings", r#"{"digitFontPx":200}"#, ""),
        (
            "settings",
            r#"{"dataSource":2}"#,
            r#"{"rebootRequired":true}"#,
        ),
        (
            "factory_reset",
            r#"{"confirm":"factory_reset"}"#,
            r#"{"msg":"factory reset scheduled"}"#,
        ),
        ("action/clear_pool_logos", "", r#"{"removed":0}"#),
        (
            "wifi_set_tx_power",
            r#"{"txPower":80}"#,
            r#"{"setTxPower":"ok"}"#,
        ),
        (
            "lights/effect",
            r#"{"name":"zap"}"#,
            r#"{"queued":true,"name":"zap"}"#,
        ),
        ("lights/set", r#"{"hex":"FF0000"}"#, ""),
        ("lights/color", r#"{"c":"010203"}"#, lights.as_str()),
    ];
    for (name, body, expected) in rows {
        let DeviceCall {
            request,
            told: words,
        } = asked(name, body);
        let reply = reply(&mut clock(BOARD), request);
        assert_eq!(
            told(words.answer(reply)),
            (200, expected.to_string()),
            "{name}"
        );
    }
}

#[test]
fn a_change_that_is_rejected_is_told_with_its_token() {
    let DeviceCall {
        request,
        told: words,
    } = asked("settings", r#"{"digitFontPx":1}"#);
    let reply = reply(&mut clock(BOARD), request);
    let rejected = Answer::error(400, "range:digitFontPx");
    assert_eq!(words.answer(reply), rejected);
}

#[test]
fn every_refusal_has_its_words() {
    let rows = [
        (Refusal::UnknownScreen, 400, "unknown screen id"),
        (
            Refusal::UnavailableScreen(70),
            409,
            "screen 70 unavailable for active pool",
        ),
        (Refusal::CurrencyNotActive, 404, "currency not active"),
        (Refusal::NoLeds, 503, "leds not available"),
        (
            Refusal::NoFrontlight,
            503,
            "frontlight not present on this board",
        ),
        (Refusal::WrongCount, 400, "count mismatch"),
        (Refusal::OutOfRange, 400, "out of range"),
        (Refusal::NotStored, 500, "not stored"),
        (Refusal::Erasing, 503, "everything is being erased"),
        (Refusal::NotErased, 500, "not erased"),
    ];
    for (refusal, status, error) in rows {
        assert_eq!(refused(refusal), Answer::error(status, error));
        let words = DeviceCall::of(Request::Next).told;
        assert_eq!(
            words.answer(Reply::Refused(refusal)),
            Answer::error(status, error)
        );
    }
    let busy = Answer::with(503, json!({ "msg": "Update already in progress" }));
    assert_eq!(refused(Refusal::UpdateRunning), busy);
}

#[test]
fn a_list_of_another_length_is_told_by_what_it_lists() {
    for (name, body, error) in [
        (
            "lights/set",
            r#"[{"hex":"FF0000"},{"hex":"FF0000"}]"#,
            "pixel count mismatch",
        ),
        ("frontlight/set", "[1,2]", "channel count mismatch"),
    ] {
        let DeviceCall {
            request,
            told: words,
        } = asked(name, body);
        let reply = reply(&mut clock(BOARD), request);
        assert_eq!(words.answer(reply), Answer::bad_request(error), "{name}");
    }
}

#[test]
fn lights_that_are_told_of_a_command_without_them_are_left_out() {
    let lit = asked("lights/color", r#"{"c":"off"}"#).told;
    assert_eq!(lit.answer(Reply::Done), Answer::done());
}

#[test]
fn what_is_only_read_is_told_from_the_view() {
    let tell = |name: &str, board| {
        let operation = all()
            .find(|operation| operation.name() == Some(name))
            .unwrap();
        let OperationHandler::Tells(tell) = operation.act else {
            panic!("{name} is told by somebody else");
        };
        told(tell(&clock(board).view()))
    };
    let lights = tell("lights", BOARD);
    assert_eq!((lights.0, lights.1.matches("\"hex\"").count()), (200, 4));
    assert_eq!(tell("lights", BARE).0, 503);
    let duties = r#"{"flStatus":[0,0,0,0,0,0,0]}"#;
    assert_eq!(tell("frontlight/status", BOARD), (200, duties.to_string()));
    assert_eq!(tell("frontlight/status", BARE).0, 503);
    let (status, dnd) = tell("dnd/status", BOARD);
    assert_eq!(status, 200);
    assert!(dnd.contains(r#""enabled":false"#), "{dnd}");
}
