//! The start screen.

use alloc::{vec, vec::Vec};

use super::row;
use crate::{
    cells::{Cell, Icon},
    tile::{Figure, Tile},
};

/// The product's name as a rebus, PAPER and a tick, after the bitcoin sign.
///
/// The nine letters of the name fit on no board; five and a tick do, and leave room for a bitcoin on seven panels and a
/// clock on eight. Every panel is inked, so that a dead one is visible at power-on.
pub fn cells(panels: usize) -> Vec<Cell> {
    let mut cells = vec![Cell::Icon(Icon::Bitcoin), Cell::Icon(Icon::ClockOutline)];
    cells.extend(row::letters("PAPER"));
    cells.push(Cell::Icon(Icon::CheckBold));
    if panels < cells.len() {
        cells.remove(1);
    }
    row::left(cells, panels)
}

/// The product's name.
pub fn tile() -> Tile {
    Tile::new(
        ["The clock is starting", "Starting", "Start"],
        Vec::from([Figure::text("papertick")]),
    )
}
