//! Remote displays: operations for their owner. `trmnl` has the operations of the displays, `headers` parses their headers.

mod headers;
pub mod trmnl;

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use api::{
    device_call::refusal_answer,
    documents::displays::{DisplayList, RemoteDisplay, ShownTiles},
    limits::SMALL_BODY_MAX,
};
use device::{
    canvas::{CanvasSpec, Depth},
    displays::{
        DISPLAYS_MAX, Display, DisplayChange, DisplayPicture, DisplayRequest, DisplayState,
        IdBytes, TokenDigest,
    },
    request::Request,
};
use http::StatusCode;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{
    call::{Call, ReceivedBody},
    canvas,
    drawings::{ImageFile, ImageFormat},
    proxy::RequestSource,
    response::{self, Response},
    state::ServerState,
};

/// Random bytes of a token.
const TOKEN_BYTES: usize = 16;

/// Which part of its board each display shows, by the id of the display.
#[derive(Debug, Default)]
pub struct ShownBoards(Mutex<BTreeMap<String, (CanvasSpec, ShownTiles)>>);

impl ShownBoards {
    fn insert(&self, displays: &[DisplayState], display: &Display, tiles: ShownTiles) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shown.retain(|id, _| displays.iter().any(|state| state.display.id == *id));
        shown.insert(display.id.clone(), (display.canvas, tiles));
    }

    /// A display in the list; a picture of another size or layout does not count.
    fn listed(&self, state: &DisplayState, uptime: Duration) -> RemoteDisplay {
        let shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = shown.get(&state.display.id);
        let same = newest.filter(|(canvas, _)| *canvas == state.display.canvas);
        RemoteDisplay {
            tiles: same.map(|(_, tiles)| *tiles),
            ..RemoteDisplay::of(state, uptime)
        }
    }
}

pub fn list(call: &Call) -> Response {
    let (boards, uptime) = (&call.state.shown_boards, call.state.uptime());
    let displays = call.view.displays.iter();
    response::json(&DisplayList {
        displays: displays.map(|state| boards.listed(state, uptime)).collect(),
        max: DISPLAYS_MAX,
    })
}

/// Adds a display. The response has its token.
pub async fn add(mut call: Call) -> Response {
    let change = match read_change(&mut call).await {
        Ok(change) => change,
        Err(refusal) => return refusal,
    };
    let Some((token, id)) = new_token().zip(new_id()) else {
        return no_random_numbers();
    };
    let token_digest = digest(&token);
    let request = DisplayRequest::Add(token_digest, id, change);
    match changed(&call.state, request, |display| {
        display.token == token_digest
    })
    .await
    {
        Ok(state) => response::json(&RemoteDisplay {
            token: Some(token),
            ..RemoteDisplay::of(&state, call.state.uptime())
        }),
        Err(refusal) => refusal,
    }
}

/// Changes or approves a display.
pub async fn change(mut call: Call) -> Response {
    let change = match read_change(&mut call).await {
        Ok(change) => change,
        Err(refusal) => return refusal,
    };
    let id = call.param.take().unwrap_or_default();
    let request = DisplayRequest::Change(id.clone(), change);
    match changed(&call.state, request, |display| display.id == id).await {
        Ok(state) => response::json(&call.state.shown_boards.listed(&state, call.state.uptime())),
        Err(refusal) => refusal,
    }
}

pub async fn remove(call: Call) -> Response {
    let id = call.param.clone().unwrap_or_default();
    match send(&call.state, DisplayRequest::Remove(id)).await {
        Ok(()) => response::done(),
        Err(refusal) => refusal,
    }
}

/// The picture that a display would get now.
pub async fn preview(call: Call) -> Response {
    let id = call.param.as_deref().unwrap_or_default();
    let mut states = call.view.displays.iter();
    match states.find(|state| state.display.id == id) {
        Some(state) => newest(&call, state).await,
        None => response::error(StatusCode::NOT_FOUND, "unknown display"),
    }
}

async fn newest(call: &Call, state: &DisplayState) -> Response {
    match draw(call, state).await {
        Ok((_, drawing)) => canvas::image(call, &drawing, ImageFormat::Png),
        Err(refusal) => refusal,
    }
}

