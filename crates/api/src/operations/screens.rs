//! Operations that choose what the panels show.

use alloc::{string::String, vec::Vec};

use device::{request::Request, view::View};
use market::{
    Zap,
    units::{Currency, Sats},
};
use serde::Deserialize;
use serde_json::Value;

use super::words::{BAD, LACKING, OK, SCALE, param};
use crate::{
    answer::Answer,
    asked::DeviceCall,
    documents::{
        self, CutNumber, ErrorBody,
        screens::{
            CurrencyChoice, PanelText, ScreenChoice, ScreenOrPlace, SizedTexts, TextPerPanel,
            ZapRequest,
        },
    },
    given::{Parameters, RequestBody},
    limits::{CUSTOM_BODY_MAX, GLYPH_PX, TEXT_BODY_MAX, ZAP_MESSAGE_MAX},
    operation::{Operation, Param, ProgramOperation, asks, old, post, serves},
    shape::{Shape, received, sent},
};

const SCREEN: &[Param] = &[param(
    "s",
    received::<ScreenOrPlace>(),
    "Id of the screen, or its place in the rotation.",
)];
const CURRENCY: &[Param] = &[param("c", received::<String>(), "ISO 4217 code.")];
const TEXT: &[Param] = &[param("t", received::<String>(), "The text.")];

const SHOWN: &[(u16, Shape)] = &[OK, BAD, (409, sent::<ErrorBody>())];
const PRICED: &[(u16, Shape)] = &[OK, (404, sent::<ErrorBody>())];

pub(super) const OPERATIONS: &[Operation] = &[
    asks(
        "Show a screen",
        screen,
        &[
            post("/api/show/screen").asks(SCREEN),
            old("/api/show/screen/{id}")
                .open(received::<ScreenOrPlace>())
                .or("1"),
        ],
    )
    .takes_or_query(received::<ScreenChoice>())
    .answers(SHOWN),
    asks(
        "Show prices in a currency",
        currency,
        &[
            post("/api/show/currency").asks(CURRENCY),
            old("/api/show/currency/{code}"),
        ],
    )
    .takes_or_query(received::<CurrencyChoice>())
    .answers(PRICED),
    asks(
        "Show a text, one character per panel",
        text,
        &[
            post("/api/show/text").asks(TEXT),
            old("/api/show/text/{text}").answers(&[OK]),
        ],
    )
    .takes_or_query(received::<PanelText>())
    .up_to(TEXT_BODY_MAX)
    .answers(&[OK, BAD]),
    asks("Show a text per panel", custom, &[post("/api/show/custom")])
        .takes(received::<TextPerPanel>())
        .up_to(CUSTOM_BODY_MAX)
        .answers(&[OK, BAD]),
    serves(
        "The panels as they would be with a text per panel, which is not shown",
        ProgramOperation::TextPicture,
        &[post("/api/show/preview.png").asks(SCALE)],
    )
    .takes(received::<TextPerPanel>())
    .up_to(CUSTOM_BODY_MAX)
    .answers(&[(200, Shape::Png), BAD, LACKING]),
    asks(
        "Show the next screen",
        |_, _| Ok(DeviceCall::of(Request::Next)),
        &[post("/api/screen/next")],
    ),
    asks(
        "Show the previous screen",
        |_, _| Ok(DeviceCall::of(Request::Previous)),
        &[post("/api/screen/previous")],
    ),
    asks(
        "Stop the rotation",
        |_, _| Ok(DeviceCall::of(Request::Pause)),
        &[post("/api/action/pause")],
    ),
    asks(
        "Stop or start the rotation",
        |_, _| Ok(DeviceCall::of(Request::TogglePause)),
        &[old("/api/action/pause")],
    )
    .called("toggle"),
    asks(
        "Start the rotation anew",
        |_, _| Ok(DeviceCall::of(Request::RestartTimer)),
        &[
            post("/api/action/timer_restart"),
            old("/api/action/timer_restart"),
        ],
    ),
    asks(
        "Refresh all panels fully",
        |_, _| Ok(DeviceCall::of(Request::FullRefresh)),
        &[post("/api/full_refresh"), old("/api/full_refresh")],
    ),
    asks(
        "Act as if a zap had come in",
        simulate_zap,
        &[post("/api/action/simulate_zap")],
    )
    .may_take(received::<ZapRequest>()),
];

fn screen(given: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let number = match &given.in_path {
        Some(part) => part.parse().map_err(|_| "unknown screen id"),
        None => given.number("s").ok_or("missing s"),
    };
    let number = number.map_err(Answer::bad_request)?;
    Ok(DeviceCall::of(Request::ShowScreen(number)))
}

fn currency(given: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let not_found = |reason| Answer::error(404, reason);
    let code = given.in_path.as_deref().or_else(|| given.text(&["c"]));
    let code = code.ok_or_else(|| not_found("missing c"))?;
    let currency = Currency::parse(&code.to_ascii_uppercase());
    let currency = currency.ok_or_else(|| not_found("currency not active"))?;
    Ok(DeviceCall::of(Request::ShowCurrency(currency)))
}

fn text(given: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let text = given
        .in_path
        .as_deref()
        .or_else(|| given.text(&["t", "text"]));
    let text: String = text
        .ok_or_else(|| Answer::bad_request("missing_text"))?
        .into();
    Ok(DeviceCall::of(Request::ShowText(text)))
}

/// Reads `["a", …]` or `{"cells": ["a", …], "digitPx": n}`.
fn custom(given: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let value = match &given.body {
        RequestBody::Json(value) => value,
        RequestBody::Missing => return Err(Answer::bad_request("bad body")),
        RequestBody::NotJson => return Err(Answer::bad_request("bad_json")),
    };
    let sized = match value {
        Value::Array(_) => Vec::deserialize(value).ok().map(SizedTexts::of),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            documents::object(value)
        }
    };
    let SizedTexts { cells, digit_px } = sized.ok_or_else(|| Answer::bad_request("bad_json"))?;
    let digit_px = digit_px
        .and_then(|CutNumber(px)| u32::try_from(px).ok())
        .filter(|px| GLYPH_PX.contains(px));
    Ok(DeviceCall::of(Request::ShowCustom { cells, digit_px }))
}

/// What the body does not say is made up.
fn simulate_zap(given: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let zap: ZapRequest = given.object().unwrap_or_default();
    let CutNumber(amount) = zap.amount_sats.unwrap_or(CutNumber(21_000));
    let mut message = zap.message.unwrap_or_else(|| "test zap".into());
    message.truncate(message.floor_char_boundary(ZAP_MESSAGE_MAX));
    Ok(DeviceCall::of(Request::SimulateZap(Zap {
        amount: Sats(amount.max(0).unsigned_abs()),
        message,
    })))
}
