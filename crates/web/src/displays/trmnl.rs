//! The protocol of TRMNL ("bring your own server"), which its devices and many other clients use.
//!
//! Some clients send no headers when they fetch a picture, so its address has a key for this picture of this display.

use std::ops::RangeInclusive;

use api::{
    device_call::refusal_answer,
    documents::displays::{TrmnlDisplay, TrmnlScreen, TrmnlSetup},
    limits::DISPLAY_LOG_BODY_MAX,
};
use device::displays::{
    Display, DisplayContent, DisplayLogLine, DisplayRequest, DisplayState, LOG_LINES_MAX,
    LOG_MESSAGE_MAX, REPORT_TEXT_MAX, RotationStep, TokenDigest,
};
use device::request::Refusal;
use http::StatusCode;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::headers;
use crate::{
    call::Call,
    canvas, displays,
    drawings::{ImageFile, ImageFormat},
    response::{self, Response},
};

/// Status of the protocol: the display has a token.
const SET_UP: u16 = 200;

/// Status of the protocol: there is a picture. A display that waits gets one as well: its firmware would not load the picture
/// at 202, the status of an unknown display.
const SHOWN: u16 = 0;

/// Status of the protocol: the picture of a display.
const CURRENT: u16 = 200;

/// Time that a display waits for a picture, s.
const PICTURE_TIMEOUT: u32 = 15;

/// Times of log lines, s since 1970-01-01 UTC: those with four digits for the year.
const LOG_TIMES: RangeInclusive<i64> = 0..=253_402_300_799;

/// Longest message to a display that is set up, bytes.
const MESSAGE_MAX: usize = 127;

/// What a press of the button does on a display with its own rotation. It answers every press: the display compares it with
/// the function that it had stored, and shows nothing if they differ.
const RESTART_ROTATION: &str = "restart_playlist";

/// What a press of the button does on other displays.
const NO_FUNCTION: &str = "none";

/// Starts the key in the address of a picture, so that the key cannot be the hash of anything else.
const KEY_CONTEXT: &[u8] = b"papertick picture of a remote display\0";

/// Length of that key, bytes.
const KEY_BYTES: usize = 16;

/// Registers a display: returns its token. The display waits for approval.
pub async fn set_up(call: Call) -> Response {
    let contact = headers::contact(&call);
    if contact.mac.is_none() {
        return response::bad_request("the header ID must have the hardware address");
    }
    let Some((token, id)) = displays::new_token().zip(displays::new_id()) else {
        return displays::no_random_numbers();
    };
    let token_digest = displays::digest(&token);
    let request = DisplayRequest::Contact {
        token: token_digest,
        id,
        contact,
        step: RotationStep::Stay,
    };
    let is_it = |display: &Display| display.token == token_digest;
    let state = match displays::changed(&call.state, request, is_it).await {
        Ok(state) => state,
        // The firmware shows that the display is not registered, and retries after a while.
        Err(refusal) if refusal.status() == StatusCode::CONFLICT => {
            return response::error(StatusCode::NOT_FOUND, "too many displays");
        }
        Err(refusal) => return refusal,
    };
    let id = state.display.id;
    let mut message = format!("Approve display {id} at {}", displays::page(&call));
    message.truncate(message.floor_char_boundary(MESSAGE_MAX));
    response::json(&TrmnlSetup {
        status: SET_UP,
        api_key: token,
        image_url: address(&call, token_digest, "setup"),
        friendly_id: id,
        message,
    })
}

/// Responds with the picture of a display and the time to its return.
pub async fn display(call: Call) -> Response {
    let Some(token) = headers::token(call.headers()).map(displays::digest) else {
        return no_token();
    };
    let Some(id) = displays::new_id() else {
        return displays::no_random_numbers();
    };
    let is_pressed = call.header("special_function") == Some("true");
    let request = DisplayRequest::Contact {
        token,
        id,
        contact: headers::contact(&call),
        step: if is_pressed { RotationStep::First } else { RotationStep::Next },
    };
    let is_it = |display: &Display| display.token == token;
    let drawn = match displays::changed(&call.state, request, is_it).await {
        Ok(state) => displays::draw(&call, &state).await,
        Err(refusal) => return refusal,
    };
    let (picture, drawing) = match drawn {
        Ok(drawn) => drawn,
        Err(refusal) => return refusal,
    };
    let special_function = match picture.display.content {
        DisplayContent::Rotation => RESTART_ROTATION,
        DisplayContent::Clock | DisplayContent::Screen => NO_FUNCTION,
    };
    let filename = filename(&drawing);
    response::json(&TrmnlDisplay {
        status: SHOWN,
        image_url: address(&call, token, &filename),
        image_url_timeout: PICTURE_TIMEOUT,
        filename,
        refresh_rate: picture.returns_in.as_secs(),
        update_firmware: false,
        firmware_url: None,
        firmware_version: None,
        reset_firmware: false,
        special_function,
        action: is_pressed.then_some(RESTART_ROTATION),
        maximum_compatibility: false,
        temperature_profile: "default",
    })
}

