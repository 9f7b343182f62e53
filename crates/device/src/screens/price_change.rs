//! How the price has moved in a day.

use alloc::{format, vec::Vec};

use super::{Scene, day, row, ticker};
use crate::{
    cells::{Cell, Icon},
    history::Series,
    spoken::{self, Sentence, SentenceTemplate},
    tile::{Figure, Graph, Tile},
};

const RISEN: SentenceTemplate =
    SentenceTemplate::new("The price in {currency} has risen by {percent} percent in a day.");
const FALLEN: SentenceTemplate =
    SentenceTemplate::new("The price in {currency} has fallen by {percent} percent in a day.");
const UNKNOWN: SentenceTemplate =
    SentenceTemplate::new("The change of the price is not known yet.");

/// The change in percent after its arrow.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let label = Cell::label(format!("BTC {}", scene.currency), "24 H");
    let change = change(scene).map(|permille| {
        let mut cells: Vec<Cell> = arrow(permille).map(Cell::Icon).into_iter().collect();
        cells.extend(row::number(&day::percent(permille), scene.settings));
        cells.push(Cell::digit('%'));
        cells
    });
    row::labelled(label, change.unwrap_or_default(), scene.panels)
}

/// The change, the price and its graph.
pub fn tile(scene: &Scene<'_>) -> Tile {
    let labels = ticker::labels(scene.currency, "Price in 24 hours", "24 hours", "24 h");
    if scene.mark.is_some() {
        return Tile::word(labels, "?");
    }
    let (Some(price), Some(permille)) = (scene.shown_price(), change(scene)) else {
        return Tile::unknown(labels);
    };
    let figure = Figure {
        icon: arrow(permille),
        tail: "%".into(),
        ..Figure::number(spoken::grouped(&day::percent(permille)))
    };
    let prices = ticker::words(price, scene);
    let now = prices
        .clone()
        .into_iter()
        .map(|price| format!("now {price}"));
    let line = (scene.history)
        .and_then(|history| history.day_line(Series::Price(scene.currency), price.micros));
    Tile {
        graph: line.map(Graph::Line),
        ..Tile::new(labels, Vec::from([figure]))
            .line(now.chain(prices))
            .line(["since yesterday"])
    }
}

/// The same as a sentence.
pub fn sentence(scene: &Scene<'_>) -> Sentence {
    let Some(permille) = change(scene) else {
        return UNKNOWN.into();
    };
    let words = if permille < 0 { FALLEN } else { RISEN };
    words
        .with("currency", scene.currency.code())
        .with("percent", spoken::number(day::percent(permille)))
}

/// The change since a day ago, per mille.
fn change(scene: &Scene<'_>) -> Option<i32> {
    let price = scene.shown_price()?;
    scene
        .history?
        .day_change(Series::Price(scene.currency), price.micros)
}

fn arrow(permille: i32) -> Option<Icon> {
    match permille {
        ..0 => Some(Icon::ArrowDownBold),
        0 => None,
        1.. => Some(Icon::ArrowUpBold),
    }
}
