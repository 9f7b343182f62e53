//! Random lives among liars: peers, relays, explorers and venues that lie, stand still, contradict each other, come and go.
//!
//! `life` says what happens, `blocks` makes the blocks, `world` runs the clock and looks at its glass, and `verdict` and
//! `quotes` say in plain rules what is to be seen there.
//!
//! Over all of it holds: no frame shows a height above the proven one as proven, nor a value past its age unmarked, and
//! every price is one that somebody has quoted.

mod blocks;
mod life;
mod quotes;
mod verdict;
mod world;

use std::collections::BTreeSet;

use market::source_id::SourceId;

use crate::{
    seeds::{Seeds, failure, shortened},
    workload::Dice,
};
use life::{Cast, Step};
use world::World;

/// Lives of every run, and how much happens in each.
const SEEDS: std::ops::Range<u64> = 0..16;
const STEPS: u64 = 120;

/// Who speaks in a life.
fn cast(seed: u64) -> Cast {
    let (claims, primary) = match seed % 2 {
        0 => (SourceId::Relay, SourceId::Relay),
        _ => (SourceId::Explorer, SourceId::Exchange),
    };
    Cast {
        claims,
        primary,
        has_node: seed % 3 == 2,
    }
}

fn live(seed: u64, steps: &[Step]) -> World {
    let mut world = World::new(cast(seed), seed);
    steps.iter().for_each(|step| world.run(step));
    world
}

#[test]
fn among_liars_nothing_false_is_shown_as_true() {
    let Seeds { seeds, steps } = Seeds::from_environment(SEEDS, STEPS);
    let mut seen = BTreeSet::new();
    for seed in seeds {
        let steps = life::life(&mut Dice::new(seed), cast(seed), steps);
        let mut seen_here = BTreeSet::new();
        let why = failure(|| seen_here = live(seed, &steps).seen);
        seen.extend(seen_here);
        let fails = |steps: &[Step]| failure(|| drop(live(seed, steps)));
        if let Some(why) = why {
            let steps = shortened(&steps, &why, fails);
            let why = fails(&steps).unwrap_or(why);
            let lines: Vec<String> = steps.iter().map(|step| format!("{step:?}")).collect();
            panic!("seed {seed}\n{why}\nafter this life:\n{}", lines.join("\n"));
        }
    }
    // Who looks at nothing finds nothing.
    for state in [
        "proven", "alone", "claimed", "disputed", "stale", "agreed", "single",
    ] {
        assert!(seen.contains(state), "nothing was ever {state}");
    }
}

#[test]
fn a_life_among_liars_is_the_same_every_time() {
    let steps = life::life(&mut Dice::new(5), cast(5), STEPS);
    assert_eq!(live(5, &steps).log, live(5, &steps).log);
}
