//! Value of all bitcoin in a currency.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{Scene, issuance, price_layout, row, signs, spoken, suffix};
use crate::cells::Cell;

/// The value with a letter, behind the currency's sign; needs a price and a height.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let label = Cell::label(scene.currency.code(), "MCAP");
    let (Some(price), Some(height)) = (scene.shown_price(), scene.height()) else {
        return row::labelled(label, Vec::new(), scene.panels);
    };
    let value = price.rounded().saturating_mul(issuance::mined_btc(height));
    // The sign takes one panel, and so does a dot of its own.
    let used = if scene.settings.decimal_share_dot {
        1
    } else {
        2
    };
    let text = suffix::suffixed(value, scene.panels.saturating_sub(used));
    let number = row::number(&text, scene.settings);
    let cells = price_layout::after(signs::currency(scene.currency), number);
    row::labelled(label, cells, scene.panels)
}

/// The value in billions.
pub fn sentence(scene: &Scene<'_>) -> String {
    const MILLION: u64 = 1_000_000;
    let (Some(price), Some(height)) = (scene.shown_price(), scene.height()) else {
        return spoken::unknown("The value of all bitcoin");
    };
    let value = price.rounded().saturating_mul(issuance::mined_btc(height));
    let millions = (value / MILLION).to_string();
    let code = scene.currency.code();
    format!(
        "All bitcoin together are worth {} million {code}.",
        spoken::number(&millions)
    )
}
