//! Proof of the height.

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use super::{Scene, block_height, row, words};
use crate::{
    cells::Cell,
    spoken::{self, Sentence, SentenceTemplate},
    tile::{Figure, PROVEN_BY_ONE, Tile},
};
use market::{HeightState, Proven};

const PROOF: SentenceTemplate = SentenceTemplate::new(
    "{state} The hash of the newest proven block ends in {hash}; {sources}, and it is {age} old.",
);
const PROOF_TIMELESS: SentenceTemplate =
    SentenceTemplate::new("{state} The hash of the newest proven block ends in {hash}; {sources}.");
const SOURCE: SentenceTemplate = SentenceTemplate::new("1 source has it");
const SOURCES: SentenceTemplate = SentenceTemplate::new("{count} sources have it");
const HEIGHT_PROVEN: SentenceTemplate = SentenceTemplate::new("The block height is proven.");
const HEIGHT_ALONE: SentenceTemplate =
    SentenceTemplate::new("The block height is proven by one source alone.");
const HEIGHT_CLAIMED: SentenceTemplate = SentenceTemplate::new("The block height is not proven.");
const HEIGHT_DISPUTED: SentenceTemplate = SentenceTemplate::new("The block height is disputed.");
const HEIGHT_STALE: SentenceTemplate =
    SentenceTemplate::new("The block height is old: no source has reported a newer one.");

const MINUTES_PER_HOUR: u64 = 60;
const HOURS_PER_DAY: u64 = 24;

/// Limits from which on an age is given in the next larger unit: two digits of that say more than three.
const MINUTES_MOST: u64 = 100;
const HOURS_MOST: u64 = 100;

/// State of the height; of the newest proven block the number of sources, the end of the hash, and the age.
pub fn cells(scene: &Scene<'_>) -> Vec<Cell> {
    let state = scene.truth.state.name().to_ascii_uppercase();
    let label = Cell::label("BLOCK", state);
    let tail = scene.truth.proven.map(tail).unwrap_or_default();
    row::labelled(label, tail, scene.panels)
}

fn tail(proven: Proven) -> Vec<Cell> {
    let mut cells = vec![Cell::unit(proven.agreeing.to_string(), "AGREE")];
    cells.extend(row::digits(&hash_end(proven)));
    cells.push(match proven.age_mins.map(Age::of) {
        None => Cell::Blank,
        Some(Age::Minutes(minutes)) => Cell::unit(minutes.to_string(), "MINS"),
        Some(Age::Hours(hours)) => Cell::unit(hours.to_string(), "HRS"),
        Some(Age::Days(days)) => Cell::unit(days.to_string(), "DAYS"),
    });
    cells
}

/// Number of sources that have the newest proven block, the state of the height, and the end of the hash.
pub fn tile(scene: &Scene<'_>) -> Tile {
    let labels = ["Proof of the height", "Height proof", "Proof"];
    let state = match scene.truth.state {
        HeightState::Proven => ["Proven by work", "Proven"],
        HeightState::Alone => PROVEN_BY_ONE,
        HeightState::Claimed => ["Not proven", "Not proven"],
        HeightState::Disputed => ["Sources disagree", "Disputed"],
        HeightState::Stale => ["No newer block was reported", "Stale"],
        HeightState::Unknown => ["Not known yet", "Not known yet"],
    };
    let Some(proven) = scene.truth.proven else {
        return Tile::word(labels, "?").line(state);
    };
    let unit = if proven.agreeing == 1 { "source" } else { "sources" };
    let figure = Figure::number(proven.agreeing.to_string()).with_unit(unit);
    let hash = hash_end(proven);
    let made = (block_height::made(scene).map(|made| scene.zone.local(made))).zip(scene.local());
    let made = made.map(|(made, now)| words::at(made, now, scene.settings));
    let full = made.map(|at| format!("Block …{hash} {at}"));
    Tile::new(labels, Vec::from([figure]))
        .line(state)
        .line(full.into_iter().chain([format!("Block …{hash}")]))
}

/// The same as a sentence.
pub fn sentence(scene: &Scene<'_>) -> Sentence {
    let state = in_words(scene.truth.state);
    let Some(proven) = scene.truth.proven else {
        return state.into();
    };
    let agreeing = u64::try_from(proven.agreeing).unwrap_or(u64::MAX);
    let words = match proven.age_mins {
        Some(_) => PROOF,
        None => PROOF_TIMELESS,
    };
    let sentence = words
        .with("state", state)
        .with("hash", hash_end(proven))
        .with("sources", spoken::count(agreeing, SOURCE, SOURCES));
    let Some(age) = proven.age_mins.map(Age::of) else {
        return sentence;
    };
    let age = match age {
        Age::Minutes(minutes) => spoken::count(minutes, spoken::MINUTE, spoken::MINUTES),
        Age::Hours(hours) => spoken::count(hours, spoken::HOUR, spoken::HOURS),
        Age::Days(days) => spoken::count(days, spoken::DAY, spoken::DAYS),
    };
    sentence.with("age", age)
}

fn in_words(state: HeightState) -> SentenceTemplate {
    match state {
        HeightState::Proven => HEIGHT_PROVEN,
        HeightState::Alone => HEIGHT_ALONE,
        HeightState::Claimed => HEIGHT_CLAIMED,
        HeightState::Disputed => HEIGHT_DISPUTED,
        HeightState::Stale => HEIGHT_STALE,
        HeightState::Unknown => spoken::BLOCK_HEIGHT_UNKNOWN,
    }
}

/// The last four digits of a hash as usually written.
fn hash_end(proven: Proven) -> String {
    format!("{:04x}", proven.hash_end)
}

/// An age in its unit.
enum Age {
    Minutes(u64),
    Hours(u64),
    Days(u64),
}

impl Age {
    fn of(minutes: u64) -> Age {
        let hours = minutes / MINUTES_PER_HOUR;
        if minutes < MINUTES_MOST {
            Age::Minutes(minutes)
        } else if hours < HOURS_MOST {
            Age::Hours(hours)
        } else {
            Age::Days(hours / HOURS_PER_DAY)
        }
    }
}
