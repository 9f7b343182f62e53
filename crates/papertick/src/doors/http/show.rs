//! Operations that choose what the panels show.

use device::{
    market::Zap,
    request::Request,
    units::{Currency, Sats},
};
use http::StatusCode;
use serde_json::Value;

use super::{
    answer::{self, Response},
    call::{Call, Received, SMALL_BODY_MAX},
    control::ask,
    parse::whole_number,
};

/// Largest body with a text per panel, bytes.
const CUSTOM_BODY_MAX: usize = 8192;

/// Longest message of a simulated zap, bytes.
const ZAP_MESSAGE_MAX: usize = 256;

/// Shows a screen named by a body or the query.
pub(crate) async fn screen(mut call: Call) -> Response {
    match call.number("s", SMALL_BODY_MAX).await {
        Some(screen) => ask(&call.state, Request::ShowScreen(screen)).await,
        None => answer::bad_request("missing s"),
    }
}

/// Shows a screen named by the path.
pub(crate) async fn screen_in_path(call: Call) -> Response {
    match call.param.as_deref().unwrap_or_default().parse() {
        Ok(screen) => ask(&call.state, Request::ShowScreen(screen)).await,
        Err(_) => answer::bad_request("unknown screen id"),
    }
}

/// Shows prices in a currency named by a body or the query.
pub(crate) async fn currency(mut call: Call) -> Response {
    match call.text(&["c"], SMALL_BODY_MAX).await {
        Some(code) => show_currency(&call, &code).await,
        None => answer::error(StatusCode::NOT_FOUND, "missing c"),
    }
}

/// Shows prices in a currency named by the path.
pub(crate) async fn currency_in_path(call: Call) -> Response {
    show_currency(&call, call.param.as_deref().unwrap_or_default()).await
}

async fn show_currency(call: &Call, code: &str) -> Response {
    match Currency::parse(&code.to_ascii_uppercase()) {
        Some(currency) => ask(&call.state, Request::ShowCurrency(currency)).await,
        None => answer::error(StatusCode::NOT_FOUND, "currency not active"),
    }
}

/// Shows a text given by a body or the query.
pub(crate) async fn text(mut call: Call) -> Response {
    match call.text(&["t", "text"], SMALL_BODY_MAX).await {
        Some(text) => ask(&call.state, Request::ShowText(text)).await,
        None => answer::bad_request("missing_text"),
    }
}

/// Shows a text given by the path.
pub(crate) async fn text_in_path(mut call: Call) -> Response {
    let text = call.param.take().unwrap_or_default();
    ask(&call.state, Request::ShowText(text)).await
}

/// Shows a text per panel.
pub(crate) async fn custom(mut call: Call) -> Response {
    let body = match call.body(CUSTOM_BODY_MAX).await {
        Received::Whole(body) => body,
        Received::Nothing | Received::TooLarge | Received::Broken => {
            return answer::bad_request("bad body");
        }
    };
    match custom_request(&body) {
        Some(request) => ask(&call.state, request).await,
        None => answer::bad_request("bad_json"),
    }
}

/// Reads `["a", …]` or `{"cells": ["a", …], "digitPx": n}`.
fn custom_request(body: &[u8]) -> Option<Request> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let cells = value
        .as_array()
        .or_else(|| value.get("cells")?.as_array())?;
    let cells = cells
        .iter()
        .map(|cell| cell.as_str().map(ToString::to_string))
        .collect::<Option<_>>()?;
    let digit_px = value
        .get("digitPx")
        .and_then(whole_number)
        .and_then(|px| u32::try_from(px).ok())
        .filter(|px| (20..=220).contains(px));
    Some(Request::ShowCustom { cells, digit_px })
}

/// Acts as if a zap had come in; what the body does not say is made up.
pub(crate) async fn simulate_zap(mut call: Call) -> Response {
    let body = call.json(SMALL_BODY_MAX).await.unwrap_or_default();
    let amount = body
        .get("amount_sats")
        .and_then(whole_number)
        .unwrap_or(21_000);
    let message = body
        .get("message")
        .and_then(Value::as_str)
        .unwrap_or("test zap");
    let zap = Zap {
        amount: Sats(amount.max(0).unsigned_abs()),
        message: message[..message.floor_char_boundary(ZAP_MESSAGE_MAX)].to_string(),
    };
    ask(&call.state, Request::SimulateZap(zap)).await
}
