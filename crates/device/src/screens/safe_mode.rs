//! The reason of the safe mode.

use alloc::{format, string::String, vec, vec::Vec};

use super::{prose, row};
use crate::{
    cells::{BlockLine, Cell},
    spoken::{self, Sentence, SentenceTemplate},
    tile::Tile,
};

const SAFE_MODE: SentenceTemplate = SentenceTemplate::new("Safe mode: {why}");

/// Height of the reason, px.
const PX: u32 = 26;

/// Characters on a line of the reason.
const LINE_CHARS: usize = 10;

/// Maximum lines of the reason on one panel.
const LINES: usize = 7;

/// The reason, spread evenly over as many panels as it needs.
pub fn cells(reason: &str, panels: usize) -> Vec<Cell> {
    let mut cells = vec![Cell::label("SAFE", "MODE")];
    let lines = prose::wrap(reason, LINE_CHARS);
    let needed = lines.len().div_ceil(LINES).max(1);
    let each = lines.len().div_ceil(needed).max(1);
    cells.extend(lines.chunks(each).map(|lines| {
        let line = |text: &String| BlockLine {
            text: text.clone(),
            bold: false,
        };
        Cell::Block {
            lines: lines.iter().map(line).collect(),
            px: PX,
        }
    }));
    row::left(cells, panels)
}

/// That no source runs, the reason, and where there is more.
pub fn tile(reason: &str, page: &str) -> Tile {
    let more = (!page.is_empty()).then(|| format!("More at {page}"));
    Tile::word(["Safe mode", "Safe"], "SOURCES OFF")
        .line([reason, "The page says why"])
        .line(more)
}

/// The reason as a sentence.
pub fn sentence(reason: &str) -> Sentence {
    SAFE_MODE.with("why", spoken::closed(reason))
}
