//! Shown during a factory reset.

use alloc::vec::Vec;

use super::row;
use crate::cells::Cell;

/// ERASING, from the left.
pub fn cells(panels: usize) -> Vec<Cell> {
    row::left(row::letters("ERASING"), panels)
}
