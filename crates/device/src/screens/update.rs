//! The progress of an update.

use alloc::{format, vec::Vec};

use super::row;
use crate::{
    cells::Cell,
    spoken::{self, Sentence, SentenceTemplate},
};

const UPDATE: SentenceTemplate =
    SentenceTemplate::new("An update is on its way, {percent} percent.");

/// The progress, percent.
pub fn cells(percent: u8, panels: usize) -> Vec<Cell> {
    let text = format!("{}%", percent.min(100));
    row::labelled(Cell::label("UP", "DATE"), row::digits(&text), panels)
}

/// The progress as a sentence.
pub fn sentence(percent: u8) -> Sentence {
    UPDATE.with("percent", spoken::number(percent.min(100)))
}
