//! Hashrate at the mining pool.

use alloc::{format, string::String, vec::Vec};

use super::{Scene, hashrate, mining_pool, row};
use crate::cells::Cell;

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

/// The hashrate, and whose it is.
pub fn sentence(scene: &Scene<'_>) -> String {
    let Some(figures) = mining_pool::figures(scene) else {
        return mining_pool::silence(scene);
    };
    let (text, unit) = hashrate::filling(figures.hashrate, scene.panels.saturating_sub(2));
    format!(
        "{text} {} at the mining pool {}.",
        hashrate::spoken(&unit),
        mining_pool::name(scene)
    )
}
