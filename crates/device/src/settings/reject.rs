//! Why a change of settings is refused; `Display` writes the token for clients.

use alloc::{format, string::String};
use core::fmt;

use super::{
    SPECS,
    kinds::{SettingKind, board_screens},
    spec::Spec,
};

/// Why a change of settings is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// The body is empty or too large.
    BadBody,
    /// The body is not valid JSON.
    Json,
    /// The root is not a JSON object.
    NotObject,
    /// Wrong JSON type.
    BadType(String),
    /// A text that cannot be stored; same token as a wrong type.
    BadText(String, TextFault),
    /// The text exceeds a limit of storage or hardware.
    BadLength(String),
    /// Not a key in hex.
    BadHex(String),
    /// URL with a forbidden scheme.
    BadScheme(String),
    /// Not in the catalogue.
    Unknown(String),
    /// Number out of bounds.
    Range(String),
    /// Some screens have an order and some do not.
    ScreensPartialOrder,
    /// A screen entry is not an object or has no id.
    ScreensBadEntry,
    /// No screen has that id.
    ScreensUnknownId,
    /// Two entries share an id.
    ScreensDupId,
    /// Two entries share an order.
    ScreensDupOrder,
    /// An order is out of range.
    ScreensOrderRange,
    /// A new order does not list every screen.
    ScreensIncomplete,
    /// The screens of the board.
    Board(BoardFault),
    /// A currency is not a string.
    CurrencyNotString,
    /// Hour or minute out of range.
    DndRange,
}

/// Why screens cannot be those of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoardFault {
    /// An entry is no id, or has a currency although its screen has none.
    BadEntry,
    /// No screen has that id.
    UnknownId,
    /// There are too few or too many.
    Number,
    /// The feature of a screen is off.
    ScreenOff,
    /// A currency is not in the rotation.
    CurrencyNotActive,
    /// A screen is there twice.
    DupId,
}

/// Why a text cannot be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFault {
    /// It has more than this many bytes.
    TooLong(usize),
    /// It contains control characters.
    Control,
    /// It contains a colon.
    Colon,
    /// It is not a topic, or has wildcards.
    Topic,
    /// It is not a list of valid topic levels.
    Names,
    /// It is not a version.
    Version,
    /// It is not valid PEM for this purpose.
    Pem(&'static str),
}

impl Rejection {
    /// What is accepted instead, as a text for people.
    pub fn hint(&self) -> String {
        let words = match self {
            Rejection::BadBody => "the body is empty or too large",
            Rejection::Json => "the body is not JSON",
            Rejection::NotObject => "the body is not a JSON object",
            Rejection::BadText(key, fault) => return fault.hint(key),
            Rejection::BadLength(key) => return format!("{key} takes {}", needed(key)),
            Rejection::BadType(key)
            | Rejection::BadHex(key)
            | Rejection::BadScheme(key)
            | Rejection::Unknown(key)
            | Rejection::Range(key) => {
                let accepted = spec(key).map(|spec| match spec.kind.catalogue() {
                    Some(ids) => format!("one of `{}`", ids.join("`, `")),
                    None => spec.kind.words(),
                });
                return format!(
                    "{key} takes {}",
                    accepted.unwrap_or_else(|| "another value".into())
                );
            }
            Rejection::ScreensPartialOrder => {
                "either all entries of screens have an order, or none"
            }
            Rejection::ScreensBadEntry => "every entry of screens is an object with an id",
            Rejection::ScreensUnknownId => "screens takes the ids that GET lists",
            Rejection::ScreensDupId => "screens takes each id once",
            Rejection::ScreensDupOrder => "screens takes each order once",
            Rejection::ScreensOrderRange => "an order is less than the number of screens",
            Rejection::ScreensIncomplete => "a new order names every screen",
            Rejection::Board(fault) => {
                return format!(
                    "boardScreens takes {}: {}",
                    board_screens::BoardScreens.words(),
                    fault.hint()
                );
            }
            Rejection::CurrencyNotString => "a currency is a text such as USD",
            Rejection::DndRange => "hours are 0 to 23, and minutes 0 to 59",
        };
        words.into()
    }
}

