//! Price of one bitcoin in a currency.

use alloc::{borrow::ToOwned, string::ToString, vec::Vec};

use super::{Scene, decimal, price_layout, row, signs};
use crate::{
    cells::Cell,
    spoken::{self, Sentence, SentenceTemplate},
};
use market::units::MICRO;

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
    let has_letter = settings.mow_mode || (settings.suffix_price && price.micros >= 100 * MICRO);
    if is_short && !has_letter {
        return row::labelled(label, price_layout::plain(price, sign, tail), scene.panels);
    }
    let width = if settings.mow_mode || settings.decimal_share_dot {
        tail
    } else {
        tail.saturating_sub(1)
    };
    let cells = price_layout::suffixed(price, sign, width, settings);
    if cells.len() < scene.panels {
        row::labelled(label, cells, scene.panels)
    } else {
        row::right(cells, scene.panels)
    }
}

/// The price as a sentence, in whole units from 100 on.
pub fn sentence(scene: &Scene<'_>) -> Sentence {
    let Some(price) = scene.shown_price() else {
        return spoken::PRICE_UNKNOWN.into();
    };
    let number = match price.rounded() {
        0..100 => {
            let exact = decimal::rounded(price.micros.into(), MICRO.into(), 6);
            exact.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        whole => whole.to_string(),
    };
    PRICE
        .with("price", spoken::number(number))
        .with("currency", scene.currency.code())
}
