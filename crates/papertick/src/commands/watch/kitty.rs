//! Panels in the graphics protocol of kitty: a PNG in chunks, which replaces the previous one.

use std::fmt::Write as _;

use base64::{Engine, prelude::BASE64_STANDARD};
use render::{Bitmap, png};

use super::size::Size;

/// Size of a chunk, characters.
const CHUNK: usize = 4096;

/// Id of the picture; the next one with the same id replaces it.
const PICTURE_ID: u32 = 21;

/// Height of a character relative to its width.
const CHARACTER_RATIO: usize = 2;

pub(super) fn encode(panels: &[Bitmap], size: Size) -> String {
    let columns = columns(panels, size);
    let encoded = BASE64_STANDARD.encode(png::side_by_side_small(panels, 1));
    let chunks: Vec<&str> = encoded
        .as_bytes()
        .chunks(CHUNK)
        .filter_map(|chunk| std::str::from_utf8(chunk).ok())
        .collect();
    let mut text = String::new();
    for (index, chunk) in chunks.iter().enumerate() {
        let more = u8::from(index + 1 < chunks.len());
        // Writing to a string cannot fail.
        let _ = match index {
            0 => write!(
                text,
                "\x1b_Ga=T,f=100,q=2,i={PICTURE_ID},p=1,c={columns},m={more};{chunk}\x1b\\"
            ),
            _ => write!(text, "\x1b_Gq=2,m={more};{chunk}\x1b\\"),
        };
    }
    text.push_str("\r\n");
    text
}

/// Removes the picture.
pub(super) const CLEAR: &str = "\x1b_Ga=d,q=2\x1b\\";

/// Width of the picture in columns, so that it fits both columns and rows.
fn columns(panels: &[Bitmap], size: Size) -> usize {
    let width: usize = panels.iter().map(|panel| usize::from(panel.width())).sum();
    let height = panels
        .first()
        .map_or(1, |panel| usize::from(panel.height()));
    let by_rows = size.picture_rows() * CHARACTER_RATIO * width / height.max(1);
    size.columns.min(by_rows).max(1)
}
