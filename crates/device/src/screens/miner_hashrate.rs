//! Hashrate of the miner.

use alloc::{format, vec::Vec};

use super::{Scene, hashrate, miner, row};
use crate::{
    cells::Cell,
    spoken::{self, Sentence, SentenceTemplate},
    tile::Tile,
};

const MINER_HASHRATE: SentenceTemplate = SentenceTemplate::new("The miner makes {rate} {unit}.");

/// The hashrate with its unit on the last panel, `?` if the miner does not report it, or that the miner is offline.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let Some(figures) = miner::figures(scene) else {
        return row::offline(miner::IDENTITY, scene.panels);
    };
    let (text, unit) = match figures.hashrate {
        Some(rate) => hashrate::brief(rate),
        None => (miner::UNKNOWN.into(), Cell::unit("GH", "S")),
    };
    row::with_unit(miner::IDENTITY, row::digits(&text), unit, scene.panels)
}

/// The hashrate and the best difficulty.
pub fn tile(scene: &Scene<'_>) -> Tile {
    let labels = ["Miner"];
    let Some(figures) = miner::figures(scene) else {
        return miner::offline(labels);
    };
    let rate = figures.hashrate.map(hashrate::brief);
    let best = miner::best(figures).into_iter();
    Tile::new(labels, Vec::from([hashrate::figure(rate)]))
        .line(best.flat_map(|best| [format!("Best difficulty {best}"), format!("Best {best}")]))
}

/// The hashrate.
pub fn sentence(scene: &Scene<'_>) -> Sentence {
    let Some(figures) = miner::figures(scene) else {
        return spoken::MINER_SILENT.into();
    };
    let Some(rate) = figures.hashrate else {
        return miner::WITHOUT_FIGURE.into();
    };
    let (text, unit) = hashrate::brief(rate);
    MINER_HASHRATE
        .with("rate", spoken::number(text))
        .with("unit", hashrate::spoken(&unit))
}
