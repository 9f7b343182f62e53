//! Operations that choose what the panels show.

use alloc::{string::String, vec::Vec};

use device::{request::Request, view::View};
use market::{
    Zap,
    units::{Currency, Sats},
};
use serde::Deserialize;
use serde_json::Value;

use super::{
    params::{SCALE, param},
    responses::{BAD_REQUEST, OK, UNAVAILABLE},
};
use crate::{
    answer::Answer,
    device_call::DeviceCall,
    documents::{
        self, ErrorBody, TruncatedNumber,
        screens::{
            CurrencyChoice, PanelText, ScreenChoice, ScreenOrPlace, SizedTexts, TextPerPanel,
            ZapRequest,
        },
    },
    limits::{CUSTOM_BODY_MAX, GLYPH_PX, TEXT_BODY_MAX, ZAP_MESSAGE_MAX},
    operation::{Operation, Param, by_device, by_program, deprecated_get, post},
    parameters::{Parameters, RequestBody},
    shape::{Shape, received, sent},
};

const SCREEN: &[Param] = &[param(
    "s",
    received::<ScreenOrPlace>(),
    "Id of the screen, or its place in the rotation.",
)];
const CURRENCY: &[Param] = &[param("c", received::<String>(), "ISO 4217 code.")];
const TEXT: &[Param] = &[param("t", received::<String>(), "The text.")];

const SHOWN: &[(u16, Shape)] = &[OK, BAD_REQUEST, (409, sent::<ErrorBody>())];
const PRICED: &[(u16, Shape)] = &[OK, (404, sent::<ErrorBody>())];

pub(super) const OPERATIONS: &[Operation] = &[
    by_device(
        "Show a screen",
        screen,
        &[
            post("/api/show/screen").query(SCREEN),
            deprecated_get("/api/show/screen/{id}")
                .path_parameter(received::<ScreenOrPlace>())
                .default_value("1"),
        ],
    )
    .body_or_query(received::<ScreenChoice>())
    .answers(SHOWN),
    by_device(
        "Show prices in a currency",
        currency,
        &[
            post("/api/show/currency").query(CURRENCY),
            deprecated_get("/api/show/currency/{code}"),
        ],
    )
    .body_or_query(received::<CurrencyChoice>())
    .answers(PRICED),
    by_device(
        "Show a text, one character per panel",
        text,
        &[
            post("/api/show/text").query(TEXT),
            deprecated_get("/api/show/text/{text}").answers(&[OK]),
        ],
    )
    .body_or_query(received::<PanelText>())
    .body_max(TEXT_BODY_MAX)
    .answers(&[OK, BAD_REQUEST]),
    by_device("Show a text per panel", custom, &[post("/api/show/custom")])
        .body(received::<TextPerPanel>())
        .body_max(CUSTOM_BODY_MAX)
        .answers(&[OK, BAD_REQUEST]),
    by_program(
        "Draw the panels with a text per panel, without showing it",
        &[post("/api/show/preview.png").query(SCALE)],
    )
    .body(received::<TextPerPanel>())
    .body_max(CUSTOM_BODY_MAX)
    .answers(&[(200, Shape::Png), BAD_REQUEST, UNAVAILABLE]),
    by_device(
        "Show the next screen",
        |_, _| Ok(DeviceCall::new(Request::Next)),
        &[post("/api/screen/next")],
    ),
    by_device(
        "Show the previous screen",
        |_, _| Ok(DeviceCall::new(Request::Previous)),
        &[post("/api/screen/previous")],
    ),
    by_device(
        "Stop the rotation",
        |_, _| Ok(DeviceCall::new(Request::Pause)),
        &[post("/api/action/pause")],
    ),
    by_device(
        "Stop or start the rotation",
        |_, _| Ok(DeviceCall::new(Request::TogglePause)),
        &[deprecated_get("/api/action/pause")],
    )
    .command_words("toggle"),
    by_device(
        "Restart the period of the rotation",
        |_, _| Ok(DeviceCall::new(Request::RestartTimer)),
        &[
            post("/api/action/timer_restart"),
            deprecated_get("/api/action/timer_restart"),
        ],
    ),
    by_device(
        "Refresh all panels fully",
        |_, _| Ok(DeviceCall::new(Request::FullRefresh)),
        &[
            post("/api/full_refresh"),
            deprecated_get("/api/full_refresh"),
        ],
    ),
    by_device(
        "Clean all panels: turn them black and white several times",
        |_, _| Ok(DeviceCall::new(Request::CleanPanels)),
        &[post("/api/clean_panels")],
    ),
    by_device(
        "Simulate a zap",
        simulate_zap,
        &[post("/api/action/simulate_zap")],
    )
    .optional_body(received::<ZapRequest>()),
];

fn screen(parameters: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let number = match &parameters.path_value {
        Some(part) => part.parse().map_err(|_| "unknown screen id"),
        None => parameters.number("s").ok_or("missing s"),
    };
    let number = number.map_err(Answer::bad_request)?;
    Ok(DeviceCall::new(Request::ShowScreen(number)))
}

fn currency(parameters: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let not_found = |reason| Answer::error(404, reason);
    let code = parameters
        .path_value
        .as_deref()
        .or_else(|| parameters.text(&["c"]));
    let code = code.ok_or_else(|| not_found("missing c"))?;
    let currency = Currency::parse(&code.to_ascii_uppercase());
    let currency = currency.ok_or_else(|| not_found("currency not active"))?;
    Ok(DeviceCall::new(Request::ShowCurrency(currency)))
}

fn text(parameters: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let text = parameters
        .path_value
        .as_deref()
        .or_else(|| parameters.text(&["t", "text"]));
    let text: String = text
        .ok_or_else(|| Answer::bad_request("missing_text"))?
        .into();
    Ok(DeviceCall::new(Request::ShowText(text)))
}

fn custom(parameters: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let (cells, digit_px) = text_per_panel(&parameters)?;
    Ok(DeviceCall::new(Request::ShowCustom { cells, digit_px }))
}

/// Parses `["a", …]` or `{"cells": ["a", …], "digitPx": n}`.
///
/// # Errors
/// The answer to a body that is neither.
pub fn text_per_panel(parameters: &Parameters) -> Result<(Vec<String>, Option<u32>), Answer> {
    let value = match &parameters.body {
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
        .and_then(|TruncatedNumber(px)| u32::try_from(px).ok())
        .filter(|px| GLYPH_PX.contains(px));
    Ok((cells, digit_px))
}

/// Missing members of the body have defaults.
fn simulate_zap(parameters: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let zap: ZapRequest = parameters.object().unwrap_or_default();
    let TruncatedNumber(amount) = zap.amount_sats.unwrap_or(TruncatedNumber(21_000));
    let mut message = zap.message.unwrap_or_else(|| "test zap".into());
    message.truncate(message.floor_char_boundary(ZAP_MESSAGE_MAX));
    Ok(DeviceCall::new(Request::SimulateZap(Zap {
        amount: Sats(amount.max(0).unsigned_abs()),
        message,
    })))
}
