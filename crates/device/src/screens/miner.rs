//! Shared by the screens of the miner.

use super::Scene;
use crate::{
    cells::{Cell, Icon},
    spoken::SentenceTemplate,
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

/// Shown for a figure that the miner does not report.
pub const UNKNOWN: &str = "?";
