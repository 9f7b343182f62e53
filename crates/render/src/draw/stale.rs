//! The mark of a value that is older than its source's limit.

use crate::mask::{Area, Mask};

/// Side of the mark, px.
const SIDE: i32 = 15;

/// White around the mark, px.
const EDGE: i32 = 5;

/// A clock face at five past twelve, one row per line.
const ROWS: [u16; 15] = [
    0b000001111100000,
    0b000111111111000,
    0b001110000011100,
    0b011000010000110,
    0b011000010000110,
    0b110000010000011,
    0b110000010000011,
    0b110000011111011,
    0b110000011111011,
    0b110000000000011,
    0b011000000000110,
    0b011000000000110,
    0b001110000011100,
    0b000111111111000,
    0b000001111100000,
];

/// Adds the mark in the first corner that has no ink, the upper right one first.
pub(crate) fn mark(panel: &mut Mask) {
    let (right, lower) = (panel.width() - EDGE - SIDE, panel.height() - EDGE - SIDE);
    let corners = [(right, EDGE), (EDGE, EDGE), (right, lower), (EDGE, lower)];
    let free = corners.into_iter().find(|&(x, y)| !panel.any(around(x, y)));
    let (x, y) = free.unwrap_or(corners[0]);
    panel.clear(around(x, y));
    for (dy, row) in (0..).zip(ROWS) {
        for dx in (0..SIDE).filter(|dx| row >> (SIDE - 1 - dx) & 1 == 1) {
            panel.set(x + dx, y + dy);
        }
    }
}

/// The mark with its white.
fn around(x: i32, y: i32) -> Area {
    Area {
        x: x - 3,
        y: y - 3,
        width: SIDE + 6,
        height: SIDE + 6,
    }
}
