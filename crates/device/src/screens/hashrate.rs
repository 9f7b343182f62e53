//! Hashrates as text, with their units.

use alloc::{
    format,
    string::{String, ToString},
};

use super::decimal;
use crate::{
    cells::Cell,
    spoken::{self, SentenceTemplate},
    tile::Figure,
};
use market::units::Hashrate;

const HASHES: SentenceTemplate = SentenceTemplate::new("hashes per second");
const KILOHASHES: SentenceTemplate = SentenceTemplate::new("kilohashes per second");
const MEGAHASHES: SentenceTemplate = SentenceTemplate::new("megahashes per second");
const GIGAHASHES: SentenceTemplate = SentenceTemplate::new("gigahashes per second");
const TERAHASHES: SentenceTemplate = SentenceTemplate::new("terahashes per second");
const PETAHASHES: SentenceTemplate = SentenceTemplate::new("petahashes per second");
const EXAHASHES: SentenceTemplate = SentenceTemplate::new("exahashes per second");
const ZETTAHASHES: SentenceTemplate = SentenceTemplate::new("zettahashes per second");

/// Powers of ten with the letters of their units, smallest first.
const UNITS: &[(u32, &str)] = &[
    (0, "H"),
    (3, "KH"),
    (6, "MH"),
    (9, "GH"),
    (12, "TH"),
    (15, "PH"),
    (18, "EH"),
    (21, "ZH"),
];

/// Units as words, by the letters before the slash.
const SPOKEN: &[(&str, SentenceTemplate)] = &[
    ("ZH", ZETTAHASHES),
    ("EH", EXAHASHES),
    ("PH", PETAHASHES),
    ("TH", TERAHASHES),
    ("GH", GIGAHASHES),
    ("MH", MEGAHASHES),
    ("KH", KILOHASHES),
];

/// Characters of a hashrate in a tile.
pub const TILE_WIDTH: usize = 6;

/// A hashrate as the figure of a tile, `?` if it is not known.
pub fn figure(rate: Option<(String, Cell)>) -> Figure {
    match rate {
        Some((number, unit)) => {
            Figure::number(spoken::grouped(&number)).with_unit(format!("{}/s", letters(&unit)))
        }
        None => Figure::word("?"),
    }
}

/// A hashrate in a line.
pub fn words(rate: (String, Cell)) -> String {
    let (number, unit) = rate;
    format!("{} {}/s", spoken::grouped(&number), letters(&unit))
}

/// The letters of a unit before the slash.
fn letters(unit: &Cell) -> String {
    let written = unit.mirror();
    written.split('/').next().unwrap_or_default().into()
}

/// The unit as words, such as `terahashes per second`.
pub fn spoken(unit: &Cell) -> SentenceTemplate {
    let letters = letters(unit);
    let found = SPOKEN.iter().find(|(short, _)| *short == letters);
    found.map_or(HASHES, |(_, words)| *words)
}

/// A pool's hashrate with as many decimals as fit, without trailing zeros, and its unit.
pub fn filling(hashrate: Hashrate, width: usize) -> (String, Cell) {
    in_unit(UNITS, |power| {
        let unit = 10u128.pow(power);
        let whole_digits = (hashrate.0 / unit).to_string().len();
        let decimals = u32::try_from(width.saturating_sub(whole_digits + 1)).unwrap_or(0);
        let text = decimal::rounded(hashrate.0, unit, decimals);
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').into()
        } else {
            text
        }
    })
}

/// A miner's hashrate in GH/s, TH/s or PH/s: one decimal below 10 TH/s or PH/s, otherwise none.
pub fn brief(hashrate: Hashrate) -> (String, Cell) {
    in_unit(&UNITS[3..6], |power| {
        let unit = 10u128.pow(power);
        let decimals = u32::from(power > 9 && hashrate.0 < 10 * unit);
        decimal::rounded(hashrate.0, unit, decimals)
    })
}

/// The number in the unit in which it is below 1000, and that unit.
fn in_unit(units: &[(u32, &str)], text: impl Fn(u32) -> String) -> (String, Cell) {
    let texts = units
        .iter()
        .map(|(power, letters)| (text(*power), *letters));
    let (text, letters) = decimal::below_thousand(texts).unwrap_or_default();
    (text, Cell::unit(letters, "S"))
}
