//! Simulation with lying sources: peers, relays, explorers and venues that lie, freeze, contradict each other and
//! disconnect.
//!
//! `script` makes random steps, `blocks` mines blocks, and `world` runs the device and checks its panels.
//!
//! Every run checks that no panel shows a height above the proven height as proven, that every stale value is marked, and
//! that every shown price was quoted by its source.

mod blocks;
mod script;
mod world;

use std::collections::BTreeSet;

use market::source_id::SourceId;

use crate::{
    seeds::{Seeds, failure, shortened},
    workload::Dice,
};
use script::{SourceSet, Step};
use world::World;

/// Seeds of every run, and the number of steps of each.
const SEEDS: std::ops::Range<u64> = 0..16;
const STEPS: u64 = 120;

/// The sources of a run.
fn sources(seed: u64) -> SourceSet {
    let (claims, primary) = match seed % 2 {
        0 => (SourceId::Relay, SourceId::Relay),
        _ => (SourceId::Explorer, SourceId::Exchange),
    };
    SourceSet {
        claims,
        primary,
        has_node: seed % 3 == 2,
    }
}

fn simulate(seed: u64, steps: &[Step]) -> World {
    let mut world = World::new(sources(seed));
    steps.iter().for_each(|step| world.run(step));
    world
}

#[test]
fn lying_sources_never_make_a_false_value_look_proven() {
    let Seeds { seeds, steps } = Seeds::from_environment(SEEDS, STEPS);
    let mut seen = BTreeSet::new();
    for seed in seeds {
        let steps = script::random_steps(&mut Dice::new(seed), sources(seed), steps);
        let mut seen_here = BTreeSet::new();
        let why = failure(|| seen_here = simulate(seed, &steps).seen);
        seen.extend(seen_here);
        let fails = |steps: &[Step]| failure(|| drop(simulate(seed, steps)));
        if let Some(why) = why {
            let steps = shortened(&steps, &why, fails);
            let why = fails(&steps).unwrap_or(why);
            let lines: Vec<String> = steps.iter().map(|step| format!("{step:?}")).collect();
            panic!(
                "seed {seed}\n{why}\nafter these steps:\n{}",
                lines.join("\n")
            );
        }
    }
    // Every state must have occurred, or the runs do not test it.
    for state in [
        "proven", "alone", "claimed", "disputed", "stale", "agreed", "single",
    ] {
        assert!(
            seen.contains(state),
            "state {state} did not occur in any run"
        );
    }
}

#[test]
fn runs_are_reproducible() {
    let steps = script::random_steps(&mut Dice::new(5), sources(5), STEPS);
    assert_eq!(simulate(5, &steps).log, simulate(5, &steps).log);
}
