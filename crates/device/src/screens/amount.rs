//! Amounts of satoshis with a label and an icon: the layout of zaps, payments and the balance.

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use super::{Scene, decimal, row, words};
use crate::{
    cells::{Cell, Icon},
    settings::Settings,
    spoken::{self, Sentence, SentenceTemplate},
    tile::Figure,
};
use market::units::{Msats, SATS_PER_BTC, Sats};

const LESS_THAN_SAT: SentenceTemplate = SentenceTemplate::new("less than 1 sat");
const SAT: SentenceTemplate = SentenceTemplate::new("1 sat");
const SATS: SentenceTemplate = SentenceTemplate::new("{count} sats");

const BILLION: u64 = 1_000_000_000;

/// Units of an amount with their letters, smallest first.
const UNITS: &[(u64, char)] = &[
    (1000, 'K'),
    (1_000_000, 'M'),
    (BILLION, 'B'),
    (1_000_000_000_000, 'T'),
    (1_000_000_000_000_000, 'Q'),
];

/// Number of the bitcoin sign among the markers of satoshis.
const BITCOIN_SIGN: u32 = 2;

/// More satoshis than can ever exist.
const IMPOSSIBLE: Sats = Sats(21_000_000 * SATS_PER_BTC + 1);

/// A label, an icon, and a number with its marker if a panel is free for it.
pub fn frame(
    label: &str,
    icon: Icon,
    number: Vec<Cell>,
    marker: Option<Cell>,
    panels: usize,
) -> Vec<Cell> {
    let width = panels.saturating_sub(2);
    let marker = marker.filter(|_| number.len() < width);
    let tail = row::right(marker.into_iter().chain(number).collect(), width);
    let mut cells = vec![Cell::Word(label.into()), Cell::Icon(icon)];
    cells.extend(tail);
    cells.truncate(panels);
    cells
}

/// Satoshis in full, or with a letter: one decimal below ten, none from ten on.
///
/// Billions are used until they do not fit. An unknown or impossible amount is `?`, a part of a satoshi `<1`.
pub fn satoshis(amount: Option<Msats>, width: usize) -> String {
    let possible = amount.filter(|amount| amount.sats() < IMPOSSIBLE);
    let sats = match possible {
        None => return "?".into(),
        Some(Msats(1..1000)) => return "<1".into(),
        Some(amount) => amount.sats().0,
    };
    let full = sats.to_string();
    if full.len() <= width {
        return full;
    }
    let in_units = UNITS.iter().map(|(unit, letter)| {
        let decimals = u32::from(sats < 10 * unit);
        let number = decimal::rounded(sats.into(), (*unit).into(), decimals);
        (number, *unit, *letter)
    });
    let is_short = |number: &str| number.find('.').unwrap_or(number.len()) <= 3;
    let mut fitting = in_units
        .filter(|(number, unit, _)| number.len() < width && (is_short(number) || *unit >= BILLION));
    let fitting = fitting.next();
    fitting.map_or_else(
        || "?".into(),
        |(number, _, letter)| format!("{number}{letter}"),
    )
}

/// Satoshis as the figures of a tile, from one bitcoin on in bitcoin too. An unknown or impossible amount is `?`.
pub fn figures(amount: Option<Msats>, icon: Option<Icon>, settings: &Settings) -> Vec<Figure> {
    let Some(amount) = amount.filter(|amount| amount.sats() < IMPOSSIBLE) else {
        return Vec::from([Figure::word("?")]);
    };
    let sats = amount.sats();
    let text = match amount {
        Msats(1..1000) => "<1".into(),
        _ => spoken::grouped(&sats.0.to_string()),
    };
    let unit = if matches!(amount, Msats(1..2000)) { "sat" } else { "sats" };
    let in_sats = match settings.price_sym_mode {
        BITCOIN_SIGN => Figure {
            sign: "₿".into(),
            ..Figure::number(text)
        },
        _ => Figure::number(text).with_unit(unit),
    };
    let in_bitcoin = (sats.0 >= SATS_PER_BTC)
        .then(|| Figure::number(spoken::grouped(&bitcoin(sats, 4))).with_unit("BTC"));
    let figures = [in_sats].into_iter().chain(in_bitcoin);
    figures.map(|figure| Figure { icon, ..figure }).collect()
}

/// What an amount is worth, as the forms of a line; none if no price is known.
pub fn worth(amount: Msats, scene: &Scene<'_>) -> Vec<String> {
    let price = scene.fresh_price().filter(|_| amount.sats() < IMPOSSIBLE);
    let Some(price) = price.filter(|_| amount.sats() > Sats(0)) else {
        return Vec::new();
    };
    let money = words::money(scene.currency, words::worth(amount.sats(), price));
    Vec::from([format!("Worth {money}"), money])
}

/// An amount as a sentence, in full.
pub fn spoken(amount: Msats) -> Sentence {
    match amount {
        Msats(1..1000) => LESS_THAN_SAT.into(),
        amount => spoken::count(amount.sats().0, SAT, SATS),
    }
}

/// Bitcoin with a fixed number of decimals.
pub fn bitcoin(amount: Sats, decimals: u32) -> String {
    decimal::rounded(amount.0.into(), SATS_PER_BTC.into(), decimals)
}
