//! Hashrate at the mining pool.

use alloc::vec::Vec;

use super::{Scene, hashrate, mining_pool, row};
use crate::{
    cells::Cell,
    spoken::{self, Sentence, SentenceTemplate},
};

const POOL_HASHRATE: SentenceTemplate =
    SentenceTemplate::new("{rate} {unit} at the mining pool {pool}.");

/// The hashrate with its unit on the last panel.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let Some(figures) = mining_pool::figures(scene) else {
        return mining_pool::offline(scene);
    };
    let (text, unit) = hashrate::filling(figures.hashrate, scene.panels.saturating_sub(2));
    row::with_unit(
        mining_pool::identity(scene),
        row::digits(&text),
        unit,
        scene.panels,
    )
}

/// The hashrate and the pool as a sentence.
pub fn sentence(scene: &Scene<'_>) -> Sentence {
    let Some(figures) = mining_pool::figures(scene) else {
        return mining_pool::silence(scene);
    };
    let (text, unit) = hashrate::filling(figures.hashrate, scene.panels.saturating_sub(2));
    POOL_HASHRATE
        .with("rate", spoken::number(text))
        .with("unit", hashrate::spoken(&unit))
        .with("pool", mining_pool::name(scene))
}
