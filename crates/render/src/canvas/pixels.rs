//! Ink as grey pixels.

use super::{Depth, Turn, turned_area};
use crate::mask::{Area, Mask};

/// Ink of the caption where there are greys, of 255. It is less important than the cells.
const CAPTION_INK: u8 = 150;

/// The greys of a canvas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tones {
    pub(super) depth: Depth,
    pub(super) dark: bool,
}

impl Tones {
    /// The grey for an amount of ink, 0 to 255. It is one of the levels of the depth, spread over 0 to 255.
    pub(super) fn grey(self, ink: u8) -> u8 {
        let grey = if self.dark { ink } else { 255 - ink };
        let most = (1 << self.depth.bits()) - 1;
        let level = (u32::from(grey) * most + 127) / 255;
        (level * 255 / most) as u8
    }

    pub(super) fn paper(self) -> u8 {
        self.grey(0)
    }

    /// Ink of the caption. One bit has no greys.
    pub(super) fn caption_ink(self) -> u8 {
        match self.depth {
            Depth::One => 255,
            Depth::Two | Depth::Four | Depth::Eight => CAPTION_INK,
        }
    }
}

/// The part of a cell that has ink, grey and rotated as it is delivered.
pub(super) struct Pixels {
    /// Distance from the left edge of the cell, px.
    pub(super) left: usize,
    /// Distance from its upper edge, px.
    pub(super) top: usize,
    pub(super) width: usize,
    pub(super) grey: Vec<u8>,
}

impl Pixels {
    /// Averages each square of `samples` by `samples` pixels of a mask, and rotates the result.
    ///
    /// A square that is all ink has `full_ink`, of 255.
    pub(super) fn new(
        mask: &Mask,
        samples: usize,
        tones: Tones,
        full_ink: u8,
        turn: Turn,
    ) -> Pixels {
        let side = samples as i32;
        let cell = (mask.width() / side, mask.height() / side);
        let Some(ink) = mask.ink() else {
            return Pixels {
                left: 0,
                top: 0,
                width: 0,
                grey: Vec::new(),
            };
        };
        let (left, top) = (ink.x / side, ink.y / side);
        let right = (ink.x + ink.width - 1) / side + 1;
        let bottom = (ink.y + ink.height - 1) / side + 1;
        let area = Area {
            x: left,
            y: top,
            width: right.min(cell.0) - left,
            height: bottom.min(cell.1) - top,
        };
        let inked = mask.cropped(Area {
            x: area.x * side,
            y: area.y * side,
            width: area.width * side,
            height: area.height * side,
        });
        let most = samples * samples;
        let greys: Vec<u8> = (0..=most)
            .map(|count| tones.grey((usize::from(full_ink) * count / most) as u8))
            .collect();
        let upright = averaged(&inked, samples, area.width.max(0) as usize, &greys);
        let target = turned_area(turn, area, cell);
        Pixels {
            left: target.x as usize,
            top: target.y as usize,
            width: target.width as usize,
            grey: rotated(upright, area.width as usize, turn),
        }
    }

    pub(super) fn row(&self, y: usize) -> Option<&[u8]> {
        let start = y.checked_mul(self.width).filter(|_| self.width > 0)?;
        self.grey.get(start..start + self.width)
    }
}

/// The grey of each square, by the number of its pixels that are ink.
fn averaged(mask: &Mask, samples: usize, width: usize, greys: &[u8]) -> Vec<u8> {
    let rows: Vec<&[u64]> = mask.rows().collect();
    let squares = 64 / samples;
    let field = (1u64 << samples) - 1;
    let mut target = Vec::with_capacity(width * rows.len() / samples);
    for group in rows.chunks_exact(samples) {
        let start = target.len();
        for index in 0..group[0].len() {
            let words = || group.iter().map(|row| row[index]);
            if words().all(|word| word == 0) {
                target.resize(target.len() + squares, greys[0]);
                continue;
            }
            for shift in (0..squares).rev().map(|square| square * samples) {
                let count: u32 = words()
                    .map(|word| (word >> shift & field).count_ones())
                    .sum();
                target.push(greys[count as usize]);
            }
        }
        target.truncate(start + width);
    }
    target
}

/// Rows of `width` pixels, rotated.
fn rotated(upright: Vec<u8>, width: usize, turn: Turn) -> Vec<u8> {
    let columns = 0..width;
    let from_top = |x: usize| upright.iter().skip(x).step_by(width.max(1)).copied();
    match turn {
        Turn::None => upright,
        Turn::Half => upright.into_iter().rev().collect(),
        Turn::Quarter => columns.flat_map(|x| from_top(x).rev()).collect(),
        Turn::ThreeQuarters => columns.rev().flat_map(from_top).collect(),
    }
}
