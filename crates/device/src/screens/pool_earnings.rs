//! Daily earnings at the mining pool.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{Scene, decimal, hashrate, mining_pool, row, suffix};
use crate::{
    cells::Cell,
    spoken::{self, Sentence, SentenceTemplate},
    tile::{Figure, Tile},
};
use market::units::{SATS_PER_BTC, Sats};

const POOL_EARNINGS: SentenceTemplate =
    SentenceTemplate::new("{sats} sats a day at the mining pool {pool}.");
const POOL_WITHOUT_EARNINGS: SentenceTemplate =
    SentenceTemplate::new("The mining pool {pool} does not report earnings.");

/// The earnings with their unit on the last panel; blank if the pool does not publish them.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let Some(figures) = mining_pool::figures(scene) else {
        return mining_pool::placeholder(scene);
    };
    let (text, unit) = match figures.daily {
        Some(daily) => text(daily, scene.panels.saturating_sub(2)),
        None => (String::new(), "SATS"),
    };
    let unit = Cell::Word(unit.into());
    row::with_unit(
        mining_pool::identity(scene),
        row::digits(&text),
        unit,
        scene.panels,
    )
}

/// The earnings, hashrate and workers.
pub fn tile(scene: &Scene<'_>) -> Tile {
    let name = mining_pool::name(scene);
    let labels = [format!("{name}, earnings"), "Earned".into()];
    let Some(figures) = mining_pool::figures(scene) else {
        return mining_pool::word(labels, scene);
    };
    let figure = match figures.daily {
        None => Figure::word("?"),
        Some(daily) if daily.0 < SATS_PER_BTC => {
            Figure::number(spoken::grouped(&daily.0.to_string())).with_unit("sats a day")
        }
        Some(daily) => {
            let bitcoin = decimal::truncated(daily.0.into(), SATS_PER_BTC.into(), 4);
            Figure::number(spoken::grouped(&bitcoin)).with_unit("BTC a day")
        }
    };
    let rate = figures.hashrate;
    let rate = rate.map(|rate| hashrate::words(hashrate::filling(rate, hashrate::TILE_WIDTH)));
    Tile::new(labels, Vec::from([figure]))
        .line(
            rate.into_iter()
                .flat_map(|rate| [format!("Hashrate {rate}"), rate]),
        )
        .line(mining_pool::workers(figures))
}

/// The earnings and the pool as a sentence.
pub fn sentence(scene: &Scene<'_>) -> Sentence {
    let Some(figures) = mining_pool::figures(scene) else {
        return mining_pool::silence(scene);
    };
    let pool = mining_pool::name(scene);
    match figures.daily {
        Some(Sats(daily)) => POOL_EARNINGS
            .with("sats", spoken::number(daily))
            .with("pool", pool),
        None => POOL_WITHOUT_EARNINGS.with("pool", pool),
    }
}

/// Satoshis in full up to four digits, then three digits and a letter, whole bitcoin from one on.
///
/// Truncated instead of rounded, so that never more is shown than was earned.
pub fn text(earned: Sats, width: usize) -> (String, &'static str) {
    let in_units = |unit, decimals| decimal::truncated(earned.0.into(), unit, decimals);
    let text = match earned.0 {
        0..10_000 => earned.0.to_string(),
        10_000..100_000 => format!("{}K", in_units(1000, 1)),
        100_000..1_000_000 => format!("{}K", in_units(1000, 0)),
        1_000_000..10_000_000 => format!("{}M", in_units(1_000_000, 2)),
        10_000_000..SATS_PER_BTC => format!("{}M", in_units(1_000_000, 1)),
        SATS_PER_BTC.. => return (bitcoin(earned.0 / SATS_PER_BTC, width), "BTC"),
    };
    (text, "SATS")
}

fn bitcoin(whole: u64, width: usize) -> String {
    let text = whole.to_string();
    if text.len() <= width { text } else { suffix::in_millions(whole, width) }
}
