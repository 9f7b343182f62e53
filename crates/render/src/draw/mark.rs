//! The marks beside doubtful values.

use market::mark::Mark;

use zeno::{Command, PathData, Stroke, Transform};

use super::PixelScale;
use crate::mask::{Area, Mask};

/// Side of the mark, px.
pub(crate) const SIDE: i32 = 15;

/// Distance of the mark from the edges of the panel, px.
const EDGE: i32 = 5;

/// Margin without ink around the mark, px.
const MARGIN: i32 = 3;

/// Thickness of its strokes, px.
const STROKE: f32 = 2.0;

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

/// The circle of a mark, of four curves: arcs need sines, which differ between C libraries in the last bit.
pub(crate) const CIRCLE: &str = "M14,7.5C14,11.0874 11.0874,14 7.5,14C3.9126,14 1,11.0874 1,7.5C1,3.9126 3.9126,1 7.5,1C11.0874,1 14,3.9126 14,7.5Z";

/// Radius of that circle.
pub(crate) const CIRCLE_RADIUS: f32 = 6.5;

/// The same drawing as outlines that are stroked, in the square of the bitmap.
pub(crate) fn outlines(mark: Mark) -> &'static [&'static str] {
    match mark {
        Mark::Alone => &[CIRCLE],
        Mark::Disputed => &["M1,5H14M1,10H14M11,1L4,14"],
        Mark::Stale => &[CIRCLE, "M7.5,3.5V8H11.5"],
    }
}

/// Adds the mark in the first corner without ink, starting at the upper right one.
pub(crate) fn add(mark: Mark, panel: &mut Mask, scale: PixelScale) {
    let (edge, margin) = (scale.margin(EDGE), scale.margin(MARGIN));
    let room = panel.width().min(panel.height()) - 2 * edge;
    let drawing = draw(mark, scale, room);
    let side = drawing.width();
    let around = |x: i32, y: i32| Area {
        x: x - margin,
        y: y - margin,
        width: side + 2 * margin,
        height: side + 2 * margin,
    };
    let (right, lower) = (panel.width() - edge - side, panel.height() - edge - side);
    let corners = [(right, edge), (edge, edge), (right, lower), (edge, lower)];
    let free = corners.into_iter().find(|&(x, y)| !panel.any(around(x, y)));
    let (x, y) = free.unwrap_or(corners[0]);
    panel.clear(around(x, y));
    panel.blit(&drawing, x, y);
}

/// The ink of a mark, a square of at most a size.
fn draw(mark: Mark, scale: PixelScale, most: i32) -> Mask {
    // Whole pixels of the picture, and no smaller than on a panel.
    let samples = scale.samples;
    let side = (scale.px(SIDE) / samples).max(SIDE);
    if samples == 1 && side == SIDE && (side <= most || scale == PixelScale::PANEL) {
        return bitmap(mark);
    }
    let side = side.min(most / samples).max(1) * samples;
    let ratio = side as f32 / SIDE as f32;
    let thick = ((STROKE * ratio).round() as i32).max(samples) as f32 / ratio;
    let mut coverage = vec![0; (side * side) as usize];
    let outlines = outlines(mark).iter();
    let outline: Vec<Command> = outlines.flat_map(PathData::commands).collect();
    zeno::Mask::new(&*outline)
        .style(Stroke::new(thick))
        .transform(Some(Transform::scale(ratio, ratio)))
        .size(side as u32, side as u32)
        .render_into(&mut coverage, None);
    Mask::from_coverage(&coverage, side, side)
}

fn bitmap(mark: Mark) -> Mask {
    let mut mask = Mask::new(SIDE, SIDE);
    for (y, row) in (0..).zip(rows(mark)) {
        for x in (0..SIDE).filter(|x| row >> (SIDE - 1 - x) & 1 == 1) {
            mask.set(x, y);
        }
    }
    mask
}
