//! Shown in place of an empty screen if neither chain nor prices were ever received.

use alloc::{format, string::String, vec::Vec};

use super::{prose, row};
use crate::{
    cells::Cell,
    spoken::{self, Sentence, SentenceTemplate},
    tile::Tile,
};

const NO_DATA: SentenceTemplate = SentenceTemplate::new("No data so far: {why}");
const NO_ANSWER_YET: SentenceTemplate = SentenceTemplate::new("no source has answered yet.");
const NO_NETWORK: SentenceTemplate = SentenceTemplate::new("there is no network.");

/// Height of the text, px.
const PX: u32 = 22;

/// Characters of an error that are shown; the page shows all of it.
const REASON_CHARS: usize = 72;

/// Why nothing was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silence {
    /// There is no network.
    NoNetwork,
    /// No source has answered yet.
    NoAnswer,
    /// The last error of a source.
    Error(String),
}

/// What is missing and why, what the clock does about it, and the address of the page for more.
///
/// `page` may be empty.
pub fn cells(silence: &Silence, page: &str, panels: usize) -> Vec<Cell> {
    let reason = match silence {
        Silence::NoNetwork => "no network",
        Silence::NoAnswer => "No source has answered yet.",
        Silence::Error(error) => error
            .char_indices()
            .nth(REASON_CHARS)
            .map_or(error.as_str(), |(end, _)| &error[..end]),
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

/// Below the labels of the screen that nothing was received, since when or why, and where there is more.
pub fn tile(labels: Vec<String>, silence: &Silence, since: Option<&str>, page: &str) -> Tile {
    let since = since.map(|since| {
        [
            format!("No source has answered since {since}"),
            format!("No answer since {since}"),
            format!("since {since}"),
        ]
    });
    let why = match silence {
        Silence::NoNetwork => Vec::from(["There is no network".into(), "No network".into()]),
        Silence::NoAnswer => match since {
            Some(since) => since.into(),
            None => ["No source has answered", "No answer"]
                .map(String::from)
                .into(),
        },
        Silence::Error(error) => [error.clone()]
            .into_iter()
            .chain(since.into_iter().flatten())
            .collect(),
    };
    let more = (!page.is_empty()).then(|| format!("More at {page}"));
    Tile::word(labels, "NO DATA").line(why).line(more)
}

/// What is missing and why, as a sentence.
pub fn sentence(silence: &Silence) -> Sentence {
    match silence {
        Silence::NoNetwork => NO_DATA.with("why", NO_NETWORK),
        Silence::NoAnswer => NO_DATA.with("why", NO_ANSWER_YET),
        Silence::Error(error) => NO_DATA.with("why", spoken::closed(error)),
    }
}
