//! Shared by the screens of the mining pool.

use alloc::{format, string::String, sync::Arc, vec::Vec};

use super::{Scene, row};
use crate::{
    cells::Cell,
    spoken::{self, Sentence, SentenceTemplate},
    tile::Tile,
};
use market::PoolStats;

const POOL_SILENT: SentenceTemplate =
    SentenceTemplate::new("The mining pool {pool} does not answer.");
const POOL_REFUSES: SentenceTemplate =
    SentenceTemplate::new("The mining pool {pool} has no figures for this user: {why}");

/// Figures of the pool; `None` if it is offline or does not know the user.
pub fn figures<'a>(scene: &Scene<'a>) -> Option<&'a PoolStats> {
    answer(scene).filter(|stats| stats.refusal.is_none())
}

fn answer<'a>(scene: &Scene<'a>) -> Option<&'a PoolStats> {
    let pool = scene.market.pool.as_ref();
    pool.map(|pool| &pool.datum.value)
}

/// The pool's logo, or its name: `public_pool` as two lines, `braiins` as one.
pub fn identity(scene: &Scene<'_>) -> Cell {
    let name = scene.settings.mining_pool_name.as_str();
    match &scene.market.pool_logo {
        Some(logo) if logo.name.eq_ignore_ascii_case(name) => Cell::Logo(Arc::clone(logo)),
        _ => label(name),
    }
}

/// The placeholder for a pool without figures: it is offline, or it does not know the user.
pub fn placeholder(scene: &Scene<'_>) -> Vec<Cell> {
    match answer(scene) {
        None => row::offline(identity(scene), scene.panels),
        Some(_) => {
            let words = Cell::unit("NO", "USER");
            row::with_unit(identity(scene), Vec::new(), words, scene.panels)
        }
    }
}

/// The tile of a pool without figures.
pub fn word<const N: usize>(labels: [String; N], scene: &Scene<'_>) -> Tile {
    match answer(scene).map(|stats| stats.refusal.as_deref().unwrap_or_default()) {
        None => Tile::word(labels, "OFFLINE").line(["The pool does not answer", "No answer"]),
        Some(why) => Tile::word(labels, "NO USER").line([
            format!("The pool says: {}", why.trim()),
            "The pool has no figures for this user".into(),
            "Unknown user".into(),
        ]),
    }
}

/// Workers, as a line of a tile.
pub fn workers(figures: &PoolStats) -> Option<String> {
    match figures.workers? {
        1 => Some("1 worker".into()),
        workers => Some(format!(
            "{} workers",
            spoken::grouped(&format!("{workers}"))
        )),
    }
}

/// The pool's name for people.
pub fn name(scene: &Scene<'_>) -> String {
    scene.settings.mining_pool_name.replace('_', " ")
}

/// Sentence for a pool without figures.
pub fn silence(scene: &Scene<'_>) -> Sentence {
    let refusal = answer(scene).and_then(|stats| stats.refusal.as_deref());
    let pool = name(scene);
    match refusal {
        None => POOL_SILENT.with("pool", pool),
        Some(why) => POOL_REFUSES
            .with("pool", pool)
            .with("why", spoken::closed(why)),
    }
}

fn label(name: &str) -> Cell {
    let separator = |character: char| matches!(character, ' ' | '\t' | '_');
    let name = name.trim_matches(separator);
    match name.split_once(separator) {
        Some((top, bottom)) => Cell::label(top, bottom.trim_start_matches(separator)),
        None if name.is_empty() => Cell::Blank,
        None => Cell::Word(name.into()),
    }
}
