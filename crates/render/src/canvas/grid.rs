//! Where the cells of a canvas are.

use device::cells::Cell;

use super::Layout;
use crate::{draw::PixelScale, mask::Area};

/// Greatest height of a cell relative to its width, and the reverse, percent. What is left becomes margin.
const ASPECT_MAX: i32 = 360;

/// Width from which a canvas has one row, percent of its height.
const ROW_FROM: i32 = 150;

/// Height from which a canvas has one column, percent of its width.
const COLUMN_FROM: i32 = 450;

/// Sum of width and height of the canvas per px of a gap, of a line and of the height of the caption.
const PER_GAP: i32 = 150;
const PER_LINE: i32 = 1000;
const PER_CAPTION: i32 = 72;

/// Smaller side of the canvas per px of a gap, at least.
const LEAST_PER_GAP: i32 = 40;

/// Height of the canvas per px of the height of the caption, at least.
const HEIGHT_PER_CAPTION: i32 = 16;

/// Smaller side of a cell per px of the radius of its corners, at least.
const SIDE_PER_RADIUS: i32 = 8;

/// Smallest gap between cells, px.
const GAP_MIN: i32 = 2;

/// Smallest height of the caption, px.
const CAPTION_MIN: i32 = 12;

/// Smallest width and height of a canvas with a caption, px.
const CAPTION_SIDE_MIN: i32 = 240;

/// The places of everything on an upright canvas.
#[derive(Debug)]
pub(super) struct Grid {
    /// Cells that are shown, by their index.
    pub(super) cells: Vec<(usize, Area)>,
    /// An area that no cell takes.
    pub(super) empty: Option<Area>,
    /// Width and height of every cell but a first one that is taller, px.
    pub(super) usual: (i32, i32),
    pub(super) caption: Option<Area>,
    /// Thickness of the line around a cell, px.
    pub(super) line: i32,
    /// Radius of its corners, px.
    pub(super) radius: i32,
}

impl Grid {
    /// The places of cells on a canvas of a size.
    pub(super) fn new(
        (width, height): (i32, i32),
        layout: Layout,
        cells: &[Cell],
        has_caption: bool,
    ) -> Grid {
        let (sum, least) = (width + height, width.min(height));
        let gap = (sum / PER_GAP).min(least / LEAST_PER_GAP).max(GAP_MIN);
        let caption = (sum / PER_CAPTION)
            .min(height / HEIGHT_PER_CAPTION)
            .max(CAPTION_MIN);
        let has_caption = has_caption && least >= CAPTION_SIDE_MIN;
        let below = if has_caption { gap + caption } else { 0 };
        let layout = chosen(layout, width, height);
        let shown = shown(cells, layout);
        let (columns, rows) = counts(layout, shown.len().max(1) as i32);
        let is_spare = columns * rows > shown.len() as i32;
        let heading = shown.first().and_then(|index| cells.get(*index));
        let is_first_tall = is_spare && heading.is_some_and(is_heading);

        let fit = |room: i32, count: i32| (room - (count + 1) * gap) / count;
        let (wide, tall) = (fit(width, columns), fit(height - below, rows));
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
        let area = |place: i32| match place {
            0 if is_first_tall => at(0, 0, rows),
            // The others are to the right of the first.
            _ if is_first_tall => {
                let others = (columns - 1).max(1);
                at(1 + (place - 1) % others, (place - 1) / others, 1)
            }
            _ => at(place % columns, place / columns, 1),
        };
        Grid {
            cells: (0..)
                .map(area)
                .zip(shown)
                .map(|(area, index)| (index, area))
                .collect(),
            empty: (is_spare && !is_first_tall).then(|| at(columns - 1, rows - 1, 1)),
            usual: (wide, tall),
            caption: has_caption.then(|| Area {
                x: gap,
                y: top + all(tall, rows) + gap,
                width: width - 2 * gap,
                height: caption,
            }),
            line: (sum / PER_LINE).min(gap / 2).max(1),
            radius: gap.min(wide.min(tall) / SIDE_PER_RADIUS),
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

    pub(super) fn scale(&self, cell: Area, samples: i32) -> PixelScale {
        let inside = self.inside(cell);
        let (width, height) = self.usual;
        let usual = (width - 2 * self.line, height - 2 * self.line);
        PixelScale::of_cell((inside.width, inside.height), usual, samples)
    }
}

/// The cells that are shown. In two rows, a heading makes up for a blank cell beside it.
fn shown(cells: &[Cell], layout: Layout) -> Vec<usize> {
    let spare = match cells {
        [Cell::Blank, heading, ..] if is_heading(heading) => Some(0),
        [heading, Cell::Blank, ..] if is_heading(heading) => Some(1),
        _ => None,
    };
    let spare = spare.filter(|_| layout == Layout::TwoRows && cells.len().is_multiple_of(2));
    (0..cells.len())
        .filter(|index| Some(*index) != spare)
        .collect()
}

/// Whether the first cell is a label of the others, and not part of a value.
fn is_heading(cell: &Cell) -> bool {
    !matches!(
        cell,
        Cell::Digit(_)
            | Cell::Tail(_)
            | Cell::Letter(_)
            | Cell::Text { .. }
            | Cell::Split { .. }
            | Cell::Blank
    )
}

fn chosen(layout: Layout, width: i32, height: i32) -> Layout {
    match layout {
        Layout::Row | Layout::TwoRows | Layout::Column => layout,
        _ if width * 100 >= height * ROW_FROM => Layout::Row,
        _ if height * 100 >= width * COLUMN_FROM => Layout::Column,
        Layout::Auto | Layout::Figure | Layout::Board | Layout::Cells => Layout::TwoRows,
    }
}

/// Columns and rows.
fn counts(layout: Layout, cells: i32) -> (i32, i32) {
    match layout {
        Layout::Auto | Layout::Figure | Layout::Board | Layout::Cells | Layout::Row => (cells, 1),
        Layout::TwoRows => ((cells + 1) / 2, 2),
        Layout::Column => (1, cells),
    }
}
