//! Value of all bitcoin in a currency.

use alloc::{format, string::String, vec::Vec};

use super::{
    Scene,
    day::{self, Moving},
    decimal, issuance, price_layout, row, signs, suffix, ticker, words,
};
use crate::{
    cells::Cell,
    history::Series,
    spoken::{self, Sentence, SentenceTemplate},
    tile::Tile,
};
use market::units::MICRO;

const MARKET_CAP: SentenceTemplate =
    SentenceTemplate::new("All bitcoin together are worth {millions} million {currency}.");
const MARKET_CAP_UNKNOWN: SentenceTemplate =
    SentenceTemplate::new("The value of all bitcoin is not known yet.");

/// Units of large amounts with their names, smallest first.
const UNITS: &[(u64, &str)] = &[
    (1, ""),
    (1_000_000, "million"),
    (1_000_000_000, "billion"),
    (1_000_000_000_000, "trillion"),
];

/// The value with a letter, after the sign of the currency; needs a price and a height.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let label = Cell::label(scene.currency.code(), "MCAP");
    let Some(value) = value(scene) else {
        return row::labelled(label, Vec::new(), scene.panels);
    };
    // The sign needs one panel, as does a dot that is not shared.
    let used = if scene.settings.decimal_share_dot { 1 } else { 2 };
    let text = suffix::suffixed(value, scene.panels.saturating_sub(used));
    let number = row::number(&text, scene.settings);
    let cells = price_layout::after(signs::currency(scene.currency), number);
    row::labelled(label, cells, scene.panels)
}

/// The value in whole units of the currency. The price is not rounded before, because a small one would become 0.
fn value(scene: &Scene<'_>) -> Option<u64> {
    let mined = u128::from(issuance::mined_btc(scene.height()?));
    let micros = u128::from(scene.shown_price()?.micros) * mined;
    u64::try_from((micros + u128::from(MICRO / 2)) / u128::from(MICRO)).ok()
}

/// The value with a letter, and in words.
pub fn tile(scene: &Scene<'_>) -> Tile {
    let labels = ticker::labels(scene.currency, "Market value", "Market", "Cap");
    let Some((value, price)) = value(scene).zip(scene.shown_price()) else {
        return Tile::unknown(labels);
    };
    let (number, unit) = short(value);
    let letter = unit.get(..1).unwrap_or_default().to_ascii_uppercase();
    let figure = ticker::figure(scene.currency, format!("{number}{letter}"));
    let amount = format!("{number} {unit}");
    let (amount, name) = (amount.trim(), words::units(&scene.currency));
    let tile =
        Tile::new(labels, Vec::from([figure])).line([format!("{amount} {name}"), amount.into()]);
    let series = Series::Price(scene.currency);
    day::add(tile, Moving::Value, series, price.micros, scene)
}

/// A value with three digits, and the name of its unit. Beyond trillions few people know a name.
fn short(value: u64) -> (String, &'static str) {
    let in_unit = |(unit, name): &(u64, &'static str)| {
        let (value, unit) = (value.into(), (*unit).into());
        let steps: &[(u32, u128)] = if unit == 1 { &[] } else { &[(2, 10), (1, 100)] };
        let text = decimal::within(value, unit, steps);
        (
            text.unwrap_or_else(|| decimal::rounded(value, unit, 0)),
            *name,
        )
    };
    let (number, name) = decimal::below_thousand(UNITS.iter().map(in_unit)).unwrap_or_default();
    (spoken::grouped(&number), name)
}

/// The value in millions.
pub fn sentence(scene: &Scene<'_>) -> Sentence {
    const MILLION: u64 = 1_000_000;
    let Some(value) = value(scene) else {
        return MARKET_CAP_UNKNOWN.into();
    };
    let millions = spoken::number(decimal::rounded(value.into(), MILLION.into(), 0));
    let code = scene.currency.code();
    MARKET_CAP.with("millions", millions).with("currency", code)
}
