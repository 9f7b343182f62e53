//! Hashrates as text, with their units.

use alloc::{
    format,
    string::{String, ToString},
};

use super::decimal;
use crate::{cells::Cell, spoken::SentenceTemplate};
use market::units::Hashrate;

const HASHES: SentenceTemplate = SentenceTemplate::new("hashes per second");
const KILOHASHES: SentenceTemplate = SentenceTemplate::new("kilohashes per second");
const MEGAHASHES: SentenceTemplate = SentenceTemplate::new("megahashes per second");
const GIGAHASHES: SentenceTemplate = SentenceTemplate::new("gigahashes per second");
const TERAHASHES: SentenceTemplate = SentenceTemplate::new("terahashes per second");
const PETAHASHES: SentenceTemplate = SentenceTemplate::new("petahashes per second");
const EXAHASHES: SentenceTemplate = SentenceTemplate::new("exahashes per second");
const ZETTAHASHES: SentenceTemplate = SentenceTemplate::new("zettahashes per second");

/// Powers of ten with the letters of their units, largest first.
const UNITS: &[(u32, &str)] = &[
    (21, "ZH"),
    (18, "EH"),
    (15, "PH"),
    (12, "TH"),
    (9, "GH"),
    (6, "MH"),
    (3, "KH"),
    (0, "H"),
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

/// The unit as words, such as `terahashes per second`.
pub fn spoken(unit: &Cell) -> SentenceTemplate {
    let written = unit.mirror();
    let letters = written.split('/').next();
    let found = SPOKEN.iter().find(|(short, _)| Some(*short) == letters);
    found.map_or(HASHES, |(_, words)| *words)
}

/// A pool's hashrate with as many decimals as fit, without trailing zeros, and its unit.
pub fn filling(hashrate: Hashrate, width: usize) -> (String, Cell) {
    let digits = hashrate.0.to_string().len();
    let fits = |(power, _): &&(u32, &str)| digits > *power as usize;
    let &(power, unit) = UNITS.iter().find(fits).unwrap_or(&(0, "H"));
    let whole_digits = digits - power as usize;
    let decimals = u32::try_from(width.saturating_sub(whole_digits + 1)).unwrap_or(0);
    let text = decimal::rounded(hashrate.0, 10u128.pow(power), decimals);
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    };
    (text, Cell::unit(unit, "S"))
}

/// A miner's hashrate in GH/s, TH/s or PH/s: one decimal below 10 TH/s or PH/s, otherwise none.
pub fn brief(hashrate: Hashrate) -> (String, Cell) {
    let power = match hashrate.0 {
        0..1_000_000_000_000 => 9,
        1_000_000_000_000..1_000_000_000_000_000 => 12,
        1_000_000_000_000_000.. => 15,
    };
    let unit = 10u128.pow(power);
    let decimals = u32::from(power > 9 && hashrate.0 < 10 * unit);
    let letter = match power {
        9 => "G",
        12 => "T",
        _ => "P",
    };
    let unit_cell = Cell::unit(format!("{letter}H"), "S");
    (decimal::rounded(hashrate.0, unit, decimals), unit_cell)
}
