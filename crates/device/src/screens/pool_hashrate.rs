//! Hashrate at the mining pool.

use alloc::{format, string::ToString, vec::Vec};

use super::{Scene, hashrate, mining_pool, row};
use crate::{
    cells::Cell,
    spoken::{self, Sentence, SentenceTemplate},
    tile::Tile,
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

/// The hashrate, earnings and workers.
pub fn tile(scene: &Scene<'_>) -> Tile {
    let labels = [mining_pool::name(scene), "Pool".into()];
    let Some(figures) = mining_pool::figures(scene) else {
        return mining_pool::word(labels, scene);
    };
    let rate = figures.hashrate;
    let rate = rate.map(|rate| hashrate::filling(rate, hashrate::TILE_WIDTH));
    let daily = figures.daily.map(|daily| {
        let sats = spoken::grouped(&daily.0.to_string());
        [
            format!("Earns {sats} sats a day"),
            format!("{sats} sats a day"),
        ]
    });
    Tile::new(labels, Vec::from([hashrate::figure(rate)]))
        .line(daily.into_iter().flatten())
        .line(mining_pool::workers(figures))
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
