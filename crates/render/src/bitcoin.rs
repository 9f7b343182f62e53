//! The bitcoin sign for fonts that lack it, made from the capital B of the font, so that weight and height match.

use crate::{
    glyph::Glyph,
    mask::{Area, Mask},
};

pub(crate) const SIGN: char = '₿';

/// Height of a stroke, percent of the height of the letter.
const HEIGHT: i32 = 13;

/// Thickness of a stroke, percent of the stem of the letter.
const THICKNESS: i32 = 62;

/// Gap between the two strokes, percent of their thickness.
const GAP: i32 = 85;

/// Middle of the two strokes, percent of the width of the letter. To the right of it the bowls curve.
const MIDDLE: i32 = 40;

/// The sign: the letter with two strokes above and two below.
pub(crate) fn sign(letter: &Glyph) -> Glyph {
    let (width, height) = (letter.mask.width(), letter.mask.height());
    let part = |of: i32, hundredths: i32| ((of * hundredths + 50) / 100).max(1);
    let tall = part(height, HEIGHT);
    let thick = part(stem(&letter.mask), THICKNESS);
    let pair = 2 * thick + part(thick, GAP);
    let left = (part(width, MIDDLE) - pair / 2).max(0);
    let mut mask = Mask::new(width, height + 2 * tall);
    mask.blit(&letter.mask, 0, tall);
    for x in [left, left + pair - thick] {
        for column in x..x + thick {
            let inked = |y: &i32| letter.mask.get(column, *y);
            // The letter has round corners, so a stroke is extended to its ink.
            let (Some(top), Some(bottom)) = ((0..height).find(inked), (0..height).rfind(inked))
            else {
                continue;
            };
            mask.fill(stroke(column, 0, tall + top));
            mask.fill(stroke(
                column,
                tall + bottom + 1,
                height - 1 - bottom + tall,
            ));
        }
    }
    Glyph {
        mask,
        above: letter.above + tall,
        ..*letter
    }
}

fn stroke(x: i32, y: i32, height: i32) -> Area {
    Area {
        x,
        y,
        width: 1,
        height,
    }
}

/// Thickness of the stem, px, measured in the middle of the upper bowl, where there is no serif.
fn stem(letter: &Mask) -> i32 {
    let y = letter.height() / 4;
    let inked = |x: &i32| letter.get(*x, y);
    let start = (0..letter.width()).find(inked).unwrap_or(0);
    let end = (start..letter.width()).find(|x| !inked(x));
    (end.unwrap_or(letter.width()) - start).max(1)
}
