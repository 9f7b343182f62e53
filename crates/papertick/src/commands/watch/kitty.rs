//! Panels by the graphics protocol of kitty: a PNG in pieces, which takes the place of the one before.

use std::fmt::Write as _;

use base64::{Engine, prelude::BASE64_STANDARD};
use render::{Bitmap, png};

use super::size::Size;

/// Letters of a piece.
const PIECE: usize = 4096;

/// Number of the picture, so that the next one takes its place.
const PICTURE: u32 = 21;

/// Shape of a letter: so many times as high as wide.
const LETTER: usize = 2;

/// Writes the panels.
pub(super) fn encode(panels: &[Bitmap], size: Size) -> String {
    let columns = columns(panels, size);
    let letters = BASE64_STANDARD.encode(png::side_by_side_small(panels, 1));
    let pieces: Vec<&str> = letters
        .as_bytes()
        .chunks(PIECE)
        .filter_map(|piece| std::str::from_utf8(piece).ok())
        .collect();
    let mut text = String::new();
    for (place, piece) in pieces.iter().enumerate() {
        let more = u8::from(place + 1 < pieces.len());
        // A string takes everything.
        let _ = match place {
            0 => write!(
                text,
                "\x1b_Ga=T,f=100,q=2,i={PICTURE},p=1,c={columns},m={more};{piece}\x1b\\"
            ),
            _ => write!(text, "\x1b_Gq=2,m={more};{piece}\x1b\\"),
        };
    }
    text.push_str("\r\n");
    text
}

/// What takes the picture away.
pub(super) const CLEAR: &str = "\x1b_Ga=d,q=2\x1b\\";

/// Columns that the picture takes, so that it fits into the rows too.
fn columns(panels: &[Bitmap], size: Size) -> usize {
    let width: usize = panels.iter().map(|panel| usize::from(panel.width())).sum();
    let height = panels
        .first()
        .map_or(1, |panel| usize::from(panel.height()));
    let by_rows = size.picture_rows() * LETTER * width / height.max(1);
    size.columns.min(by_rows).max(1)
}
