//! Height of the chain tip.

use alloc::{format, string::ToString, vec::Vec};

use super::{Scene, row, words};
use crate::{
    cells::Cell,
    memory,
    spoken::{self, Sentence},
    tile::{Figure, PROVEN_BY_ONE, Tile},
};
use market::{
    HeightState,
    now::{LocalTime, UtcTime},
};

const MINUTE_MS: i64 = 60_000;

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

/// The height, when its block was found, and whether it is proven.
pub fn tile(scene: &Scene<'_>) -> Tile {
    let labels = ["Block height", "Block"];
    let Some(height) = scene.height() else {
        return Tile::unknown(labels);
    };
    let height = spoken::grouped(&height.to_string());
    let found = found(scene).zip(scene.local());
    let found = found.map(|((how, time), now)| (how, words::at(time, now, scene.settings)));
    let found = found.map(|(how, at)| [format!("{how} {at}"), at]);
    let proven = match scene.truth.state {
        HeightState::Proven => Some(["Proven by work", "Proven"]),
        HeightState::Alone => Some(PROVEN_BY_ONE),
        HeightState::Claimed
        | HeightState::Disputed
        | HeightState::Stale
        | HeightState::Unknown => None,
    };
    Tile::new(labels, Vec::from([Figure::number(height)]))
        .line(found.into_iter().flatten())
        .line(proven.into_iter().flatten())
}

/// Local time at which the newest block was found, by its header if that is not later than its report; of a height without
/// a header that of its report.
fn found(scene: &Scene<'_>) -> Option<(&'static str, LocalTime)> {
    // If the height is stale, the mark says from when it is.
    let is_stale = scene.truth.state == HeightState::Stale;
    let (at, is_by_header) = found_at(scene).filter(|_| !is_stale)?;
    let how = if is_by_header { "Found" } else { "Reported" };
    Some((how, scene.zone.local(at)))
}

/// The same as a moment, and whether it is by its header.
pub fn found_at(scene: &Scene<'_>) -> Option<(UtcTime, bool)> {
    let reported = memory::utc_of(scene.market.height.as_ref()?.seen, scene.now)?;
    let made = match scene.truth.state {
        HeightState::Proven | HeightState::Alone => made(scene),
        HeightState::Claimed
        | HeightState::Disputed
        | HeightState::Stale
        | HeightState::Unknown => None,
    };
    let at = made.map_or(reported, |made| made.min(reported));
    Some((at, made.is_some()))
}

/// The minute in the header of the newest proven block.
pub fn made(scene: &Scene<'_>) -> Option<UtcTime> {
    let age_mins = i64::try_from(scene.truth.proven?.age_mins?).ok()?;
    let minute = scene.now.utc?.unix_ms.div_euclid(MINUTE_MS);
    UtcTime::plausible(minute.saturating_sub(age_mins).saturating_mul(MINUTE_MS))
}

/// The height.
pub fn sentence(scene: &Scene<'_>) -> Sentence {
    match scene.height() {
        Some(height) => spoken::BLOCK_HEIGHT.with("height", spoken::number(height)),
        None => spoken::BLOCK_HEIGHT_UNKNOWN.into(),
    }
}
