//! How a value has moved in a day, as a line and a graph of a tile.

use alloc::{format, string::String};

use super::{Scene, decimal};
use crate::{
    history::Series,
    spoken,
    tile::{Graph, Tile},
};

/// Changes of at least this, per mille, are written without decimals.
const WHOLE_FROM: u32 = 100;

/// How a figure depends on its recorded series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moving {
    /// The value itself.
    Value,
    /// What one unit of the currency buys.
    Inverse,
}

/// Adds the graph of a day, and the change since yesterday as the next line unless the value is doubtful; neither without
/// a history.
pub fn add(tile: Tile, moving: Moving, series: Series, newest: u64, scene: &Scene<'_>) -> Tile {
    let Some(history) = scene.history else {
        return tile;
    };
    let change = history
        .day_change(series, newest)
        .filter(|_| scene.mark.is_none());
    let line = history.day_line(series, newest);
    let (change, line) = match moving {
        Moving::Value => (change, line),
        Moving::Inverse => (
            change.and_then(inverse),
            // Almost the mirrored line, because prices of a day are close to each other.
            line.map(|line| {
                line.iter()
                    .map(|point| point.map(|place| 1000 - place))
                    .collect()
            }),
        ),
    };
    Tile {
        graph: line.map(Graph::Line),
        ..tile.line(change.into_iter().flat_map(words))
    }
}

/// The change of what one unit buys, by that of its price, per mille.
fn inverse(permille: i32) -> Option<i32> {
    let after = 1000_i32.checked_add(permille)?;
    Some((1_000_000 + after / 2).checked_div(after)? - 1000)
}

fn words(permille: i32) -> [String; 3] {
    if permille == 0 {
        return [
            "Unchanged since yesterday".into(),
            "Unchanged".into(),
            "0.0%".into(),
        ];
    }
    let arrow = if permille < 0 { '▼' } else { '▲' };
    let change = format!("{arrow} {}%", spoken::grouped(&percent(permille)));
    [
        format!("{change} since yesterday"),
        format!("{change} in 24 h"),
        change,
    ]
}

/// The size of a change in percent, with a decimal if it is small.
pub fn percent(permille: i32) -> String {
    let size = permille.unsigned_abs();
    decimal::rounded(size.into(), 10, u32::from(size < WHOLE_FROM))
}
