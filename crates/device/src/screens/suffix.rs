//! Large numbers in few characters: a mantissa and one of the letters K, M, B, T, Q.

use alloc::{
    format,
    string::{String, ToString},
};

use super::decimal;

const MILLION: u64 = 1_000_000;
const BILLION: u64 = 1_000_000_000;

/// Units with their letters, largest first.
const UNITS: &[(u64, char)] = &[
    (1_000_000_000_000_000, 'Q'),
    (1_000_000_000_000, 'T'),
    (BILLION, 'B'),
    (MILLION, 'M'),
    (1000, 'K'),
];

/// Writes a number in at most `width` characters if its shortest form has no more, rounded.
///
/// Decimals fill the width, but a single free character stays empty: the dot alone would need it.
pub fn suffixed(value: u64, width: usize) -> String {
    if value < 1000 {
        return value.to_string();
    }
    let in_unit = |(unit, letter): &(u64, char)| {
        let text = |decimals| decimal::rounded(value.into(), u128::from(*unit), decimals);
        (text(decimals(width, text(0).len() + 2)), *letter)
    };
    let in_units = UNITS.iter().rev().map(in_unit);
    let (number, letter) = decimal::below_thousand(in_units).unwrap_or_default();
    format!("{number}{letter}")
}

/// Writes a number in millions, from a billion on with its letter in [`suffixed`], truncated after the last decimal;
/// always with a decimal, so `width` should be 6 or more.
pub fn in_millions(value: u64, width: usize) -> String {
    if value == 0 {
        return "0M".into();
    }
    let large = UNITS
        .iter()
        .find(|(unit, _)| *unit >= BILLION && value >= *unit);
    let (unit, letter) = large.unwrap_or(&(MILLION, 'M'));
    let text = |decimals| {
        format!(
            "{}{letter}",
            decimal::truncated(value.into(), u128::from(*unit), decimals)
        )
    };
    text(1 + decimals(width, text(1).len()))
}

/// Characters left for decimals, at most six.
fn decimals(width: usize, used: usize) -> u32 {
    u32::try_from(width.saturating_sub(used)).map_or(5, |free| free.min(5))
}
