//! Panels as sixel graphics: six rows at a time, one colour after the other.

use std::fmt::Write as _;

use render::Bitmap;

use super::{picture::Shades, size::Size};

/// Shades that are used.
const SHADES: usize = 8;

/// Rows of pixels in one band.
const BAND: usize = 6;

/// Writes the panels.
pub(super) fn encode(panels: &[Bitmap], size: Size) -> String {
    let (width, height) = size.pixels();
    let shades = Shades::fit(panels, width, height);
    let mut text = format!("\x1bP0;1q\"1;1;{};{}", shades.width, shades.height);
    for shade in 0..SHADES {
        let percent = shade * 100 / (SHADES - 1);
        // A string takes everything.
        let _ = write!(text, "#{shade};2;{percent};{percent};{percent}");
    }
    for band in 0..shades.height.div_ceil(BAND) {
        let mut is_first = true;
        for shade in 0..SHADES {
            let column = |x: usize| column(&shades, x, band, shade);
            let columns: Vec<u8> = (0..shades.width).map(column).collect();
            if columns.iter().all(|bits| *bits == 0) {
                continue;
            }
            if !is_first {
                text.push('$');
            }
            is_first = false;
            let _ = write!(text, "#{shade}");
            runs(&columns, &mut text);
        }
        text.push('-');
    }
    text.push_str("\x1b\\\r\n");
    text
}

/// Which of six pixels below each other have a shade; the lowest bit is the top one.
fn column(shades: &Shades, x: usize, band: usize, shade: usize) -> u8 {
    (0..BAND).fold(0, |bits, row| {
        let there = shades.at(x, band * BAND + row).map(nearest);
        bits | (u8::from(there == Some(shade)) << row)
    })
}

fn nearest(shade: u8) -> usize {
    usize::from(shade) * (SHADES - 1) / 255
}

/// Writes columns, those that are alike as how many there are.
fn runs(columns: &[u8], text: &mut String) {
    for run in columns.chunk_by(|one, other| one == other) {
        let letter = char::from(b'?' + run[0]);
        match run.len() {
            length @ 1..=3 => (0..length).for_each(|_| text.push(letter)),
            length => {
                // A string takes everything.
                let _ = write!(text, "!{length}{letter}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn bands_of_six_rows_are_written_colour_by_colour() {
        let panel = Bitmap::from_ink(4, 8, |x, y| x == y);
        let size = Size {
            columns: 80,
            rows: 24,
            pixels: Some((100, 100)),
        };
        let text = encode(&[panel.clone(), panel], size);
        expect![[
            r##"^[P0;1q"1;1;9;8#0;2;0;0;0#1;2;14;14;14#2;2;28;28;28#3;2;42;42;42#4;2;57;57;57#5;2;71;71;71#6;2;85;85;85#7;2;100;100;100#0@ACG?@ACG$#7}|zv?}|zv-#7!4B?!4B-^[\"##
        ]]
        .assert_eq(text.replace('\x1b', "^[").trim_end());
    }
}
