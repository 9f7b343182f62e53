//! Best difficulty of the miner, as the miner writes it.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{Scene, miner, row};
use crate::{
    cells::Cell,
    spoken::{self, Sentence, SentenceTemplate},
    tile::{Figure, Tile},
};

const MINER_BEST: SentenceTemplate =
    SentenceTemplate::new("The best difficulty of the miner is {difficulty}.");

/// The miner's text, one character per panel, `?` if the miner does not report it, or that the miner is offline.
///
/// A dot shares a panel if that saves a digit; a text that is still too long loses its beginning.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let Some(figures) = miner::figures(scene) else {
        return row::offline(miner::IDENTITY, scene.panels);
    };
    let words = miner::best(figures).unwrap_or(miner::UNKNOWN);
    let mut parts: Vec<String> = words
        .chars()
        .map(|character| character.to_string())
        .collect();
    if parts.len() >= scene.panels {
        parts = row::fold(words);
    }
    let tail = parts.into_iter().map(Cell::Tail).collect();
    row::labelled(miner::IDENTITY, tail, scene.panels)
}

/// The miner's text and its hashrate.
pub fn tile(scene: &Scene<'_>) -> Tile {
    let labels = ["Best difficulty", "Best"];
    let Some(figures) = miner::figures(scene) else {
        return miner::offline(labels);
    };
    let figure = match miner::best(figures) {
        Some(best) if best.starts_with(|first: char| first.is_ascii_digit()) => {
            Figure::number(best)
        }
        best => Figure::word(best.unwrap_or(miner::UNKNOWN)),
    };
    let rate = miner::rate(figures).into_iter();
    Tile::new(labels, Vec::from([figure]))
        .line(rate.flat_map(|rate| [format!("Hashrate {rate}"), rate]))
}

/// The miner's text as a sentence.
pub fn sentence(scene: &Scene<'_>) -> Sentence {
    let Some(figures) = miner::figures(scene) else {
        return spoken::MINER_SILENT.into();
    };
    match miner::best(figures) {
        None => miner::WITHOUT_FIGURE.into(),
        Some(words) => MINER_BEST.with("difficulty", words),
    }
}
