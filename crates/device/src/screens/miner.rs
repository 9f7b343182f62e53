//! Shared by the screens of the miner.

use alloc::string::String;

use super::{Scene, hashrate};
use crate::{
    cells::{Cell, Icon},
    spoken::SentenceTemplate,
    tile::Tile,
};
use market::MinerStats;

/// Sentence of a miner that answers without the figure.
pub const WITHOUT_FIGURE: SentenceTemplate =
    SentenceTemplate::new("The miner does not report this figure.");

/// Icon of the miner.
pub const IDENTITY: Cell = Cell::Icon(Icon::Pickaxe);

/// Figures of the miner; `None` while it is offline.
pub fn figures<'a>(scene: &Scene<'a>) -> Option<&'a MinerStats> {
    let miner = scene.market.miner.as_ref();
    miner.map(|miner| &miner.datum.value)
}

/// The tile of a miner that is offline.
pub fn offline<const N: usize>(labels: [&str; N]) -> Tile {
    Tile::word(labels, "OFFLINE").line(["The miner does not answer", "No answer"])
}

/// The best difficulty in the words of the miner, if it reports one.
pub fn best(figures: &MinerStats) -> Option<&str> {
    let words = figures.best_difficulty.as_deref().map(str::trim);
    words.filter(|words| !words.is_empty())
}

/// The hashrate in a line, if the miner reports it.
pub fn rate(figures: &MinerStats) -> Option<String> {
    figures
        .hashrate
        .map(|rate| hashrate::words(hashrate::brief(rate)))
}

/// Shown for a figure that the miner does not report.
pub const UNKNOWN: &str = "?";
