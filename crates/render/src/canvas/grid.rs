//! Where the cells of a canvas are.

use super::Layout;
use crate::{draw::Scale, mask::Area};

/// Greatest height of a cell relative to its width, and the reverse, percent. What is left becomes margin.
const ASPECT_MAX: i32 = 360;

/// Width from which a canvas has one row, percent of its height.
const ROW_FROM: i32 = 150;

/// Height from which a canvas has one column, percent of its width.
const COLUMN_FROM: i32 = 450;

/// Sum of width and height of the canvas per px of a gap, of a line and of the height of the caption.
const PER_GAP: i32 = 160;
const PER_LINE: i32 = 1200;
const PER_CAPTION: i32 = 72;

/// Smallest gap between cells, px.
const GAP_MIN: i32 = 2;

/// Smallest height of the caption, px.
const CAPTION_MIN: i32 = 12;

/// Smallest width and height of a canvas with a caption, px.
const CAPTION_SIDE_MIN: i32 = 240;

/// The places of everything on an upright canvas.
#[derive(Debug)]
pub(super) struct Grid {
    /// One area per cell.
    pub(super) cells: Vec<Area>,
    /// An area that no cell takes.
    pub(super) empty: Option<Area>,
    /// Width and height of every cell but a first one that is taller, px.
    pub(super) usual: (i32, i32),
    /// The line of the caption.
    pub(super) caption: Option<Area>,
    /// Thickness of the line around a cell, px.
    pub(super) line: i32,
    /// Radius of its corners, px.
    pub(super) radius: i32,
}

impl Grid {
    /// The places on a canvas of a size.
    pub(super) fn new(
        (width, height): (i32, i32),
        layout: Layout,
        cells: usize,
        is_first_tall: bool,
        has_caption: bool,
    ) -> Grid {
        let sum = width + height;
        let gap = ((sum + PER_GAP / 2) / PER_GAP).max(GAP_MIN);
        let caption = (sum / PER_CAPTION).max(CAPTION_MIN);
        let below = caption + gap;
        let below = if has_caption && width.min(height) >= CAPTION_SIDE_MIN {
            below
        } else {
            0
        };
        let room = (width - 2 * gap, height - 2 * gap - below);
        let layout = chosen(layout, width, height);
        let (columns, rows) = counts(layout, cells.max(1) as i32);
        let fit = |room: i32, count: i32| (room - (count - 1) * gap) / count;
        let (wide, tall) = (fit(room.0, columns), fit(room.1, rows));
        let wide = wide.min(tall * ASPECT_MAX / 100).max(1);
        let tall = tall.min(wide * ASPECT_MAX / 100).max(1);
        let all = |size: i32, count: i32| size * count + (count - 1) * gap;
        let left = (width - all(wide, columns)) / 2;
        let top = (height - all(tall, rows) - below) / 2;
        let at = |column: i32, row: i32, high: i32| Area {
            x: left + column * (wide + gap),
            y: top + row * (tall + gap),
            width: wide,
            height: all(tall, high),
        };
        let is_spare = columns * rows > cells as i32;
        let is_first_tall = is_spare && is_first_tall;
        let area = |index: i32| match (index, is_first_tall) {
            (0, true) => at(0, 0, 2),
            (_, true) => {
                let others = columns - 1;
                let index = index - 1;
                at(1 + index % others.max(1), index / others.max(1), 1)
            }
            (_, false) => at(index % columns, index / columns, 1),
        };
        Grid {
            cells: (0..cells as i32).map(area).collect(),
            empty: (is_spare && !is_first_tall).then(|| at(columns - 1, rows - 1, 1)),
            usual: (wide, tall),
            caption: (below > 0).then(|| Area {
                x: gap,
                y: top + all(tall, rows) + gap,
                width: width - 2 * gap,
                height: caption,
            }),
            line: ((sum + PER_LINE / 2) / PER_LINE).max(1),
            radius: gap.min(wide / 2).min(tall / 2),
        }
    }

    /// The part of a cell within its line.
    pub(super) fn inside(&self, cell: Area) -> Area {
        Area {
            x: cell.x + self.line,
            y: cell.y + self.line,
            width: (cell.width - 2 * self.line).max(1),
            height: (cell.height - 2 * self.line).max(1),
        }
    }

    /// The scale of a cell.
    pub(super) fn scale(&self, cell: Area, samples: i32) -> Scale {
        let inside = self.inside(cell);
        let (width, height) = self.usual;
        let usual = (width - 2 * self.line, height - 2 * self.line);
        Scale::of_cell((inside.width, inside.height), usual, samples)
    }

    /// The scale of the caption, which is not drawn by it.
    pub(super) fn caption_scale(&self, samples: i32) -> Scale {
        Scale::of_cell((1, 1), (1, 1), samples)
    }
}

fn chosen(layout: Layout, width: i32, height: i32) -> Layout {
    match layout {
        Layout::Auto if width * 100 >= height * ROW_FROM => Layout::Row,
        Layout::Auto if height * 100 >= width * COLUMN_FROM => Layout::Column,
        Layout::Auto => Layout::TwoRows,
        Layout::Row | Layout::TwoRows | Layout::Column => layout,
    }
}

/// Columns and rows.
fn counts(layout: Layout, cells: i32) -> (i32, i32) {
    match layout {
        Layout::Auto | Layout::Row => (cells, 1),
        Layout::TwoRows => ((cells + 1) / 2, 2),
        Layout::Column => (1, cells),
    }
}
