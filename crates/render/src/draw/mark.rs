//! The marks beside doubtful values.

use market::mark::Mark;

use crate::mask::{Area, Mask};

/// Side of the mark, px.
const SIDE: i32 = 15;

/// Margin around the mark, px.
const EDGE: i32 = 5;

/// Rows of a mark, the leftmost pixel most significant.
type Rows = [u16; SIDE as usize];

/// An empty ring: a single source.
const RING: Rows = [
    0b000001111100000,
    0b000111111111000,
    0b001110000011100,
    0b011000000000110,
    0b011000000000110,
    0b110000000000011,
    0b110000000000011,
    0b110000000000011,
    0b110000000000011,
    0b110000000000011,
    0b011000000000110,
    0b011000000000110,
    0b001110000011100,
    0b000111111111000,
    0b000001111100000,
];

/// An unequal sign: sources contradict each other.
const UNEQUAL: Rows = [
    0b000000000001100,
    0b000000000011000,
    0b000000000011000,
    0b000000000110000,
    0b011111111111110,
    0b011111111111110,
    0b000000001100000,
    0b000000011000000,
    0b000000110000000,
    0b011111111111110,
    0b011111111111110,
    0b000001100000000,
    0b000011000000000,
    0b000011000000000,
    0b000110000000000,
];

/// A clock face: the value is old.
const CLOCK: Rows = [
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

/// The drawing of a mark.
fn rows(mark: Mark) -> &'static Rows {
    match mark {
        Mark::Alone => &RING,
        Mark::Disputed => &UNEQUAL,
        Mark::Stale => &CLOCK,
    }
}

/// Adds the mark in the first corner without ink, starting at the upper right one.
pub(crate) fn add(mark: Mark, panel: &mut Mask) {
    let (right, lower) = (panel.width() - EDGE - SIDE, panel.height() - EDGE - SIDE);
    let corners = [(right, EDGE), (EDGE, EDGE), (right, lower), (EDGE, lower)];
    let free = corners.into_iter().find(|&(x, y)| !panel.any(around(x, y)));
    let (x, y) = free.unwrap_or(corners[0]);
    panel.clear(around(x, y));
    for (dy, row) in (0..).zip(rows(mark)) {
        for dx in (0..SIDE).filter(|dx| row >> (SIDE - 1 - dx) & 1 == 1) {
            panel.set(x + dx, y + dy);
        }
    }
}

/// The mark with its margin.
fn around(x: i32, y: i32) -> Area {
    Area {
        x: x - 3,
        y: y - 3,
        width: SIDE + 6,
        height: SIDE + 6,
    }
}
