//! The screen that shows how the height is proven.

use device::{input::Input, request::Request};
use serde_json::json;

use crate::{EXPLORER, OTHER, RELAY, START, World, miner::Miner, now};

/// Number of the screen.
const PROOF: i64 = 900;

impl World {
    /// Requests the screen; returns whether it exists.
    fn show_proof(&mut self) -> bool {
        let at = now(self.secs());
        let show = Input::Request(Request::ShowScreen(PROOF));
        let reply = self.device.handle(show, at).reply;
        matches!(reply, Some(Ok(_)))
    }

    fn seen(&self) -> String {
        self.device.view().data.join("|")
    }
}

#[test]
fn the_screen_exists_only_if_enabled() {
    let mut world = World::new();
    assert!(!world.show_proof());
    world.set("proofScreen", json!(true));
    assert!(world.show_proof());
    assert_eq!(world.device.view().current_screen, 900);
    world.set("proofScreen", json!(false));
    assert_eq!(world.device.view().current_screen, 0);
}

#[test]
fn the_screen_shows_the_proof_and_updates_each_minute() {
    let mut world = World::new();
    world.set("proofScreen", json!(true));
    world.set("timePerScreen", json!(0));
    world.show_proof();
    world.claim(RELAY, 900_000);
    assert_eq!(world.seen(), "BLOCK/CLAIMED||||||");
    let mut miner = Miner::new();
    miner.mine(3);
    miner.mine_at(START - 60);
    let hash = miner.tip().to_string();
    let digits: Vec<&str> = hash[60..].split("").filter(|it| !it.is_empty()).collect();
    let digits = digits.join("|");
    world.prove(EXPLORER, 900_000, &miner.newest(4));
    assert_eq!(world.seen(), format!("BLOCK/ALONE|1/AGREE|{digits}|1/MINS"));
    world.prove(OTHER, 900_000, &miner.newest(4));
    assert_eq!(
        world.seen(),
        format!("BLOCK/PROVEN|2/AGREE|{digits}|1/MINS")
    );
    let sentence = world.device.view().sentence.to_string();
    assert!(
        sentence.contains(&format!("ends in {}; 2 sources", &hash[60..])),
        "{sentence}"
    );
    // Without any input it updates each minute.
    world.wait(7 * 60);
    assert!(world.seen().ends_with("|8/MINS"), "{}", world.seen());
    world.wait(89 * 60);
    // One source is disabled and stops counting.
    assert_eq!(
        world.seen(),
        format!("BLOCK/STALE|1/AGREE|{digits}|97/MINS")
    );
    world.wait(5 * 60);
    assert!(world.seen().ends_with("|1/HRS"), "{}", world.seen());
}
