//! Hashrate of the miner.

use alloc::vec::Vec;

use super::{Scene, hashrate, miner, row};
use crate::{
    cells::Cell,
    spoken::{self, Sentence, SentenceTemplate},
};

const MINER_HASHRATE: SentenceTemplate = SentenceTemplate::new("The miner makes {rate} {unit}.");

/// The hashrate with its unit on the last panel, or that the miner is offline.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let Some(value) = miner::figures(scene).and_then(|miner| miner.hashrate) else {
        return miner::offline(scene.panels);
    };
    let (text, unit) = hashrate::brief(value);
    row::with_unit(miner::IDENTITY, row::digits(&text), unit, scene.panels)
}

/// The hashrate.
pub fn sentence(scene: &Scene<'_>) -> Sentence {
    let Some(value) = miner::figures(scene).and_then(|miner| miner.hashrate) else {
        return spoken::MINER_SILENT.into();
    };
    let (text, unit) = hashrate::brief(value);
    MINER_HASHRATE
        .with("rate", spoken::number(text))
        .with("unit", hashrate::spoken(&unit))
}
