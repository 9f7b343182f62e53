//! Signs before a number: of a currency, satoshis or bitcoin.

use crate::{cells::Cell, settings::Settings};
use market::units::Currency;

/// The sign of a currency, or its code if it has no sign of one character.
pub fn currency(currency: Currency) -> Cell {
    match currency.code() {
        "USD" | "CAD" | "AUD" => Cell::digit('$'),
        "EUR" => Cell::digit('€'),
        "GBP" => Cell::digit('£'),
        "JPY" => Cell::digit('¥'),
        code => Cell::Code(code.into()),
    }
}

/// The marker before an amount of satoshis, if it is switched on.
pub fn satoshi_marker(settings: &Settings) -> Option<Cell> {
    match settings.price_sym_mode {
        1 => Some(Cell::Sats),
        2 => Some(Cell::digit('₿')),
        _ => None,
    }
}
