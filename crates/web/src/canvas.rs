//! The clock as a picture of any size.

use std::{
    collections::BTreeMap,
    ops::RangeInclusive,
    sync::{Mutex, PoisonError},
};

use api::{device_call::refusal_answer, documents::displays::ShownTiles};
use device::{
    canvas::{CanvasSpec, Depth, HEIGHTS, Layout, Turn, WIDTHS, bounded, chosen},
    cells::Cell,
    frames::{Frame, FrameContent},
    glass::rotation::RotationSlot,
    request::Refusal,
};
use http::{HeaderName, HeaderValue, StatusCode, header::CACHE_CONTROL};
use market::now::{UtcTime, Zone};

use super::{
    call::Call,
    drawings::{ImageFile, ImageFormat},
    etag, panels,
    response::{self, Response},
    state::ServerState,
};

/// Size of a picture if none is requested, px.
pub const SIZE: (u32, u32) = (800, 480);

/// Greys of a picture if none are requested.
const DEPTH: Depth = Depth::Four;

/// How many screens of a board the picture shows, such as `5 of 8`.
const TILES: HeaderName = HeaderName::from_static("papertick-tiles");

/// `GET /api/frame.png`.
pub async fn png(call: Call) -> Response {
    frame(call, ImageFormat::Png).await
}

/// `GET /api/frame.bmp`.
pub async fn bmp(call: Call) -> Response {
    frame(call, ImageFormat::Bmp).await
}

async fn frame(call: Call, format: ImageFormat) -> Response {
    let (content, spec) = match (content(&call), spec(&call, SIZE)) {
        (Ok(content), Ok(spec)) => (content, spec),
        (Err(reason), _) | (_, Err(reason)) => return response::bad_request(&reason),
    };
    draw(
        &call,
        compose(&call.state, content, spec.layout),
        spec,
        format,
    )
    .await
}

/// `POST /api/frame.png`: the picture after a change of settings, which is not stored.
pub async fn preview(mut call: Call) -> Response {
    let patch = match panels::sent_patch(&mut call).await {
        Ok(patch) => patch,
        Err(refusal) => return refusal,
    };
    let (content, spec) = match (content(&call), spec(&call, SIZE)) {
        (Ok(content), Ok(spec)) => (content, spec),
        (Err(reason), _) | (_, Err(reason)) => return response::bad_request(&reason),
    };
    let now = call.state.services.clock.now();
    let frame = (call.view).preview_frame(&patch, content, spec.layout, now);
    draw(&call, frame.map(Box::new), spec, ImageFormat::Png).await
}

async fn draw(
    call: &Call,
    frame: Result<Box<Frame>, Refusal>,
    spec: CanvasSpec,
    format: ImageFormat,
) -> Response {
    let frame = match frame {
        Ok(frame) => frame,
        Err(refusal) => return response::from_answer(refusal_answer(refusal)),
    };
    match call.state.drawings.draw(frame, spec, format).await {
        Some(drawing) => image(call, &drawing, format),
        None => response::error(StatusCode::SERVICE_UNAVAILABLE, "not drawn"),
    }
}

/// The picture of this content in this layout.
///
/// # Errors
/// There is no such screen, or its feature is off.
pub fn compose(
    state: &ServerState,
    content: FrameContent,
    layout: Layout,
) -> Result<Box<Frame>, Refusal> {
    let view = state.view();
    let frame = view.frame(content, layout, state.services.clock.now())?;
    let kept = state.frame_times.keep(frame, view.settings.zone());
    Ok(Box::new(kept))
}

/// Times in the captions of frames. An unchanged value keeps its time, so that the picture stays equal while sources
/// repeat the value.
#[derive(Debug, Default)]
pub struct FrameTimes(Mutex<BTreeMap<RotationSlot, KnownSince>>);

/// The cells of a frame, and when the clock learned their value.
type KnownSince = (Vec<Cell>, Option<UtcTime>);

impl FrameTimes {
    /// The frame with the time of the first frame that showed the same.
    pub fn keep(&self, mut frame: Frame, zone: &Zone) -> Frame {
        let Some(slot) = frame.slot else {
            return frame;
        };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = (kept.get(&slot)).filter(|(cells, _)| *cells == frame.picture.cells);
        let since = same.and_then(|(_, since)| *since).or(frame.since);
        frame.set_since(since, zone);
        kept.insert(slot, (frame.picture.cells.clone(), since));
        frame
    }
}

