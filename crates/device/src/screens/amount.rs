//! Amounts of satoshis with a label and an icon: the layout of zaps, payments and the balance.

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use super::{decimal, row};
use crate::{
    cells::{Cell, Icon},
    spoken::{self, Sentence, SentenceTemplate},
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
