//! No value on the glass is older than its limit without the mark, whatever the order of events.

use std::{collections::BTreeMap, time::Duration};

use market::limits::{STALE_BLOCK, STALE_FEE, STALE_PRICE};

use crate::{
    script::Step,
    workload::Dice,
    world::{BOARD, World},
};

/// What a screen shows, by its id.
const SHOWS: &[(i64, &[&str])] = &[
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

/// A life of observations, jumps and waits; the mark is compared with the ages after each.
fn live(seed: u64) {
    let mut dice = Dice::new(seed);
    let mut world = World::new(BOARD);
    world.run(&"set actCurrencies=[\"USD\"]".parse().unwrap());
    world.run(&"set timePerScreen=0".parse().unwrap());
    world.run(&"set minSecPriceUpd=0".parse().unwrap());
    let mut seen: BTreeMap<&str, Duration> = BTreeMap::new();
    let mut height = 900_000;
    let mut on = SHOWS[0];
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
                let place = usize::try_from(dice.below(SHOWS.len() as u64)).unwrap();
                on = SHOWS[place];
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
fn what_is_too_old_is_marked_whatever_the_order() {
    (0..40).for_each(live);
}

#[test]
fn the_mark_comes_on_its_own_and_goes_with_the_next_value() {
    let mut world = World::new(BOARD);
    // Nobody is asked who could prove more than what is said.
    world.run(&"set proofPeerMax=0".parse().unwrap());
    world.run(&Step::Block(900_000));
    world.run(&Step::Wait(STALE_BLOCK));
    assert!(!world.device.view().stale);
    world.run(&Step::Wait(Duration::from_millis(1)));
    assert!(world.device.view().stale);
    world.run(&Step::Block(900_000));
    assert!(
        !world.device.view().stale,
        "the same height again is news of its age"
    );
}

#[test]
fn a_value_of_an_earlier_run_without_a_clock_is_old() {
    let mut world = World::new(BOARD);
    world.run(&Step::Block(900_000));
    world.run(&Step::Reboot);
    assert!(world.device.view().stale);
    assert_eq!(world.glass(), "BLOCK/HEIGHT 900000");
}
