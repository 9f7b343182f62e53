//! Runs random steps against the model and the invariants, and shortens a run that fails.

use std::{
    cell::Cell,
    ops::Range,
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

use device::board::BoardSpec;

use crate::{
    boards::SIMULATED_BOARDS,
    checks,
    script::Step,
    workload::{self, Dice},
    world::World,
};

/// Default seeds, and the number of steps of each.
const SEEDS: Range<u64> = 0..10;
const STEPS: u64 = 200;

/// Most attempts to shorten a run that fails.
const SHORTENINGS_MAX: u32 = 400;

/// The steps of a seed on a board.
struct Simulation {
    seed: u64,
    board: BoardSpec,
    steps: Vec<Step>,
}

impl Simulation {
    fn random(seed: u64, count: u64) -> Simulation {
        let mut dice = Dice::new(seed);
        let board = SIMULATED_BOARDS[usize::try_from(seed).unwrap() % SIMULATED_BOARDS.len()];
        Simulation {
            seed,
            board,
            steps: workload::random_steps(&mut dice, seed, count),
        }
    }

    /// Runs these steps and checks each. Returns the log.
    fn run(&self, steps: &[Step]) -> Vec<String> {
        let mut world = World::with_model(self.board);
        world.early_ticks = Some(Dice::new(self.seed));
        for step in steps {
            world.run(step);
            checks::after(&world, step);
        }
        std::mem::take(&mut world.log)
    }

    fn check(&self) {
        let fails = |steps: &[Step]| failure(|| drop(self.run(steps)));
        if let Some(why) = fails(&self.steps) {
            let steps = shortened(&self.steps, &why, fails);
            let why = fails(&steps).unwrap_or(why);
            let lines: Vec<String> = steps.iter().map(Step::to_string).collect();
            panic!(
                "seed {} on board {}\n{why}\nafter these steps:\n{}",
                self.seed,
                self.board.name,
                lines.join("\n")
            );
        }
    }
}

/// The message of the panic of a function. `None` if it does not panic.
pub fn failure(work: impl FnOnce()) -> Option<String> {
    let panic = without_panic_messages(|| panic::catch_unwind(AssertUnwindSafe(work)).err())?;
    let text = panic.downcast_ref::<String>().cloned();
    Some(text.unwrap_or_else(|| {
        panic
            .downcast_ref::<&str>()
            .map_or_else(String::new, |text| (*text).into())
    }))
}

/// Removes steps as long as the failure stays the same: halves first, single steps last.
pub fn shortened<S: Clone>(
    steps: &[S],
    why: &str,
    fails: impl Fn(&[S]) -> Option<String>,
) -> Vec<S> {
    let what = why.lines().next();
    let mut steps = steps.to_vec();
    let (mut tries, mut part) = (0, steps.len());
    while part > 0 && tries < SHORTENINGS_MAX {
        let mut from = 0;
        while from < steps.len() && tries < SHORTENINGS_MAX {
            let to = (from + part).min(steps.len());
            let shorter = [&steps[..from], &steps[to..]].concat();
            tries += 1;
            match fails(&shorter) {
                Some(why) if why.lines().next() == what => steps = shorter,
                Some(_) | None => from = to,
            }
        }
        part /= 2;
    }
    steps
}

thread_local! {
    static SILENT: Cell<bool> = const { Cell::new(false) };
}

/// Runs a function on this thread without printing its panics.
fn without_panic_messages<T>(work: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let default_hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !SILENT.get() {
                default_hook(info);
            }
        }));
    });
    SILENT.set(true);
    let done = work();
    SILENT.set(false);
    done
}

/// The seeds to run, and the number of steps of each.
pub struct Seeds {
    pub seeds: Range<u64>,
    pub steps: u64,
}

impl Seeds {
    /// The given defaults, or the values of the environment variables.
    pub fn from_environment(seeds: Range<u64>, steps: u64) -> Seeds {
        let range = std::env::var("SIMULATION_SEEDS").ok().and_then(|text| {
            let (start, end) = text.split_once("..")?;
            Some(start.parse().ok()?..end.parse().ok()?)
        });
        let count = std::env::var("SIMULATION_STEPS")
            .ok()
            .and_then(|text| text.parse().ok());
        Seeds {
            seeds: range.unwrap_or(seeds),
            steps: count.unwrap_or(steps),
        }
    }
}

#[test]
fn random_runs_match_the_model() {
    let Seeds { seeds, steps } = Seeds::from_environment(SEEDS, STEPS);
    for seed in seeds {
        Simulation::random(seed, steps).check();
    }
}

#[test]
fn the_same_inputs_give_the_same_outputs() {
    for seed in [3, 14] {
        let simulation = Simulation::random(seed, STEPS / 4);
        assert_eq!(
            simulation.run(&simulation.steps),
            simulation.run(&simulation.steps),
            "seed {seed}"
        );
    }
}
