//! Bitcoin in existence.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{Scene, decimal, issuance, row, suffix, words};
use crate::{
    cells::Cell,
    spoken::{self, Sentence, SentenceTemplate},
    tile::{Figure, Graph, Tile},
};

const SUPPLY: SentenceTemplate = SentenceTemplate::new("{supply} bitcoin exist.");
const SUPPLY_SHARE: SentenceTemplate =
    SentenceTemplate::new("{share} percent of all bitcoin exist.");
const SUPPLY_UNKNOWN: SentenceTemplate = SentenceTemplate::new("The supply is not known yet.");

/// Bitcoin that will ever exist, in ten-thousandths.
const FINAL_BTC_E4: u128 = 209_999_999_769;

/// Characters of a share with two decimals.
const SHARE_WIDTH: usize = 6;

/// The supply with a letter, or as a share of all that will ever exist.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let width = scene.panels.saturating_sub(1);
    let text = match scene.height().map(issuance::mined_btc) {
        None => String::new(),
        Some(supply) if scene.settings.supply_percent => percent(supply, width),
        Some(supply) => suffix::suffixed(supply, width),
    };
    row::labelled(
        Cell::label("BTC", "SUPPLY"),
        row::digits(&text),
        scene.panels,
    )
}

/// The supply, its share of all that will ever exist, and a bar of that.
pub fn tile(scene: &Scene<'_>) -> Tile {
    let labels = ["Mined so far", "Mined"];
    let Some(supply) = scene.height().map(issuance::mined_btc) else {
        return Tile::unknown(labels);
    };
    let share = percent(supply, SHARE_WIDTH);
    let share = share.trim_end_matches('%');
    let done = u64::try_from(u128::from(supply) * 10_000_000 / FINAL_BTC_E4).unwrap_or(1000);
    let tile = if scene.settings.supply_percent {
        let share = Figure {
            tail: "%".into(),
            ..Figure::number(share)
        };
        let millions = decimal::rounded(supply.into(), 1_000_000, 2);
        Tile::new(labels, Vec::from([share])).line([
            format!("{} of 21 million", spoken::grouped(&supply.to_string())),
            format!("{millions} of 21 M"),
        ])
    } else {
        let figures = words::whole(supply).into_iter();
        Tile::new(
            labels,
            figures
                .map(|text| Figure::number(text).with_unit("BTC"))
                .collect(),
        )
        .line([format!("{share}% of 21 million"), format!("{share}%")])
    };
    Tile {
        graph: u16::try_from(done).ok().map(Graph::Bar),
        ..tile
    }
}

/// The supply in full, or its share, as a sentence.
pub fn sentence(scene: &Scene<'_>) -> Sentence {
    match scene.height().map(issuance::mined_btc) {
        None => SUPPLY_UNKNOWN.into(),
        Some(supply) if scene.settings.supply_percent => {
            let share = percent(supply, scene.panels.saturating_sub(1));
            let share = share.trim_end_matches('%');
            SUPPLY_SHARE.with("share", spoken::number(share))
        }
        Some(supply) => SUPPLY.with("supply", spoken::number(supply)),
    }
}

/// Two decimals; fewer once the supply rounds to 100 percent and they do not fit.
fn percent(supply: u64, width: usize) -> String {
    let text = |decimals| {
        let percents = u128::from(supply) * 10_000 * 100;
        format!("{}%", decimal::rounded(percents, FINAL_BTC_E4, decimals))
    };
    [2, 1]
        .into_iter()
        .map(text)
        .find(|text| text.len() <= width)
        .unwrap_or_else(|| text(0))
}
