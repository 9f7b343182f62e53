//! The panels as pictures.

use bytes::Bytes;
use http::{HeaderValue, header::CACHE_CONTROL};
use render::{Bitmap, png};

use super::{
    answer::{self, Response},
    call::Call,
    etag,
};
use crate::glass::Glass;

/// All panels side by side.
pub(crate) fn all(call: &Call) -> Response {
    let scale = call.query("scale").map_or(Ok(1), |scale| scale.parse());
    let Some(scale) = scale
        .ok()
        .filter(|scale| (1..=png::SCALE_MAX).contains(scale))
    else {
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

fn side_by_side(glass: &Glass, scale: u32) -> Bytes {
    let bitmaps: Vec<Bitmap> = glass
        .panels
        .iter()
        .map(|panel| Bitmap::clone(&panel.bitmap))
        .collect();
    png::side_by_side(&bitmaps, scale).into()
}

/// One panel.
pub(crate) fn one(call: &Call) -> Response {
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
