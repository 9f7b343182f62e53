//! Layout of a price: in full if it fits, otherwise with a letter.

use alloc::{vec, vec::Vec};

use super::{decimal, row, suffix};
use crate::{cells::Cell, settings::Settings};
use market::units::{MICRO, Price};

/// The smallest price that is shown as a number, millionths.
const SHOWN_MIN: u64 = MICRO / 100;

/// A price in full, with its sign if there is room: decimals by magnitude, none if they do not fit.
pub fn plain(price: Price, sign: Cell, width: usize) -> Vec<Cell> {
    let text = |decimals| decimal::rounded(price.micros.into(), MICRO.into(), decimals);
    let mut number = match price.micros {
        1..SHOWN_MIN => "<0.01".into(),
        _ => text(decimals(price, width)),
    };
    if number.len() > width {
        number = text(0);
    }
    if number.len() < width {
        after(sign, row::digits(&number))
    } else {
        row::digits(&number)
    }
}

/// A price with a letter; decimals fill up to `width` characters.
pub fn suffixed(price: Price, sign: Cell, width: usize, settings: &Settings) -> Vec<Cell> {
    let text = if settings.mow_mode {
        suffix::in_millions(price.rounded(), width)
    } else {
        suffix::suffixed(price.rounded(), width)
    };
    after(sign, row::number(&text, settings))
}

/// A sign followed by a number.
pub fn after(sign: Cell, mut number: Vec<Cell>) -> Vec<Cell> {
    let mut cells = vec![sign];
    cells.append(&mut number);
    cells
}

/// Decimals of a price; none if there are seven panels or more for the number.
fn decimals(price: Price, width: usize) -> u32 {
    if width >= 7 && price.micros.is_multiple_of(MICRO) {
        return 0;
    }
    match price.micros {
        100_000_000_000.. => 0,
        100_000_000.. => 1,
        1_000_000.. => 2,
        0 => 0,
        cents if cents.is_multiple_of(SHOWN_MIN) => 2,
        _ => 3,
    }
}
