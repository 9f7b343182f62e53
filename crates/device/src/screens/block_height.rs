//! Height of the chain tip.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{Scene, row, spoken};
use crate::cells::Cell;

/// The height in full; once it needs every panel, the label goes.
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
pub fn sentence(scene: &Scene<'_>) -> String {
    match scene.height() {
        Some(height) => format!("Block height {}.", spoken::number(&height.to_string())),
        None => spoken::unknown("The block height"),
    }
}
