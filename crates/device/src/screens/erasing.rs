//! What the panels keep showing once every setting is being wiped.

use alloc::vec::Vec;

use super::row;
use crate::cells::Cell;

/// The word ERASING, from the left.
pub fn cells(panels: usize) -> Vec<Cell> {
    row::left(row::letters("ERASING"), panels)
}
