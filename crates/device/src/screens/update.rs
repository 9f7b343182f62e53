//! The progress of an update.

use alloc::{format, string::ToString, vec::Vec};

use super::row;
use crate::{
    cells::Cell,
    spoken::{self, Sentence, SentenceTemplate},
    tile::{Figure, Graph, Tile},
};

const UPDATE: SentenceTemplate =
    SentenceTemplate::new("An update is on its way, {percent} percent.");

/// The progress, percent.
pub fn cells(percent: u8, panels: usize) -> Vec<Cell> {
    let text = format!("{}%", percent.min(100));
    row::labelled(Cell::label("UP", "DATE"), row::digits(&text), panels)
}

/// The progress with a bar, and what happens then.
pub fn tile(percent: u8) -> Tile {
    let percent = percent.min(100);
    let figure = Figure {
        tail: "%".into(),
        ..Figure::number(percent.to_string())
    };
    Tile {
        graph: Some(Graph::Bar(u16::from(percent) * 10)),
        ..Tile::new(["Update"], Vec::from([figure]))
            .line(["The clock restarts by itself", "It restarts by itself"])
    }
}

/// The progress as a sentence.
pub fn sentence(percent: u8) -> Sentence {
    UPDATE.with("percent", spoken::number(percent.min(100)))
}
