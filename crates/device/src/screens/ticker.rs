//! Price of one bitcoin in a currency.

use alloc::{string::ToString, vec::Vec};

use super::{Scene, price_layout, row, signs};
use crate::{
    cells::Cell,
    spoken::{self, Sentence, SentenceTemplate},
};

const PRICE: SentenceTemplate = SentenceTemplate::new("1 bitcoin costs {price} {currency}.");

/// The price in full, or with a letter if the settings or the number of panels require it.
///
/// Millions with a letter and all their decimals use every panel, without the label.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let label = Cell::label("BTC", scene.currency.code());
    let Some(price) = scene.shown_price() else {
        return row::labelled(label, Vec::new(), scene.panels);
    };
    let settings = scene.settings;
    let sign = signs::currency(scene.currency);
    let tail = scene.panels.saturating_sub(1);
    let is_short = price.rounded().to_string().len() < scene.panels;
    if is_short && !settings.suffix_price && !settings.mow_mode {
        return row::labelled(label, price_layout::plain(price, sign, tail), scene.panels);
    }
    let width = match settings.mow_mode || settings.decimal_share_dot {
        true => tail,
        false => tail.saturating_sub(1),
    };
    let cells = price_layout::suffixed(price, sign, width, settings);
    match cells.len() < scene.panels {
        true => row::labelled(label, cells, scene.panels),
        false => row::right(cells, scene.panels),
    }
}

/// The price in whole units as a sentence.
pub fn sentence(scene: &Scene<'_>) -> Sentence {
    match scene.shown_price() {
        Some(price) => PRICE
            .with("price", spoken::number(price.rounded()))
            .with("currency", scene.currency.code()),
        None => spoken::PRICE_UNKNOWN.into(),
    }
}
