//! Height of the chain tip.

use alloc::{string::ToString, vec::Vec};

use super::{Scene, row};
use crate::{
    cells::Cell,
    spoken::{self, Sentence},
};

/// The height in full; without the label if it needs every panel.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let label = Cell::label("BLOCK", "HEIGHT");
    let text = scene
        .height()
        .map(|height| height.to_string())
        .unwrap_or_default();
    if text.len() >= scene.panels {
        return row::right(row::digits(&text), scene.panels);
    }
    row::labelled(label, row::digits(&text), scene.panels)
}

/// The height.
pub fn sentence(scene: &Scene<'_>) -> Sentence {
    match scene.height() {
        Some(height) => spoken::BLOCK_HEIGHT.with("height", spoken::number(height)),
        None => spoken::BLOCK_HEIGHT_UNKNOWN.into(),
    }
}
