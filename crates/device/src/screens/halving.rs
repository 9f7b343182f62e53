//! Time until the block subsidy halves.

use alloc::{format, string::ToString, vec, vec::Vec};

use super::{Scene, issuance, row, words};
use crate::{
    cells::Cell,
    spoken::{self, Sentence, SentenceTemplate},
    tile::{Figure, Graph, Tile},
};
use market::now::UtcTime;

const HALVING_BLOCKS: SentenceTemplate = SentenceTemplate::new("{blocks} until the halving.");
const HALVING_TIME: SentenceTemplate =
    SentenceTemplate::new("{years}, {days}, {hours} and {minutes} until the halving.");
const HALVING_UNKNOWN: SentenceTemplate =
    SentenceTemplate::new("The time until the halving is not known yet.");
const BLOCK: SentenceTemplate = SentenceTemplate::new("1 block");
const BLOCKS: SentenceTemplate = SentenceTemplate::new("{count} blocks");
const YEAR: SentenceTemplate = SentenceTemplate::new("1 year");
const YEARS: SentenceTemplate = SentenceTemplate::new("{count} years");

/// Average time of a block, minutes.
const BLOCK_MINUTES: u32 = 10;

const MINUTE_MS: i64 = 60_000;
const MINUTES_PER_HOUR: u32 = 60;
const MINUTES_PER_DAY: u32 = 24 * MINUTES_PER_HOUR;
const MINUTES_PER_YEAR: u32 = 365 * MINUTES_PER_DAY;

/// Blocks left, or their duration in years, days, hours and minutes.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let blocks = scene.height().map(issuance::blocks_to_halving);
    if scene.settings.use_blk_countdown {
        let text = blocks.map(|blocks| blocks.to_string()).unwrap_or_default();
        return row::labelled(Cell::label("HAL", "VING"), row::digits(&text), scene.panels);
    }
    let mut cells = vec![Cell::unit("BIT", "COIN"), Cell::unit("HAL", "VING")];
    match blocks {
        Some(blocks) => cells.extend(parts(blocks * BLOCK_MINUTES)),
        None => cells.extend([Cell::Blank, Cell::Blank, Cell::Blank, Cell::Blank]),
    }
    cells.push(Cell::unit("TO", "GO"));
    row::right(cells, scene.panels)
}

/// Blocks left, or the largest unit of their duration; the expected date, and how much of the era is done.
pub fn tile(scene: &Scene<'_>) -> Tile {
    let labels = ["Until the halving", "Halving"];
    let Some(blocks) = scene.height().map(issuance::blocks_to_halving) else {
        return Tile::unknown(labels);
    };
    let minutes = blocks * BLOCK_MINUTES;
    let (count, one, more) = match minutes {
        _ if scene.settings.use_blk_countdown => (blocks, "", ""),
        0..MINUTES_PER_HOUR => (minutes, "minute", "minutes"),
        MINUTES_PER_HOUR..MINUTES_PER_DAY => (minutes / MINUTES_PER_HOUR, "hour", "hours"),
        MINUTES_PER_DAY.. => (minutes / MINUTES_PER_DAY, "day", "days"),
    };
    let unit = if count == 1 { one } else { more };
    let figure = Figure::number(spoken::grouped(&count.to_string())).with_unit(unit);
    // Blocks are usual, so that a small picture may leave their name out.
    let in_blocks = Some("Blocks until the halving").filter(|_| unit.is_empty());
    let labels = in_blocks.into_iter().chain(labels);
    let expected = scene.now.utc.map(|utc| {
        let unix_ms = utc.unix_ms + i64::from(minutes) * MINUTE_MS;
        let local = scene.zone.local(UtcTime { unix_ms });
        let (date, month, year) = (words::date(local), words::month(local), local.year);
        [
            format!("About {date} {year}"),
            format!("{month} {year}"),
            format!("{} {year}", words::short(month)),
        ]
    });
    let done = u64::from(issuance::ERA_BLOCKS - blocks) * 1000 / u64::from(issuance::ERA_BLOCKS);
    let percent = done / 10;
    Tile {
        graph: u16::try_from(done).ok().map(Graph::Bar),
        ..Tile::new(labels, Vec::from([figure]))
            .line(expected.into_iter().flatten())
            .line([
                format!("{percent}% of this era is done"),
                format!("{percent}% done"),
            ])
    }
}

/// The same as a sentence.
pub fn sentence(scene: &Scene<'_>) -> Sentence {
    let Some(blocks) = scene.height().map(issuance::blocks_to_halving) else {
        return HALVING_UNKNOWN.into();
    };
    if scene.settings.use_blk_countdown {
        let blocks = spoken::count(blocks.into(), BLOCK, BLOCKS);
        return HALVING_BLOCKS.with("blocks", blocks);
    }
    let [years, days, hours, minutes] = split(blocks * BLOCK_MINUTES);
    let count = |number: u32, one, more| spoken::count(number.into(), one, more);
    HALVING_TIME
        .with("years", count(years, YEAR, YEARS))
        .with("days", count(days, spoken::DAY, spoken::DAYS))
        .with("hours", count(hours, spoken::HOUR, spoken::HOURS))
        .with("minutes", count(minutes, spoken::MINUTE, spoken::MINUTES))
}

fn parts(minutes: u32) -> [Cell; 4] {
    let part = |number: u32, name| Cell::unit(number.to_string(), name);
    let [years, days, hours, minutes] = split(minutes);
    [
        part(years, "YRS"),
        part(days, "DAYS"),
        part(hours, "HRS"),
        part(minutes, "MINS"),
    ]
}

/// Years, days, hours and minutes.
fn split(minutes: u32) -> [u32; 4] {
    [
        minutes / MINUTES_PER_YEAR,
        minutes % MINUTES_PER_YEAR / MINUTES_PER_DAY,
        minutes % MINUTES_PER_DAY / MINUTES_PER_HOUR,
        minutes % MINUTES_PER_HOUR,
    ]
}
