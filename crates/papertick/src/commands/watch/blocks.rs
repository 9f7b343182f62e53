//! Panels as half block characters with two greys each, for terminals with 256 colours.

use std::fmt::Write as _;

use render::Bitmap;

use super::{picture::Shades, size::Size};

/// Colour number of the darkest grey, and the number of greys.
const DARKEST: usize = 232;
const GREYS: usize = 24;

pub(super) fn encode(panels: &[Bitmap], size: Size) -> String {
    let shades = Shades::fit(panels, size.columns, 2 * size.picture_rows());
    let mut text = String::new();
    for row in 0..shades.height.div_ceil(2) {
        let mut last = (None, None);
        for x in 0..shades.width {
            let pair = (shades.at(x, 2 * row), shades.at(x, 2 * row + 1));
            if pair != last {
                // Writing to a string cannot fail.
                let _ = match pair {
                    (None, None) => write!(text, "\x1b[0m"),
                    (Some(upper), None) => write!(text, "\x1b[0;38;5;{}m", grey(upper)),
                    (None, Some(lower)) => write!(text, "\x1b[0;48;5;{}m", grey(lower)),
                    (Some(upper), Some(lower)) => {
                        write!(text, "\x1b[38;5;{};48;5;{}m", grey(upper), grey(lower))
                    }
                };
                last = pair;
            }
            text.push(if pair.0.is_some() { '▀' } else { ' ' });
        }
        text.push_str("\x1b[0m\x1b[K\r\n");
    }
    text
}

fn grey(shade: u8) -> usize {
    DARKEST + usize::from(shade) * (GREYS - 1) / 255
}