/// The response with a drawing, or 304 if the client has it.
pub fn image(call: &Call, drawing: &ImageFile, format: ImageFormat) -> Response {
    let mut response = etag::versioned(call.headers(), drawing.tag.clone(), || {
        response::bytes(format.content_type(), drawing.bytes.clone())
    });
    let no_cache = HeaderValue::from_static("no-cache");
    response.headers_mut().insert(CACHE_CONTROL, no_cache);
    let words = (drawing.tiles).map(|ShownTiles { shown, of }| format!("{shown} of {of}"));
    if let Some(Ok(tiles)) = words.map(HeaderValue::try_from) {
        response.headers_mut().insert(TILES, tiles);
    }
    response
}

/// The requested content.
///
/// # Errors
/// A sentence that names the parameter.
pub fn content(call: &Call) -> Result<FrameContent, String> {
    match call.query("screen").filter(|screen| !screen.is_empty()) {
        None => Ok(FrameContent::Follow),
        Some(screen) => match screen.parse() {
            Ok(id) => Ok(FrameContent::Screen(id)),
            Err(_) => Err("screen must be the id of a screen".into()),
        },
    }
}

/// The requested size and form, `size` if none is requested.
///
/// # Errors
/// A sentence that names the parameter and its bounds.
pub fn spec(call: &Call, size: (u32, u32)) -> Result<CanvasSpec, String> {
    let side = |name: &str, default: u32, bounds: &RangeInclusive<u32>| {
        let sent = call
            .query(name)
            .map_or(Some(default), |text| text.parse().ok());
        bounded(name, sent, bounds)
    };
    Ok(CanvasSpec {
        width: side("width", size.0, &WIDTHS)?,
        height: side("height", size.1, &HEIGHTS)?,
        turn: choice(call, "rotate", &Turn::choices())?.unwrap_or_default(),
        depth: choice(call, "depth", &Depth::choices())?.unwrap_or(DEPTH),
        layout: choice(call, "layout", &Layout::choices())?.unwrap_or_default(),
        dark: switch(call, "dark")?,
    })
}

/// The value of a word in the query. `None` without the parameter.
fn choice<T: Copy>(call: &Call, name: &str, choices: &[(String, T)]) -> Result<Option<T>, String> {
    let sent = call.query(name);
    let sent = sent.as_deref();
    sent.map(|word| chosen(name, Some(word), choices))
        .transpose()
}

/// A switch in the query; a name without a value switches it on, too.
fn switch(call: &Call, name: &str) -> Result<Option<bool>, String> {
    match call.query(name).as_deref() {
        None => Ok(None),
        Some("" | "true" | "1") => Ok(Some(true)),
        Some("false" | "0") => Ok(Some(false)),
        Some(_) => Err(format!("{name} must be true or false")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use device::{Device, memory::Memory, settings::Settings};
    use market::now::Now;

    use super::*;

    #[test]
    fn an_unchanged_value_keeps_its_time_in_the_zone_of_the_owner() {
        let now = Now {
            uptime: Duration::ZERO,
            utc: None,
        };
        let board = board::spec::BOARDS[0];
        let device = Device::new(board, Settings::default(), Memory::default(), now);
        let frame = device
            .view()
            .frame(FrameContent::Screen(0), Layout::Auto, now);
        let frame = frame.expect("screen 0 is on");
        let times = FrameTimes::default();
        let noon = UtcTime::plausible(1_800_014_400_000);
        let later = UtcTime::plausible(1_800_014_460_000);
        let tokyo = Zone::named("Asia/Tokyo").expect("a zone");
        for (since, zone, expected) in [
            (None, Zone::utc(), "Block Height"),
            (noon, Zone::utc(), "Block Height, 12:00"),
            (later, Zone::utc(), "Block Height, 12:00"),
            (later, tokyo, "Block Height, 21:00"),
        ] {
            let frame = Frame {
                since,
                ..frame.clone()
            };
            assert_eq!(times.keep(frame, &zone).caption, expected);
        }
    }
}
