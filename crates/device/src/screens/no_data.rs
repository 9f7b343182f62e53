//! The notice that nothing was ever learned of chain and prices, in place of a screen that would be empty.

use alloc::vec::Vec;

use super::{prose, row};
use crate::{
    cells::Cell,
    market::NO_NETWORK,
    spoken::{self, Sentence},
};

/// Height of the text, px.
const PX: u32 = 22;

/// Most characters of what a source says; the page has all of it.
const REASON_CHARS: usize = 72;

/// What is missing, why, what is done about it, and where there is more.
///
/// `reason` is what a source has said last, `page` where the page is; either may be empty.
pub fn cells(reason: &str, page: &str, panels: usize) -> Vec<Cell> {
    let reason = match reason {
        "" => "No source has answered yet.",
        told => told
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
pub fn sentence(reason: &str) -> Sentence {
    match reason {
        "" => spoken::NO_DATA.with("why", spoken::NO_ANSWER_YET),
        NO_NETWORK => spoken::NO_DATA.with("why", spoken::NO_NETWORK),
        told => spoken::NO_DATA.with("why", spoken::closed(told)),
    }
}
