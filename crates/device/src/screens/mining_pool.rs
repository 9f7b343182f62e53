//! Shared by the screens of the mining pool.

use alloc::{string::String, sync::Arc, vec::Vec};

use super::{Scene, row};
use crate::{
    cells::Cell,
    spoken::{Sentence, SentenceTemplate},
};
use market::PoolStats;

const POOL_SILENT: SentenceTemplate =
    SentenceTemplate::new("The mining pool {pool} does not answer.");

/// Figures of the pool; `None` while it is offline.
pub fn figures<'a>(scene: &Scene<'a>) -> Option<&'a PoolStats> {
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

/// The placeholder for a pool without figures.
pub fn offline(scene: &Scene<'_>) -> Vec<Cell> {
    row::offline(identity(scene), scene.panels)
}

/// The pool's name for people.
pub fn name(scene: &Scene<'_>) -> String {
    scene.settings.mining_pool_name.replace('_', " ")
}

/// Sentence for a pool without figures.
pub fn silence(scene: &Scene<'_>) -> Sentence {
    POOL_SILENT.with("pool", name(scene))
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
