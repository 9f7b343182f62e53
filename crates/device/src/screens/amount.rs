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
use market::units::{SATS_PER_BTC, Sats};

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
/// Billions are used until they do not fit. An unknown or impossible amount is `?`.
pub fn satoshis(amount: Option<Sats>, width: usize) -> String {
    let Some(Sats(sats)) = amount.filter(|amount| *amount < IMPOSSIBLE) else {
        return "?".into();
    };
    let full = sats.to_string();
    if full.len() <= width {
        return full;
    }
    let texts = UNITS
        .iter()
        .filter(|(unit, _)| sats < unit * 1000 || *unit >= BILLION)
        .map(|(unit, letter)| with_letter(sats, *unit, *letter));
    let mut fitting = texts.filter(|text| text.len() <= width);
    fitting.next().unwrap_or_else(|| "?".into())
}

/// An amount as a sentence, in full.
pub fn spoken(Sats(sats): Sats) -> Sentence {
    spoken::count(sats, SAT, SATS)
}

/// Bitcoin with a fixed number of decimals.
pub fn bitcoin(amount: Sats, decimals: u32) -> String {
    decimal::rounded(amount.0.into(), SATS_PER_BTC.into(), decimals)
}

fn with_letter(sats: u64, unit: u64, letter: char) -> String {
    let number = match sats >= 10 * unit {
        true => decimal::rounded(sats.into(), unit.into(), 0),
        false => decimal::rounded(sats.into(), unit.into(), 1),
    };
    format!("{number}{letter}")
}
