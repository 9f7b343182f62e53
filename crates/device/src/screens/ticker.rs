//! Price of one bitcoin in a currency.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    Scene,
    day::{self, Moving},
    decimal, price_layout, row, sats_per_currency, signs, suffix, words,
};
use crate::{
    cells::Cell,
    history::Series,
    spoken::{self, Sentence, SentenceTemplate},
    tile::{Figure, Tile},
};
use market::units::{Currency, MICRO, Price};

const PRICE: SentenceTemplate = SentenceTemplate::new("1 bitcoin costs {price} {currency}.");

/// Characters of a price in millions.
const MILLIONS_WIDTH: usize = 7;

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

/// The price, and how many satoshis one unit buys.
pub fn tile(scene: &Scene<'_>) -> Tile {
    let currency = scene.currency;
    let labels = labels(currency, "Bitcoin price", "Price", "BTC");
    let Some(price) = scene.shown_price() else {
        return Tile::unknown(labels);
    };
    let sats = sats_per_currency::numbers(price).remove(0);
    let name = words::one_unit(&currency);
    let sign = signs::own(currency).unwrap_or(currency.code());
    let tile = Tile::new(labels, figures(price, scene));
    let series = Series::Price(currency);
    day::add(tile, Moving::Value, series, price.micros, scene).line([
        format!("{sats} sats for one {name}"),
        format!("{sats} sats per {sign}"),
    ])
}

/// Forms of a label, with the code of a currency without a sign of its own; `tiny` has three letters.
pub fn labels(currency: Currency, full: &str, short: &str, tiny: &str) -> Vec<String> {
    if signs::own(currency).is_none() {
        Vec::from([
            format!("{full}, {currency}"),
            format!("{short}, {currency}"),
            format!("{tiny} {currency}"),
        ])
    } else {
        Vec::from([full.into(), short.into()])
    }
}

/// Forms of a price as words.
pub fn words(price: Price, scene: &Scene<'_>) -> Vec<String> {
    let figures = figures(price, scene).into_iter();
    let written = |Figure { sign, text, .. }: Figure| match sign.as_str() {
        "" => format!("{text} {}", scene.currency),
        sign => format!("{sign}{text}"),
    };
    figures.map(written).collect()
}

fn figures(price: Price, scene: &Scene<'_>) -> Vec<Figure> {
    let numbers = if scene.settings.mow_mode {
        Vec::from([suffix::in_millions(price.rounded(), MILLIONS_WIDTH)])
    } else if scene.settings.suffix_price && price.micros >= 100 * MICRO {
        Vec::from([words::suffixed(price.rounded())])
    } else {
        numbers(price)
    };
    let figures = numbers.into_iter();
    figures
        .map(|number| figure(scene.currency, number))
        .collect()
}

/// A price in full: three decimals below one, two below a thousand unless it is whole.
fn numbers(price: Price) -> Vec<String> {
    let is_whole = price.micros.is_multiple_of(MICRO);
    let steps: &[(u32, u128)] = if is_whole { &[] } else { &[(3, 1), (2, 1000)] };
    match decimal::within(price.micros.into(), MICRO.into(), steps) {
        Some(text) => Vec::from([text]),
        None => words::whole(price.rounded()),
    }
}

/// A number after the sign of a currency; without a sign the label has its code.
pub fn figure(currency: Currency, number: String) -> Figure {
    Figure {
        sign: signs::sign(currency).unwrap_or_default().into(),
        ..Figure::number(number)
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
