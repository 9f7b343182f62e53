//! A value on the panels that is older than its limit has the mark, in any order of events.

use std::{collections::BTreeMap, time::Duration};

use market::limits::{STALE_BLOCK, STALE_FEE, STALE_PRICE};

use crate::{
    script::Step,
    workload::Dice,
    world::{BOARD, World},
};

/// The facts that each screen shows, by its id.
const FACTS_OF_SCREENS: &[(i64, &[&str])] = &[
    (0, &["height"]),
    (4, &["height"]),
    (6, &["fee"]),
    (10, &["price"]),
    (20, &["price"]),
    (30, &["price", "height"]),
    (40, &["height"]),
    (3, &[]),
];

fn limit(fact: &str) -> Duration {
    match fact {
        "height" => STALE_BLOCK,
        "price" => STALE_PRICE,
        _ => STALE_FEE,
    }
}

/// Runs random observations, screen changes and waits. After each step, compares the mark with the ages.
fn simulate(seed: u64) {
    let mut dice = Dice::new(seed);
    let mut world = World::new(BOARD);
    world.run(&"set actCurrencies=[\"USD\"]".parse().unwrap());
    world.run(&"set timePerScreen=0".parse().unwrap());
    world.run(&"set minSecPriceUpd=0".parse().unwrap());
    let mut seen: BTreeMap<&str, Duration> = BTreeMap::new();
    let mut height = 900_000;
    let mut on = FACTS_OF_SCREENS[0];
    for _ in 0..200 {
        match dice.below(6) {
            0 => {
                height += 1;
                world.run(&Step::Block(height));
                seen.insert("height", world.now.uptime);
            }
            1 => {
                world.run(&Step::Price(
                    "USD".into(),
                    format!("{}", 90_000 + dice.below(9)),
                ));
                seen.insert("price", world.now.uptime);
            }
            2 => {
                world.run(&Step::Fee(format!("{}", 1 + dice.below(9))));
                seen.insert("fee", world.now.uptime);
            }
            3 => {
                let place = usize::try_from(dice.below(FACTS_OF_SCREENS.len() as u64)).unwrap();
                on = FACTS_OF_SCREENS[place];
                world.run(&Step::Screen(on.0));
            }
            4 => drop(world.run(&Step::Wait(Duration::from_secs(dice.below(5400))))),
            _ => drop(world.run(&Step::Wait(Duration::from_secs(dice.below(60))))),
        }
        let view = world.device.view();
        if view.mode != "rotation" {
            continue;
        }
        let old = |fact: &&&str| {
            let at = seen.get(**fact);
            at.is_some_and(|at| world.now.uptime - *at > limit(fact))
        };
        let expected = on.1.iter().any(|fact| old(&fact));
        assert_eq!(
            view.stale, expected,
            "seed {seed}, screen {}, at {:?}",
            on.0, world.now.uptime
        );
    }
}

#[test]
fn stale_values_are_marked_in_any_order_of_events() {
    (0..40).for_each(simulate);
}

#[test]
fn the_mark_appears_without_an_input_and_is_removed_by_the_next_value() {
    let mut world = World::new(BOARD);
    // Without public peers, so that the claim needs no proof.
    world.run(&"set proofPeerMax=0".parse().unwrap());
    world.run(&Step::Block(900_000));
    world.run(&Step::Wait(STALE_BLOCK));
    assert!(!world.device.view().stale);
    world.run(&Step::Wait(Duration::from_millis(1)));
    assert!(world.device.view().stale);
    world.run(&Step::Block(900_000));
    assert!(
        !world.device.view().stale,
        "the same height again makes the value fresh"
    );
}

#[test]
fn a_value_of_an_earlier_run_is_stale_without_a_wall_clock() {
    let mut world = World::new(BOARD);
    world.run(&Step::Block(900_000));
    world.run(&Step::Reboot);
    assert!(world.device.view().stale);
    assert_eq!(world.glass(), "BLOCK/HEIGHT 900000");
}
