//! What screens say in a sentence, for people who listen: the words that several of them use.

use alloc::{
    format,
    string::{String, ToString},
};

/// A number with its thousands apart, such as `1,234.5`.
pub fn number(text: &str) -> String {
    let (whole, decimals) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut spoken = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            spoken.push(',');
        }
        spoken.push(digit);
    }
    spoken + decimals
}

/// A number of things, such as `1 block` or `2 blocks`.
pub fn count(number_of: u64, thing: &str) -> String {
    let plural = if number_of == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", number(&number_of.to_string()))
}

/// That something is not known.
pub fn unknown(what: &str) -> String {
    format!("{what} is not known yet.")
}

/// A sentence of what may be none.
pub fn closed(text: &str) -> String {
    let text = text.trim();
    match text.ends_with(['.', '!', '?']) {
        true => text.into(),
        false => format!("{text}."),
    }
}
