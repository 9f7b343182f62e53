//! Ink as grey pixels.

use super::{Depth, Turn};
use crate::mask::{Area, Mask};

/// Part of the way from paper to ink of what is less important, of 255.
const FAINT: u32 = 150;

/// The greys of a canvas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tones {
    pub(super) depth: Depth,
    pub(super) dark: bool,
}

impl Tones {
    /// The grey of a part of ink, 0 to 255, as the depth has it, at the most significant bits.
    pub(super) fn grey(self, ink: u8) -> u8 {
        let grey = if self.dark { ink } else { 255 - ink };
        let most = (1 << self.depth.bits()) - 1;
        let level = (u32::from(grey) * most + 127) / 255;
        (level * 255 / most) as u8
    }

    pub(super) fn paper(self) -> u8 {
        self.grey(0)
    }

    /// Ink of what is less important. One bit has no greys.
    pub(super) fn faint(self) -> u8 {
        match self.depth {
            Depth::One => 255,
            Depth::Two | Depth::Four | Depth::Eight => FAINT as u8,
        }
    }
}

/// The part of a cell that has ink, as it is delivered: grey and rotated.
pub(super) struct Pixels {
    /// Distance from the left edge of the cell, px.
    pub(super) left: usize,
    /// Distance from its upper edge, px.
    pub(super) top: usize,
    pub(super) width: usize,
    pub(super) grey: Vec<u8>,
}

impl Pixels {
    /// Averages a mask that has several pixels per pixel, and rotates it.
    pub(super) fn new(
        mask: &Mask,
        samples: usize,
        tones: Tones,
        is_faint: bool,
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
        let full = if is_faint { tones.faint() } else { 255 };
        let most = samples * samples;
        let greys: Vec<u8> = (0..=most)
            .map(|count| tones.grey((usize::from(full) * count / most) as u8))
            .collect();
        let upright = averaged(&inked, samples, area.width.max(0) as usize, &greys);
        let target = turn.area(area, cell);
        Pixels {
            left: target.x as usize,
            top: target.y as usize,
            width: target.width as usize,
            grey: rotated(upright, area.width as usize, turn),
        }
    }

    /// A row, from the top.
    pub(super) fn row(&self, y: usize) -> Option<&[u8]> {
        let start = y.checked_mul(self.width).filter(|_| self.width > 0)?;
        self.grey.get(start..start + self.width)
    }
}

/// The grey of each square of `samples` pixels, by the number of those that are ink.
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
