//! The panels as pictures.

use api::{answer::Answer, asked::refused, given::Parameters, limits::CUSTOM_BODY_MAX, operations};
use bytes::Bytes;
use device::{
    limits::PATCH_BODY_MAX,
    request::{Patch, Reply, Request},
};
use http::{HeaderValue, StatusCode, header::CACHE_CONTROL};
use render::{Bitmap, Painter, png};
use runtime::glass::DisplaySnapshot;
use tokio::task::spawn_blocking;

use super::{
    answer::{self, Response},
    call::{Call, Received},
    etag,
};

/// The scale that is asked for; none if no picture is drawn so large.
fn scale(call: &Call) -> Option<u32> {
    let scale = call.query("scale").map_or(Ok(1), |scale| scale.parse());
    scale
        .ok()
        .filter(|scale| (1..=png::SCALE_MAX).contains(scale))
}

/// All panels as they would be after a change of settings, on the screen that is asked for.
pub async fn changed(mut call: Call) -> Response {
    let body = match given(&mut call, PATCH_BODY_MAX).await.change() {
        Ok(body) => body,
        Err(rejection) => return answer::told(Answer::rejected(&rejection)),
    };
    // Nothing on the panels follows from a password, so that none need be hashed.
    let mut requests = Vec::from([Request::Patch(Patch {
        body,
        ..Patch::default()
    })]);
    if let Some(screen) = call.query("s") {
        match screen.parse() {
            Ok(number) => requests.push(Request::ShowScreen(number)),
            Err(_) => return answer::bad_request("unknown screen id"),
        }
    }
    preview(&call, requests).await
}

/// All panels as they would be with a text per panel.
pub async fn written(mut call: Call) -> Response {
    let given = given(&mut call, CUSTOM_BODY_MAX).await;
    match operations::command("show/custom", given, &call.view) {
        Ok(asked) => preview(&call, Vec::from([asked.request])).await,
        Err(refusal) => answer::told(refusal),
    }
}

async fn given(call: &mut Call, body_max: usize) -> Parameters {
    match call.body(body_max).await {
        Received::Whole(bytes) => Parameters::body(&bytes),
        Received::Nothing | Received::TooLarge | Received::Broken => Parameters::default(),
    }
}

/// All panels as they would be after these requests.
///
/// The device says what would be on them, and the painter of its panels draws it.
async fn preview(call: &Call, requests: Vec<Request>) -> Response {
    let Some(scale) = scale(call) else {
        return answer::bad_request("scale out of range");
    };
    let Ok(_turn) = call.state.drawing.acquire().await else {
        return answer::error(StatusCode::SERVICE_UNAVAILABLE, "stopping");
    };
    let picture = match call.state.ask(Request::Preview(requests)).await {
        Ok(Reply::Picture(picture)) => picture,
        Ok(Reply::Rejected(rejection)) => return answer::told(Answer::rejected(&rejection)),
        Ok(Reply::Refused(refusal)) => return answer::told(refused(refusal)),
        Ok(Reply::Done | Reply::Changed(_) | Reply::Lights(_) | Reply::Judged(_)) => {
            return answer::not_found();
        }
        Err(response) => return response,
    };
    let (width, height) = (call.view.board.panel_width, call.view.board.panel_height);
    let drawn = spawn_blocking(move || {
        let bitmaps = Painter::new(width, height).paint_all(&picture);
        png::side_by_side(&bitmaps, scale)
    });
    match drawn.await {
        Ok(bytes) => answer::bytes(HeaderValue::from_static("image/png"), bytes.into()),
        Err(_) => answer::error(StatusCode::SERVICE_UNAVAILABLE, "not drawn"),
    }
}

/// All panels side by side.
pub fn all(call: &Call) -> Response {
    let Some(scale) = scale(call) else {
        return answer::bad_request("scale out of range");
    };
    let glass = call.state.glass();
    picture(
        call,
        tag(glass.panels.iter().map(|panel| &*panel.bitmap), scale),
        || {
            call.state
                .pictures
                .get(&glass, scale.into(), |_| side_by_side(&glass, scale))
        },
    )
}

fn side_by_side(glass: &DisplaySnapshot, scale: u32) -> Bytes {
    let bitmaps: Vec<Bitmap> = glass
        .panels
        .iter()
        .map(|panel| Bitmap::clone(&panel.bitmap))
        .collect();
    png::side_by_side(&bitmaps, scale).into()
}

/// One panel.
pub fn one(call: &Call) -> Response {
    let glass = call.state.glass();
    let index: Option<usize> = call.param.as_deref().and_then(|index| index.parse().ok());
    match index.and_then(|index| glass.panels.get(index)) {
        Some(panel) => picture(call, tag([&*panel.bitmap], 1), || {
            png::panel(&panel.bitmap).into()
        }),
        None => answer::not_found(),
    }
}

fn picture(call: &Call, tag: HeaderValue, make: impl FnOnce() -> Bytes) -> Response {
    let mut response = if etag::is_known(call.headers(), &tag) {
        etag::not_modified(tag)
    } else {
        etag::tagged(
            answer::bytes(HeaderValue::from_static("image/png"), make()),
            tag,
        )
    };
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// Names a picture by what is on it.
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
