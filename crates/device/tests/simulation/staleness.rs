//! A value on the panels that is older than its limit has the mark.

use crate::{
    script::Step,
    world::{BOARD, World},
};

/// Screens, each with the values that it shows. It is marked if one of them is stale.
#[test]
fn each_screen_is_marked_for_its_own_values() {
    for (screen, values) in [
        (0, &["block"][..]),
        (3, &[]),
        (4, &["block"]),
        (6, &["fee"]),
        (10, &["price"]),
        (20, &["price"]),
        (30, &["price", "block"]),
        (40, &["block"]),
    ] {
        for old in ["block", "price", "fee"] {
            let mut world = World::new(BOARD);
            let fresh = ["block 900001", "price USD 90001", "fee 5"];
            let lines = [
                "set timePerScreen=0",
                "set proofPeerMax=0",
                "block 900000",
                "price USD 90000",
                "fee 4",
                "wait 5400001",
            ];
            let fresh = fresh.into_iter().filter(|line| !line.starts_with(old));
            for line in lines.into_iter().chain(fresh) {
                world.run(&line.parse().unwrap());
            }
            world.run(&Step::Screen(screen));
            let stale = world.device.view().stale;
            assert_eq!(stale, values.contains(&old), "{screen} {old}");
        }
    }
}

#[test]
fn a_value_of_an_earlier_run_is_stale_without_a_wall_clock() {
    let mut world = World::new(BOARD);
    world.run(&Step::Block(900_000));
    world.run(&Step::Reboot);
    assert!(world.device.view().stale);
    assert_eq!(world.glass(), "BLOCK/HEIGHT 900000");
}
