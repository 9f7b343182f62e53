//! The panels as PNG images.

use api::{
    answer::Answer, device_call::refusal_answer, limits::CUSTOM_BODY_MAX, operations,
    parameters::Parameters,
};
use bytes::Bytes;
use device::{frames::PreviewedScreen, limits::PATCH_BODY_MAX, request::Patch};
use http::{HeaderValue, StatusCode, header::CACHE_CONTROL};
use render::{Bitmap, BoardPainter, png};
use runtime::panels::PanelsSnapshot;
use tokio::task::spawn_blocking;

use super::{
    call::{Call, ReceivedBody},
    etag,
    response::{self, Response},
};

/// The requested scale; `None` if it is out of range.
fn scale(call: &Call) -> Option<u32> {
    let scale = call.query("scale").map_or(Ok(1), |scale| scale.parse());
    scale
        .ok()
        .filter(|scale| (1..=png::SCALE_MAX).contains(scale))
}

/// Preview of all panels after a change of settings, on the requested screen.
pub async fn settings_preview(mut call: Call) -> Response {
    let patch = match sent_patch(&mut call).await {
        Ok(patch) => patch,
        Err(refusal) => return refusal,
    };
    let screen = match call.query("s").map(|screen| screen.parse()) {
        None => PreviewedScreen::Current,
        Some(Ok(number)) => PreviewedScreen::Screen(number),
        Some(Err(_)) => return response::bad_request("unknown screen id"),
    };
    preview(&call, patch, screen).await
}

/// The change of settings that the body of a preview is.
///
/// # Errors
/// The response to a body that is no change.
pub async fn sent_patch(call: &mut Call) -> Result<Patch, Response> {
    let body = parameters(call, PATCH_BODY_MAX).await.settings_patch();
    let body = body.map_err(|rejection| response::from_answer(Answer::rejected(&rejection)))?;
    // Passwords do not affect pictures, so they are not hashed here.
    Ok(Patch {
        body,
        ..Patch::default()
    })
}

/// Preview of all panels with a custom text.
pub async fn text_preview(mut call: Call) -> Response {
    match operations::text_per_panel(&parameters(&mut call, CUSTOM_BODY_MAX).await) {
        Ok((texts, px)) => {
            let screen = PreviewedScreen::Custom(texts, px);
            preview(&call, Patch::default(), screen).await
        }
        Err(refusal) => response::from_answer(refusal),
    }
}

async fn parameters(call: &mut Call, body_max: usize) -> Parameters {
    match call.body(body_max).await {
        ReceivedBody::Complete(bytes) => Parameters::body(&bytes),
        ReceivedBody::Empty | ReceivedBody::TooLarge | ReceivedBody::Incomplete => {
            Parameters::default()
        }
    }
}

/// Preview of all panels, rendered by a painter of its own.
async fn preview(call: &Call, patch: Patch, screen: PreviewedScreen) -> Response {
    let Some(scale) = scale(call) else {
        return response::bad_request("scale out of range");
    };
    let Ok(_permit) = call.state.previews_rendering.acquire().await else {
        return response::error(StatusCode::SERVICE_UNAVAILABLE, "stopping");
    };
    let now = call.state.services.clock.now();
    let picture = match call.view.preview(&patch, &screen, now) {
        Ok(picture) => picture,
        Err(refusal) => return response::from_answer(refusal_answer(refusal)),
    };
    let board = call.view.board;
    let rendered = spawn_blocking(move || {
        let bitmaps = BoardPainter::new(&board).paint_all(&picture);
        png::side_by_side(&bitmaps, scale)
    });
    match rendered.await {
        Ok(bytes) => response::bytes(HeaderValue::from_static("image/png"), bytes.into()),
        Err(_) => response::error(StatusCode::SERVICE_UNAVAILABLE, "not drawn"),
    }
}

/// All panels side by side.
pub fn all(call: &Call) -> Response {
    let Some(scale) = scale(call) else {
        return response::bad_request("scale out of range");
    };
    let glass = call.state.glass();
    image_response(
        call,
        tag(glass.panels.iter().map(|panel| &*panel.bitmap), scale),
        || {
            call.state
                .panels_image
                .get(&glass, scale.into(), || side_by_side(&glass, scale))
        },
    )
}

fn side_by_side(glass: &PanelsSnapshot, scale: u32) -> Bytes {
    let bitmaps: Vec<Bitmap> = glass
        .panels
        .iter()
        .map(|panel| Bitmap::clone(&panel.bitmap))
        .collect();
    png::side_by_side(&bitmaps, scale).into()
}

pub fn one(call: &Call) -> Response {
    let glass = call.state.glass();
    let index: Option<usize> = call.param.as_deref().and_then(|index| index.parse().ok());
    match index.and_then(|index| glass.panels.get(index)) {
        Some(panel) => image_response(call, tag([&*panel.bitmap], 1), || {
            png::panel(&panel.bitmap).into()
        }),
        None => response::not_found(),
    }
}

fn image_response(call: &Call, tag: HeaderValue, encode: impl FnOnce() -> Bytes) -> Response {
    let mut response = etag::versioned(call.headers(), tag, || {
        response::bytes(HeaderValue::from_static("image/png"), encode())
    });
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// Entity tag of an image, made of its content.
fn tag<'a>(bitmaps: impl IntoIterator<Item = &'a Bitmap>, scale: u32) -> HeaderValue {
    let mut hasher = crc32fast::Hasher::new();
    let mut bytes = 0;
    for bitmap in bitmaps {
        hasher.update(&bitmap.width().to_le_bytes());
        hasher.update(bitmap.rows());
        bytes += bitmap.rows().len();
    }
    etag::tag(&format!("{:08x}-{bytes}-{scale}", hasher.finalize()))
}
