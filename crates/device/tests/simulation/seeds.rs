//! Runs random lives against the model and the invariants; one that fails is made as short as it can be.

use std::{
    cell::Cell,
    ops::Range,
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

use device::board::BoardSpec;

use crate::{
    boards::LIVED,
    checks,
    script::Step,
    workload::{self, Dice},
    world::World,
};

/// Lives of every run, and their steps.
const SEEDS: Range<u64> = 0..10;
const STEPS: u64 = 200;

/// Shorter lives that are tried for a life that fails.
const SHORTER_MAX: u32 = 400;

/// One life, which a seed makes.
struct Life {
    seed: u64,
    board: BoardSpec,
    steps: Vec<Step>,
}

impl Life {
    fn of(seed: u64, count: u64) -> Life {
        let mut dice = Dice::new(seed);
        let board = LIVED[usize::try_from(seed).unwrap() % LIVED.len()];
        Life {
            seed,
            board,
            steps: workload::life(&mut dice, seed, count),
        }
    }

    /// Lives these steps; returns the log.
    fn live(&self, steps: &[Step]) -> Vec<String> {
        let mut world = World::watched(self.board);
        world.looks = Some(Dice::new(self.seed));
        for step in steps {
            world.run(step);
            checks::after(&world, step);
        }
        std::mem::take(&mut world.log)
    }

    fn check(&self) {
        let fails = |steps: &[Step]| failure(|| drop(self.live(steps)));
        if let Some(why) = fails(&self.steps) {
            let steps = shortened(&self.steps, &why, fails);
            let why = fails(&steps).unwrap_or(why);
            let lines: Vec<String> = steps.iter().map(Step::to_string).collect();
            panic!(
                "seed {} on board {}\n{why}\nafter this life:\n{}",
                self.seed,
                self.board.name,
                lines.join("\n")
            );
        }
    }
}

/// Screens that a life rarely comes to: of a pool and a miner of whom nothing is heard, and of a wallet.
#[test]
fn screens_of_what_is_off_at_first_are_what_the_model_says() {
    const SATS: [u64; 13] = [
        0,
        21,
        99_999,
        100_000,
        999_499,
        1_234_567,
        9_950_000,
        12_345_678,
        99_999_999,
        100_000_000,
        234_560_000,
        1_234_567_890,
        210_000_000_000,
    ];
    let features = ["miningPoolStats", "minerEnabled", "nwcEnabled"];
    let mut lines: Vec<String> = features.map(|key| format!("set {key}=true")).into();
    lines.extend(
        [
            "block 840000",
            "power-cut",
            "screen 90",
            "screen 70",
            "screen 80",
            "screen 81",
        ]
        .map(String::from),
    );
    for marker in 0..3 {
        lines.push(format!("set priceSymMode={marker}"));
        for sats in SATS {
            lines.extend([
                format!("balance {sats}"),
                "screen 90".into(),
                "screen 0".into(),
            ]);
        }
    }
    for (seed, board) in (0..).zip(LIVED) {
        let steps = lines.iter().map(|line| line.parse().unwrap()).collect();
        Life {
            seed,
            board: *board,
            steps,
        }
        .check();
    }
}

/// Why something panics; none if it does not.
pub fn failure(work: impl FnOnce()) -> Option<String> {
    let panic = silently(|| panic::catch_unwind(AssertUnwindSafe(work)).err())?;
    let text = panic.downcast_ref::<String>().cloned();
    Some(text.unwrap_or_else(|| {
        panic
            .downcast_ref::<&str>()
            .map_or_else(String::new, |text| (*text).into())
    }))
}

/// Leaves out of steps whatever the same failure does not need: halves first, single steps last.
pub fn shortened<S: Clone>(
    steps: &[S],
    why: &str,
    fails: impl Fn(&[S]) -> Option<String>,
) -> Vec<S> {
    let what = why.lines().next();
    let mut steps = steps.to_vec();
    let (mut tries, mut part) = (0, steps.len());
    while part > 0 && tries < SHORTER_MAX {
        let mut from = 0;
        while from < steps.len() && tries < SHORTER_MAX {
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

/// Runs something on this thread whose panics are caught and need not be told.
fn silently<T>(work: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let told = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !SILENT.get() {
                told(info);
            }
        }));
    });
    SILENT.set(true);
    let done = work();
    SILENT.set(false);
    done
}

/// Which lives are lived, and how long they are.
pub struct Seeds {
    pub seeds: Range<u64>,
    pub steps: u64,
}

impl Seeds {
    /// These, unless the environment asks for others.
    pub fn from_environment(seeds: Range<u64>, steps: u64) -> Seeds {
        let asked = std::env::var("SIMULATION_SEEDS").ok().and_then(|text| {
            let (start, end) = text.split_once("..")?;
            Some(start.parse().ok()?..end.parse().ok()?)
        });
        let long = std::env::var("SIMULATION_STEPS")
            .ok()
            .and_then(|text| text.parse().ok());
        Seeds {
            seeds: asked.unwrap_or(seeds),
            steps: long.unwrap_or(steps),
        }
    }
}

#[test]
fn random_lives_are_what_the_model_says() {
    let Seeds { seeds, steps } = Seeds::from_environment(SEEDS, STEPS);
    for seed in seeds {
        Life::of(seed, steps).check();
    }
}

#[test]
fn the_same_inputs_give_the_same_outputs() {
    for seed in [3, 14] {
        let life = Life::of(seed, STEPS / 4);
        assert_eq!(
            life.live(&life.steps),
            life.live(&life.steps),
            "seed {seed}"
        );
    }
}
