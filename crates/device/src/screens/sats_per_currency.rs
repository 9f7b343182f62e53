//! Satoshis that one unit of a currency buys.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    Scene,
    day::{self, Moving},
    decimal, row, signs, suffix, words,
};
use crate::{
    cells::Cell,
    history::Series,
    spoken::{self, Sentence, SentenceTemplate},
    tile::{Figure, Tile},
};
use market::units::{Currency, MICRO, Price, SATS_PER_BTC};

const SATS_PER_CURRENCY: SentenceTemplate = SentenceTemplate::new("1 {currency} buys {sats} sats.");

/// Satoshis in a bitcoin, in the millionths of stored prices.
const SATS_MICROS: u64 = SATS_PER_BTC * MICRO;

/// More satoshis than this are not shown, because the price cannot be right.
const SATS_MAX: u64 = 4_000_000_000;

/// Characters of a spoken fraction.
const FRACTION_WIDTH: usize = 6;

/// Numbers of satoshis below this look like a time of day.
const READS_AS_TIME: u64 = 100_000;

/// Satoshis as a whole number, with a letter if it is too wide, as a fraction below one.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let label = Cell::label("SATS", scene.currency.code());
    let Some(price) = scene.price().filter(is_shown) else {
        return row::labelled(label, Vec::new(), scene.panels);
    };
    let marker = signs::satoshi_marker(scene.settings);
    let width = scene.panels.saturating_sub(1);
    match fraction(
        price,
        width,
        marker.is_some(),
        scene.settings.decimal_share_dot,
    ) {
        Some(text) => {
            let number = row::number(&text, scene.settings);
            row::labelled(
                label,
                marker.into_iter().chain(number).collect(),
                scene.panels,
            )
        }
        None => {
            let sats = rounded(price);
            let moscow = scene.settings.use_mscw_time
                && scene.currency == Currency::USD
                && sats < READS_AS_TIME;
            let label = if moscow { Cell::label("MSCW", "TIME") } else { label };
            row::labelled(label, whole(sats, width, marker), scene.panels)
        }
    }
}

/// Satoshis of one unit, and the price.
pub fn tile(scene: &Scene<'_>) -> Tile {
    let currency = scene.currency;
    let sign = signs::own(currency).unwrap_or(currency.code());
    let labels = [
        format!("Sats per {}", words::one_unit(&currency)),
        format!("Sats per {sign}"),
        format!("Sats/{sign}"),
    ];
    let Some(price) = scene.price().filter(is_shown) else {
        return Tile::unknown(labels);
    };
    let figures = numbers(price).into_iter();
    let figures = figures.map(|text| Figure::number(text).with_unit("sats"));
    let tile = Tile::new(labels, figures.collect());
    let series = Series::Price(currency);
    day::add(tile, Moving::Inverse, series, price.micros, scene)
        .line([words::money(currency, price.micros.into())])
}

/// Satoshis of one unit as numbers, the longest first: three digits or more, `<0.001` for less than they can show.
pub fn numbers(price: Price) -> Vec<String> {
    let (sats, micros) = (SATS_MICROS.into(), price.micros.max(1).into());
    match decimal::within(sats, micros, &[(3, 1), (2, 10), (1, 100)]) {
        Some(text) => Vec::from([text]),
        None => words::whole(rounded(price)),
    }
}

/// How many satoshis one unit buys.
pub fn sentence(scene: &Scene<'_>) -> Sentence {
    let code = scene.currency.code();
    match scene.price().filter(is_shown) {
        Some(price) => {
            let sats = fraction(price, FRACTION_WIDTH, false, false);
            let sats = sats.unwrap_or_else(|| rounded(price).to_string());
            SATS_PER_CURRENCY
                .with("currency", code)
                .with("sats", spoken::number(sats))
        }
        None => spoken::PRICE_UNKNOWN.into(),
    }
}

fn is_shown(price: &Price) -> bool {
    u128::from(price.micros) * u128::from(SATS_MAX) >= u128::from(SATS_MICROS)
}

/// Whole satoshis, rounded half up.
fn rounded(price: Price) -> u64 {
    (SATS_MICROS + price.micros / 2) / price.micros.max(1)
}

/// A whole number with its marker; without it if the number needs its panel.
fn whole(sats: u64, width: usize, marker: Option<Cell>) -> Vec<Cell> {
    let text = sats.to_string();
    if text.len() == width {
        return row::digits(&text);
    }
    let text = if text.len() < width {
        text
    } else {
        suffix::suffixed(sats, width.saturating_sub(marker.iter().len()))
    };
    let mut cells: Vec<Cell> = marker.into_iter().collect();
    cells.append(&mut row::digits(&text));
    cells
}

/// Less than one satoshi, as decimals that fill the width. `None` if that rounds to one or more.
fn fraction(price: Price, width: usize, marked: bool, dot_shares: bool) -> Option<String> {
    if price.micros <= SATS_MICROS {
        return None;
    }
    let used = usize::from(marked) + if dot_shares { 1 } else { 2 };
    let decimals = u32::try_from(width.saturating_sub(used)).unwrap_or(0);
    let text = decimal::rounded(SATS_MICROS.into(), price.micros.into(), decimals);
    text.starts_with("0.").then_some(text)
}
