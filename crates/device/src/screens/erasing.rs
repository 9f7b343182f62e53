//! Shown during a factory reset.

use alloc::vec::Vec;

use super::row;
use crate::{cells::Cell, tile::Tile};

/// ERASING, from the left.
pub fn cells(panels: usize) -> Vec<Cell> {
    row::left(row::letters("ERASING"), panels)
}

/// The word, and what it means.
pub fn tile() -> Tile {
    Tile::word(["Factory reset", "Reset"], "ERASING").line(["Everything is being erased"])
}
