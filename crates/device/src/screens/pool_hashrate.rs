//! Hashrate at the mining pool.

use alloc::vec::Vec;

use super::{Scene, hashrate, mining_pool, row};
use crate::{
    cells::Cell,
    spoken::{self, Sentence, SentenceTemplate},
};

const POOL_HASHRATE: SentenceTemplate =
    SentenceTemplate::new("{rate} {unit} at the mining pool {pool}.");

const POOL_WITHOUT_HASHRATE: SentenceTemplate =
    SentenceTemplate::new("The mining pool {pool} does not report a hashrate.");

/// The hashrate with its unit on the last panel; `?` if the pool does not report it.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let Some(figures) = mining_pool::figures(scene) else {
        return mining_pool::placeholder(scene);
    };
    let (text, unit) = match figures.hashrate {
        Some(rate) => hashrate::filling(rate, scene.panels.saturating_sub(2)),
        None => ("?".into(), Cell::unit("H", "S")),
    };
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
    let pool = mining_pool::name(scene);
    let Some(rate) = figures.hashrate else {
        return POOL_WITHOUT_HASHRATE.with("pool", pool);
    };
    let (text, unit) = hashrate::filling(rate, scene.panels.saturating_sub(2));
    POOL_HASHRATE
        .with("rate", spoken::number(text))
        .with("unit", hashrate::spoken(&unit))
        .with("pool", pool)
}