/// Responds with what a display shows. Its own rotation does not move.
pub async fn current_screen(call: Call) -> Response {
    let Some(token) = headers::token(call.headers()).map(displays::digest) else {
        return no_token();
    };
    let mut states = call.view.displays.iter();
    let Some(state) = states.find(|state| state.display.token == token) else {
        return response::from_answer(refusal_answer(Refusal::UnknownDisplay));
    };
    let (picture, drawing) = match displays::draw(&call, state).await {
        Ok(drawn) => drawn,
        Err(refusal) => return refusal,
    };
    let filename = filename(&drawing);
    response::json(&TrmnlScreen {
        status: CURRENT,
        refresh_rate: picture.returns_in.as_secs(),
        image_url: address(&call, token, &filename),
        filename,
        rendered_at: None,
    })
}

/// Stores log lines of a display.
pub async fn log(mut call: Call) -> Response {
    let Some(secret) = headers::token(call.headers()).map(String::from) else {
        return no_token();
    };
    let token = displays::digest(&secret);
    let body = match displays::read_json(&mut call, DISPLAY_LOG_BODY_MAX).await {
        Ok(body) => body,
        Err(refusal) => return refusal,
    };
    let lines = match (body["logs"].as_array(), body["log"].as_array()) {
        (Some(lines), _) | (None, Some(lines)) => lines,
        (None, None) => return response::bad_request("the body must have logs or log, a list"),
    };
    let first = lines.len().saturating_sub(LOG_LINES_MAX);
    let lines = lines.iter().skip(first);
    let lines = lines.map(|line| log_line(line, &secret)).collect();
    match displays::send(&call.state, DisplayRequest::Log(token, lines)).await {
        Ok(()) => response::empty(StatusCode::NO_CONTENT),
        Err(refusal) => refusal,
    }
}

/// A picture that was announced to a display, or the newest one of the display if that is not kept any more.
pub async fn picture(call: Call) -> Response {
    let part = call.param.as_deref().unwrap_or_default();
    let (key, filename) = part.split_once('-').unwrap_or_default();
    let mut states = call.view.displays.iter();
    let is_announced =
        |state: &&DisplayState| picture_key(&call, state.display.token, filename) == key;
    let Some(state) = states.find(is_announced) else {
        return response::error(StatusCode::NOT_FOUND, "unknown picture");
    };
    let name = filename.strip_prefix(NAME_PREFIX).unwrap_or_default();
    match call.state.drawings.find(name).await {
        Some(drawing) => canvas::image(&call, &drawing, ImageFormat::Png),
        None => displays::newest(&call, state).await,
    }
}

/// Starts the name of a picture. A display keeps pictures by name, and takes some other names for commands.
const NAME_PREFIX: &str = "pt-";

fn filename(drawing: &ImageFile) -> String {
    format!("{NAME_PREFIX}{}", drawing.name)
}

fn address(call: &Call, token: TokenDigest, filename: &str) -> String {
    let (base, key) = (displays::base(call), picture_key(call, token, filename));
    format!("{base}/display/{key}-{filename}.png")
}

/// Key in the address of a picture of a display. It is made with a secret, because a display knows its token and could make
/// the keys of other names.
fn picture_key(call: &Call, token: TokenDigest, filename: &str) -> String {
    let hash = Sha256::new()
        .chain_update(call.state.secret)
        .chain_update(KEY_CONTEXT)
        .chain_update(token.expose())
        .chain_update(filename);
    let mut key = hex::encode(hash.finalize());
    key.truncate(2 * KEY_BYTES);
    key
}

/// A line of a log, without the token of the display, which may log its own requests.
fn log_line(line: &Value, token: &str) -> DisplayLogLine {
    let text = |value: &Value, max: usize| {
        let text = value.as_str().unwrap_or_default().replace(token, "***");
        let text = &text[..text.floor_char_boundary(max)];
        text.replace(char::is_control, " ")
    };
    if line.is_string() {
        return DisplayLogLine {
            unix_s: None,
            level: "info".into(),
            message: text(line, LOG_MESSAGE_MAX),
        };
    }
    DisplayLogLine {
        unix_s: line["created_at"]
            .as_i64()
            .filter(|time| LOG_TIMES.contains(time)),
        level: match line["level"].as_str() {
            Some(_) => text(&line["level"], REPORT_TEXT_MAX),
            None => "error".into(),
        },
        message: text(&line["message"], LOG_MESSAGE_MAX),
    }
}

fn no_token() -> Response {
    response::error(
        StatusCode::UNAUTHORIZED,
        "the header Access-Token must have a token of 16 to 128 letters, digits or signs of ASCII, without spaces",
    )
}
