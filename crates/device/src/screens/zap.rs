//! A received zap.

use alloc::vec::Vec;

use super::{Scene, amount, row, signs};
use crate::{
    cells::{Cell, Icon},
    settings::Settings,
    spoken::{Sentence, SentenceTemplate},
    tile::Tile,
};
use market::Zap;

const ZAP: SentenceTemplate = SentenceTemplate::new("A zap of {amount} came in.");

/// The amount after a lightning bolt; the sender's message is not shown.
pub fn cells(zap: &Zap, settings: &Settings, panels: usize) -> Vec<Cell> {
    let number = amount::satoshis(Some(zap.amount.into()), panels.saturating_sub(2));
    let marker = signs::satoshi_marker(settings);
    amount::frame(
        "ZAP",
        Icon::LightningBolt,
        row::digits(&number),
        marker,
        panels,
    )
}

/// The amount and its worth.
pub fn tile(zap: &Zap, scene: &Scene<'_>) -> Tile {
    let (amount, bolt) = (zap.amount.into(), Icon::LightningBolt);
    Tile::new(
        ["Zap received", "Zap"],
        amount::figures(Some(amount), Some(bolt), scene.settings),
    )
    .line(amount::worth(amount, scene))
}

/// The amount.
pub fn sentence(zap: &Zap) -> Sentence {
    ZAP.with("amount", amount::spoken(zap.amount.into()))
}
