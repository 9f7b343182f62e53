//! Shared by the screens of the miner.

use alloc::vec::Vec;

use super::{Scene, row};
use crate::cells::{Cell, Icon};
use market::MinerStats;

/// Icon of the miner.
pub const IDENTITY: Cell = Cell::Icon(Icon::Pickaxe);

/// Figures of the miner; `None` while it is offline.
pub fn figures<'a>(scene: &Scene<'a>) -> Option<&'a MinerStats> {
    let miner = scene.market.miner.as_ref();
    miner.map(|miner| &miner.datum.value)
}

/// OFFLINE, one letter per panel; `OFF/LINE` on the last panel if there are too few.
pub fn offline(panels: usize) -> Vec<Cell> {
    let letters: Vec<Cell> = "OFFLINE"
        .chars()
        .map(|letter| Cell::Tail(letter.into()))
        .collect();
    if letters.len() < panels {
        row::labelled(IDENTITY, letters, panels)
    } else {
        row::offline(IDENTITY, panels)
    }
}
