//! Signs before a number: of a currency, satoshis or bitcoin.

use crate::{cells::Cell, settings::Settings};
use market::units::Currency;

/// Sign of the won. The fonts lack it, and only tiles have a drawing of it.
const WON: &str = "₩";

/// The sign of a currency, or its code if the fonts have no sign of it.
pub fn currency(currency: Currency) -> Cell {
    match sign(currency) {
        Some(WON) | None => Cell::Code(currency.code().into()),
        Some(sign) => Cell::digit(sign),
    }
}

/// The sign of a currency. `None` if it has none of one character.
pub fn sign(currency: Currency) -> Option<&'static str> {
    match currency.code() {
        "USD" | "CAD" | "AUD" => Some("$"),
        "EUR" => Some("€"),
        "GBP" => Some("£"),
        "JPY" => Some("¥"),
        "KRW" => Some(WON),
        _ => None,
    }
}

/// The sign of a currency, if no other currency of these has it.
pub fn own(currency: Currency) -> Option<&'static str> {
    sign(currency).filter(|_| !matches!(currency.code(), "CAD" | "AUD"))
}

/// The marker before an amount of satoshis, if it is switched on.
pub fn satoshi_marker(settings: &Settings) -> Option<Cell> {
    match settings.price_sym_mode {
        1 => Some(Cell::Sats),
        2 => Some(Cell::digit('₿')),
        _ => None,
    }
}
