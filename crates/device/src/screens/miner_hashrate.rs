//! Hashrate of the miner.

use alloc::{format, string::String, vec::Vec};

use super::{Scene, hashrate, miner, row};
use crate::cells::Cell;

/// The hashrate with its unit on the last panel, or that the miner is offline.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let Some(value) = miner::figures(scene).and_then(|miner| miner.hashrate) else {
        return miner::offline(scene.panels);
    };
    let (text, unit) = hashrate::brief(value);
    row::with_unit(miner::IDENTITY, row::digits(&text), unit, scene.panels)
}

/// The hashrate.
pub fn sentence(scene: &Scene<'_>) -> String {
    let Some(value) = miner::figures(scene).and_then(|miner| miner.hashrate) else {
        return miner::SILENCE.into();
    };
    let (text, unit) = hashrate::brief(value);
    format!("The miner makes {text} {}.", hashrate::spoken(&unit))
}