async fn read_change(call: &mut Call) -> Result<DisplayChange, Response> {
    match read_json(call, SMALL_BODY_MAX).await? {
        Value::Object(members) => {
            DisplayChange::parse(&members).map_err(|reason| response::bad_request(&reason))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(response::bad_request("the body must be a JSON object"))
        }
    }
}

/// Reads a body of at most `max` bytes as JSON.
async fn read_json(call: &mut Call, max: usize) -> Result<Value, Response> {
    let not_json = || response::bad_request("the body must be JSON");
    match call.body(max).await {
        ReceivedBody::Complete(bytes) => device::json::parse(&bytes).ok_or_else(not_json),
        ReceivedBody::TooLarge => Err(response::error(
            StatusCode::PAYLOAD_TOO_LARGE,
            &format!("the body must have at most {max} bytes"),
        )),
        ReceivedBody::Empty | ReceivedBody::Incomplete => Err(not_json()),
    }
}

/// Sends a request about a display to the device.
async fn send(state: &ServerState, request: DisplayRequest) -> Result<(), Response> {
    let reply = state.request(Request::Display(request)).await?;
    match reply {
        Ok(_) => Ok(()),
        Err(refusal) => Err(response::from_answer(refusal_answer(refusal))),
    }
}

/// Sends a request about a display, and returns the display after it.
async fn changed(
    state: &ServerState,
    request: DisplayRequest,
    is_it: impl Fn(&Display) -> bool,
) -> Result<DisplayState, Response> {
    send(state, request).await?;
    let view = state.view();
    let state = view.displays.iter().find(|state| is_it(&state.display));
    state.cloned().ok_or_else(response::not_found)
}

/// Composes and draws the picture of a display; with fewer greys if its file would be too large for the display.
async fn draw(call: &Call, state: &DisplayState) -> Result<(DisplayPicture, ImageFile), Response> {
    let (view, now) = (call.state.view(), call.state.services.clock.now());
    let composed = view.display_picture(state, &page(call), now);
    let mut picture = composed.map_err(|refusal| response::from_answer(refusal_answer(refusal)))?;
    picture.frame = (call.state.frame_times).keep(picture.frame, view.settings.zone());
    let _permit = if picture.is_approved {
        None
    } else {
        let permit = call.state.waiting_drawings.acquire().await;
        Some(permit.map_err(|_| not_drawn())?)
    };
    let bytes_max = headers::file_bytes_max(&state.report.contact);
    let mut spec = picture.display.canvas;
    let bits = spec.depth.bits();
    let mut lower = Depth::ALL
        .into_iter()
        .rev()
        .filter(|depth| depth.bits() < bits);
    let drawing = loop {
        let frame = Box::new(picture.frame.clone());
        let drawing = call.state.drawings.draw(frame, spec, ImageFormat::Png);
        let drawing = drawing.await.ok_or_else(not_drawn)?;
        let is_too_large = bytes_max.is_some_and(|max| drawing.bytes.len() > max);
        match lower.next().filter(|_| is_too_large) {
            Some(depth) => spec.depth = depth,
            None => break drawing,
        }
    };
    if let Some(tiles) = drawing.tiles.filter(|_| picture.is_approved) {
        let boards = &call.state.shown_boards;
        boards.insert(&view.displays, &picture.display, tiles);
    }
    Ok((picture, drawing))
}

/// Address under which the client reaches the clock.
fn base(call: &Call) -> &str {
    let source = call.parts.extensions.get::<RequestSource>();
    source.map_or("", |source| source.base.0.as_str())
}

/// Address of the section of the page that approves displays.
fn page(call: &Call) -> String {
    format!("{}/care/screens", base(call))
}

/// A new token. `None` if the host has no random numbers.
fn new_token() -> Option<String> {
    passwords::random::<TOKEN_BYTES>().ok().map(hex::encode)
}

/// Random bytes for the id of a new display. `None` if the host has no random numbers.
fn new_id() -> Option<IdBytes> {
    passwords::random().ok()
}

fn digest(token: &str) -> TokenDigest {
    TokenDigest::new(Sha256::digest(token).into())
}

fn no_random_numbers() -> Response {
    response::error(StatusCode::SERVICE_UNAVAILABLE, "no random numbers")
}

fn not_drawn() -> Response {
    response::error(StatusCode::SERVICE_UNAVAILABLE, "not drawn")
}