fn spec(key: &str) -> Option<&'static Spec> {
    let is_it = |spec: &&Spec| spec.name == key || spec.alias == Some(key);
    SPECS.iter().find(is_it)
}

/// What a text needs that is too short, or a list that is too long.
fn needed(key: &str) -> &'static str {
    match spec(key).map(|spec| spec.kind) {
        Some(kind) if kind.password().is_some() => "a password in the same change, or before",
        Some(kind) if kind.is_text() => "a text in the same change, or before",
        _ => "fewer entries",
    }
}

impl BoardFault {
    fn hint(self) -> &'static str {
        match self {
            BoardFault::BadEntry => "an entry is neither",
            BoardFault::UnknownId => "no screen has one of these ids",
            BoardFault::Number => "there are too few or too many",
            BoardFault::ScreenOff => "the feature of a screen is off",
            BoardFault::CurrencyNotActive => "a currency is not in actCurrencies",
            BoardFault::DupId => "each may be there once",
        }
    }

    fn token(self) -> &'static str {
        match self {
            BoardFault::BadEntry => "bad_entry",
            BoardFault::UnknownId => "unknown_id",
            BoardFault::Number => "bad_length",
            BoardFault::ScreenOff => "screen_off",
            BoardFault::CurrencyNotActive => "currency_not_active",
            BoardFault::DupId => "dup_id",
        }
    }
}

impl TextFault {
    fn hint(self, key: &str) -> String {
        match self {
            TextFault::TooLong(max) => format!("{key} takes at most {max} bytes"),
            TextFault::Control => format!("{key} takes no line breaks or other control characters"),
            TextFault::Colon => format!("{key} takes no colon, which ends the name in a sign-in"),
            TextFault::Topic => format!(
                "{key} takes a topic: words with slashes between them, without + and #, and no $ at the start"
            ),
            TextFault::Names => {
                format!("{key} takes names of letters, digits, - and _ with commas between them")
            }
            TextFault::Version => {
                format!("{key} takes a version such as 4.3.0 or 4.3.0-rc.1, or nothing")
            }
            TextFault::Pem(what) => format!("{key} takes {what} in PEM form"),
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::BadBody => formatter.write_str("bad body"),
            Rejection::Json => formatter.write_str("json"),
            Rejection::NotObject => formatter.write_str("not_object"),
            Rejection::BadType(key) | Rejection::BadText(key, _) => {
                write!(formatter, "{key}:bad_type")
            }
            Rejection::BadLength(key) => write!(formatter, "{key}:bad_length"),
            Rejection::BadHex(key) => write!(formatter, "{key}:bad_hex"),
            Rejection::BadScheme(key) => write!(formatter, "{key}:bad_scheme"),
            Rejection::Unknown(key) => write!(formatter, "{key}:unknown"),
            Rejection::Range(key) => write!(formatter, "range:{key}"),
            Rejection::ScreensPartialOrder => formatter.write_str("screens:partial_order"),
            Rejection::ScreensBadEntry => formatter.write_str("screens:bad_entry"),
            Rejection::ScreensUnknownId => formatter.write_str("screens:unknown_id"),
            Rejection::ScreensDupId => formatter.write_str("screens:dup_id"),
            Rejection::ScreensDupOrder => formatter.write_str("screens:dup_order"),
            Rejection::ScreensOrderRange => formatter.write_str("screens:order_range"),
            Rejection::ScreensIncomplete => formatter.write_str("screens:incomplete"),
            Rejection::Board(fault) => write!(formatter, "boardScreens:{}", fault.token()),
            Rejection::CurrencyNotString => formatter.write_str("currency:not_string"),
            Rejection::DndRange => formatter.write_str("dnd:range"),
        }
    }
}
