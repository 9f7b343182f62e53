//! The notice that nothing was ever learned of chain and prices, in place of a screen that would be empty.

use alloc::vec::Vec;

use super::{prose, row};
use crate::{
    cells::Cell,
    spoken::{self, Sentence},
};

/// Height of the text, px.
const PX: u32 = 22;

/// Most characters of what a source says; the page has all of it.
const REASON_CHARS: usize = 72;

/// Why nothing was ever learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence<'a> {
    /// There is no network to ask anybody by.
    NoNetwork,
    /// Nobody has answered yet.
    NoAnswer,
    /// What a source has said last.
    Told(&'a str),
}

/// What is missing, why, what is done about it, and where there is more.
///
/// `page` is where the page is, and may be empty.
pub fn cells(silence: Silence<'_>, page: &str, panels: usize) -> Vec<Cell> {
    let reason = match silence {
        Silence::NoNetwork => "no network",
        Silence::NoAnswer => "No source has answered yet.",
        Silence::Told(told) => told
            .char_indices()
            .nth(REASON_CHARS)
            .map_or(told, |(end, _)| &told[..end]),
    };
    let cells = Vec::from([
        Cell::label("NO", "DATA"),
        prose::block(
            [prose::wrapped("No block, fee or price has come in so far.")],
            PX,
        ),
        prose::block([prose::entry("Why", reason)], PX),
        prose::block([prose::wrapped("The clock goes on trying by itself.")], PX),
        prose::block([prose::entry("More at", page)], PX),
    ]);
    row::left(cells, panels)
}

/// What is missing, and why.
pub fn sentence(silence: Silence<'_>) -> Sentence {
    match silence {
        Silence::NoNetwork => spoken::NO_DATA.with("why", spoken::NO_NETWORK),
        Silence::NoAnswer => spoken::NO_DATA.with("why", spoken::NO_ANSWER_YET),
        Silence::Told(told) => spoken::NO_DATA.with("why", spoken::closed(told)),
    }
}
