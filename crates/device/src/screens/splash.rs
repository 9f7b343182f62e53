//! What the panels show from power-on until there is something to say.

use alloc::{vec, vec::Vec};

use super::row;
use crate::cells::{Cell, Icon};

/// The product's name as a rebus, PAPER and a tick, behind the sign of what the clock is about.
///
/// The nine letters of the name fit on no board; five and a tick do, and leave room for a bitcoin
/// on a board with seven panels and a clock more on one with eight. Every panel carries ink, so a
/// dead one shows at power-on.
pub fn cells(panels: usize) -> Vec<Cell> {
    let mut cells = vec![Cell::Icon(Icon::Bitcoin), Cell::Icon(Icon::ClockOutline)];
    cells.extend(row::letters("PAPER"));
    cells.push(Cell::Icon(Icon::CheckBold));
    if panels < cells.len() {
        cells.remove(1);
    }
    row::left(cells, panels)
}
