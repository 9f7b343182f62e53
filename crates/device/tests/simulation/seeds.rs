//! Runs random lives against the model and the invariants.

use std::{ops::Range, time::Duration};

use device::rotation::Timer;

use crate::{air::Air, checks, model::Model, script::Step, workload, workload::Dice, world};

const SEEDS: Range<u64> = 0..12;
const STEPS: u64 = 250;

/// One life; returns its log. Every second clock has a radio of its own.
fn live(seed: u64, steps: u64) -> Vec<String> {
    let mut dice = Dice::new(seed);
    let mut life = Life::new();
    life.world.looks = Some(Dice::new(seed));
    let on_air = seed % 2 == 1;
    if on_air {
        life.step(&Step::Radio(seed % 4 == 1));
    }
    for _ in 0..steps {
        life.step(&match on_air {
            true => workload::step_on_air(&mut dice),
            false if dice.below(40) == 0 => workload::nap(&mut dice),
            false => workload::step(&mut dice),
        });
    }
    std::mem::take(&mut life.world.log)
}

struct Life {
    world: world::World,
    model: Model,
    refreshes: (u64, u64),
    script: Vec<String>,
}

impl Life {
    fn new() -> Life {
        let world = world::World::new(world::BOARD);
        Life {
            world,
            model: Model::default(),
            refreshes: (0, 0),
            script: Vec::new(),
        }
    }

    fn step(&mut self, step: &Step) {
        self.script.push(step.to_string());
        match step {
            Step::Wait(time) => self.wait(*time),
            Step::Debug => self.toggle_debug(),
            Step::Sleep(time) => self.sleep(*time),
            _ => {
                let starts = self.world.starts;
                let reply = self.world.run(step);
                let refused = matches!(reply, Some(device::request::Reply::Refused(_)));
                let settings = self.world.device.view().active;
                if self.world.starts == starts {
                    self.model.follow(step, &settings, !refused);
                } else {
                    self.restarted();
                }
                self.model.pass(self.world.now.uptime, &settings, false);
            }
        }
        checks::after(&self.world, &self.model, step);
        self.refreshes = checks::refreshes_only_grow(self.refreshes, &self.world);
    }

    fn restarted(&mut self) {
        self.refreshes = (0, 0);
        self.model.restart();
    }

    fn toggle_debug(&mut self) {
        let starts = self.world.starts;
        self.world.touch(0b1000);
        self.wait(Duration::from_millis(100));
        self.world.touch(0);
        // Behind the portal and under an update the button means nothing.
        let heard = !self.world.air.as_ref().is_some_and(Air::is_portal);
        self.wait(Duration::from_millis(20));
        if heard && self.world.starts == starts {
            self.model
                .follow(&Step::Debug, self.world.device.settings(), false);
        }
    }

    /// Passes every deadline one by one, so that the model sees each.
    fn wait(&mut self, time: Duration) {
        let end = self.world.now.uptime + time;
        loop {
            let deadline = self.world.device.next_deadline(self.world.now);
            let next = deadline.map_or(end, |at| at.min(end));
            let turns = !self.model.holds() && self.turns_by(next);
            let before = self.world.device.view();
            let starts = self.world.starts;
            self.world.wait(next.saturating_sub(self.world.now.uptime));
            if self.world.starts != starts {
                return self.restarted();
            }
            let view = self.world.device.view();
            self.model.pass(next, &view.active, turns);
            if turns && before.mode == "rotation" {
                let enabled = crate::model::enabled_slots(&view.active);
                let shown = (view.current_screen, view.currency);
                let allowed = enabled
                    .iter()
                    .any(|slot| (slot.screen, slot.currency) == shown);
                assert!(allowed, "auto-rotation shows the disabled screen {shown:?}");
            }
            if next == end {
                return;
            }
        }
    }

    /// Whatever was due meanwhile happens at once.
    fn sleep(&mut self, time: Duration) {
        let end = self.world.now.uptime + time;
        let turns = !self.model.holds() && self.turns_by(end);
        self.world.run(&Step::Sleep(time));
        let settings = self.world.device.view().active;
        self.model.pass(end, &settings, turns);
    }

    fn turns_by(&self, uptime: Duration) -> bool {
        matches!(self.world.device.timer(), Timer::Running { turn_at: Some(at) } if at <= uptime)
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "the life that failed, as a scenario:\n{}",
                self.script.join("\n")
            );
        }
    }
}

fn from_environment() -> (Range<u64>, u64) {
    let seeds = std::env::var("SIMULATION_SEEDS").ok().and_then(|text| {
        let (start, end) = text.split_once("..")?;
        Some(start.parse().ok()?..end.parse().ok()?)
    });
    let steps = std::env::var("SIMULATION_STEPS")
        .ok()
        .and_then(|text| text.parse().ok());
    (seeds.unwrap_or(SEEDS), steps.unwrap_or(STEPS))
}

#[test]
fn random_lives_hold_the_invariants() {
    let (seeds, steps) = from_environment();
    for seed in seeds {
        eprintln!("seed {seed}");
        live(seed, steps);
    }
}

#[test]
fn the_same_inputs_give_the_same_outputs() {
    for seed in [3, 14, 159] {
        assert_eq!(live(seed, STEPS), live(seed, STEPS), "seed {seed}");
    }
}
