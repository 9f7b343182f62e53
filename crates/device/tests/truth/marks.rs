//! Which mark a height carries on the glass, and when it comes and goes.

use chain::network::Network;
use device::{
    cells::Picture,
    happenings::Happening,
    input::Input,
    request::{Patch, Request},
    settings::data_source,
    spoken,
};
use market::{
    ChainSpec, HeightState, Observation,
    mark::Mark,
    units::{Currency, Price},
};
use serde_json::{Map, Value, json};

use crate::{EXPLORER, OTHER, RELAY, World, miner::Miner, now};

impl World {
    pub(crate) fn set(&mut self, key: &str, value: Value) {
        let body = Map::from_iter([(key.to_owned(), value)]);
        let patch = Request::Patch(Patch {
            body,
            ..Patch::default()
        });
        self.device.handle(Input::Asked(patch), now(self.secs));
    }

    fn picture(&self) -> Picture {
        self.device.desired().picture
    }

    /// The mark on the glass; the status must not tell a worse one.
    pub(crate) fn mark(&self) -> Option<Mark> {
        let mark = self.picture().mark;
        let view = self.device.view();
        let told = match (view.stale, view.disputed) {
            (true, true | false) => Some(Mark::Stale),
            (false, true) => Some(Mark::Disputed),
            (false, false) => None,
        };
        assert!(told <= mark, "{told:?} is told, {mark:?} is seen");
        mark
    }
}

/// A clock that asks an explorer, with a block that two sources have proven.
fn proven() -> (World, Miner) {
    let (mut world, mut miner) = (World::new(), Miner::new());
    miner.mine(4);
    world.prove(EXPLORER, 900_000, &miner.newest(4));
    world.prove(OTHER, 900_000, &miner.newest(4));
    (world, miner)
}

/// A clock that asks an explorer, and somebody who makes blocks from 900,000 on.
fn anchored() -> (World, Miner) {
    let miner = Miner::new();
    (World::on(Some(miner.chain(899_999))), miner)
}

#[test]
fn what_is_proven_by_two_carries_no_mark() {
    let (mut world, mut miner) = proven();
    for height in 900_001..900_020 {
        world.wait(300);
        assert_eq!(world.mark(), None);
        world.claim(RELAY, height);
        world.wait(20);
        miner.mine_at(crate::START + world.secs() as u32);
        world.prove(EXPLORER, height, &miner.newest(1));
        world.wait(20);
        assert_eq!(world.mark(), None, "proof comes later than the number");
        world.prove(OTHER, height, &miner.newest(1));
    }
}

#[test]
fn one_voice_gets_a_ring_after_two_minutes_and_keeps_it_from_block_to_block() {
    let (mut world, mut miner) = (World::new(), Miner::new());
    miner.mine(4);
    world.prove(EXPLORER, 900_000, &miner.newest(4));
    world.wait(119);
    assert_eq!(world.mark(), None);
    world.wait(1);
    assert_eq!(world.mark(), Some(Mark::Alone));
    for height in 900_001..900_004 {
        world.wait(60);
        miner.mine_at(crate::START + world.secs() as u32);
        world.prove(EXPLORER, height, &miner.newest(1));
        assert_eq!(world.mark(), Some(Mark::Alone));
    }
}

/// A public relay alone can only claim; the peers that a new clock asks can prove.
#[test]
fn who_asks_public_peers_asks_for_proof() {
    let mut world = World::with(data_source::PUBLIC_RELAY, regtest());
    world.claim(RELAY, 900_000);
    world.wait(119);
    assert_eq!(world.mark(), None);
    world.wait(1);
    assert_eq!(world.mark(), Some(Mark::Alone));
    world.set("proofPeerMax", json!(0));
    world.wait(600);
    world.claim(RELAY, 900_001);
    assert_eq!(world.mark(), None);
    world.set("proofPeerMax", json!(1));
    assert_eq!(world.mark(), Some(Mark::Alone));
}

#[test]
fn a_relay_that_repeats_one_height_is_old_where_proof_was_asked_for() {
    let repeated = |peers: u32| {
        let mut world = World::with(data_source::PUBLIC_RELAY, regtest());
        world.set("proofPeerMax", json!(peers));
        for _ in 0..90 {
            world.claim(RELAY, 900_000);
            world.wait(60);
        }
        (world.mark(), world.device.view().stale, world.verdict().1)
    };
    let old = HeightState::Stale;
    assert_eq!(repeated(4), (Some(Mark::Stale), true, old));
    // A word that is said again is news of its age.
    assert_eq!(repeated(0), (None, false, old));
}

/// Whatever grew old while the machine slept did so then, and not as it woke.
#[test]
fn a_night_asleep_is_as_one_awake() {
    let night = |sleeps: bool| {
        let mut world = World::with(data_source::PUBLIC_RELAY, regtest());
        let usd = Observation::Price(Currency::USD, Price::parse("64000").unwrap());
        world.claim(RELAY, 900_000);
        world.hear(RELAY, usd.clone());
        match sleeps {
            true => world.secs += 8 * 3600,
            false => world.wait(8 * 3600),
        }
        world.claim(RELAY, 900_048);
        world.hear(RELAY, usd);
        let mut marks = vec![world.mark()];
        for screen in [20, 0] {
            let at = now(world.secs());
            for request in [Request::ShowScreen(screen), Request::FullRefresh] {
                world.device.handle(Input::Asked(request), at);
            }
            marks.push(world.mark());
        }
        (marks, world.device.view().truth)
    };
    assert_eq!(night(true), night(false));
    assert_eq!(night(true).0[1..], [None, None], "a new height and price");
}

#[test]
fn what_is_old_and_disputed_is_told_to_be_both() {
    let (mut world, _) = proven();
    world.wait(88 * 60);
    world.claim(RELAY, 900_001);
    world.claim(OTHER, 900_000);
    world.wait(120);
    let view = world.device.view();
    assert_eq!(
        (world.mark(), view.stale, view.disputed),
        (Some(Mark::Stale), true, true)
    );
    for mark in [Mark::Stale, Mark::Disputed] {
        let said = spoken::of_mark(mark).template();
        assert!(
            view.sentence.to_string().contains(said),
            "{}",
            view.sentence
        );
    }
    world.set("proofMode", json!(0));
    let view = world.device.view();
    assert_eq!((view.stale, view.disputed), (true, false));
}

#[test]
fn where_no_proof_was_asked_for_a_claim_is_no_blemish() {
    let mut world = World::with(data_source::PUBLIC_RELAY, regtest());
    world.set("proofPeerMax", json!(0));
    world.claim(RELAY, 900_000);
    world.wait(80 * 60);
    assert_eq!(world.mark(), None);
    // What cannot be believed is one all the same.
    world.claim(RELAY, 900_500);
    world.wait(120);
    assert_eq!(world.mark(), Some(Mark::Disputed));
}

#[test]
fn a_worse_mark_is_painted_at_once_and_a_better_one_with_the_next_picture() {
    let (mut world, _) = proven();
    world.claim(RELAY, 900_001);
    world.wait(1);
    world.claim(RELAY, 899_999);
    let before = world.picture();
    world.wait(119);
    let after = world.picture();
    assert_eq!((before.mark, after.mark), (None, Some(Mark::Disputed)));
    assert_eq!(before.cells, after.cells);
    assert_eq!(before.full_refreshes, after.full_refreshes);
    assert!(after.serial > before.serial);
    assert!(world.device.view().disputed);

    world.claim(RELAY, 900_000);
    assert_eq!(world.picture(), after, "nothing is painted for it");
    assert!(!world.device.view().disputed);
    let refresh = Input::Asked(Request::FullRefresh);
    let at = now(world.secs());
    world.device.handle(refresh, at);
    assert_eq!(world.mark(), None);
}

#[test]
fn a_tip_that_is_old_is_marked_as_old_though_it_is_told_again_and_again() {
    let (mut world, miner) = proven();
    for _ in 0..91 {
        world.wait(60);
        world.claim(RELAY, 900_000);
        world.prove(EXPLORER, 900_000, &miner.newest(1));
    }
    assert_eq!(world.mark(), Some(Mark::Stale));
    assert!(world.device.view().stale);
}

#[test]
fn what_is_old_is_marked_also_where_nothing_else_is() {
    let (mut world, miner) = proven();
    world.set("proofMode", json!(0));
    assert_eq!(world.mark(), None);
    for _ in 0..91 {
        world.wait(60);
        world.prove(EXPLORER, 900_000, &miner.newest(1));
    }
    assert_eq!(world.mark(), Some(Mark::Stale));
    assert!(world.device.view().stale);
}

/// Work alone has no height: a genuine header can be said to be at any.
#[test]
fn strictly_nothing_is_proven_that_reaches_no_chain() {
    let (mut world, mut miner) = anchored();
    world.set("proofMode", json!(2));
    let mut stranger = Miner::new();
    stranger.fork(0);
    stranger.mine(8);
    world.prove(EXPLORER, 900_050, &stranger.newest(7));
    assert_eq!(world.verdict(), (None, HeightState::Unknown));
    world.set("proofMode", json!(1));
    world.check(900_050, HeightState::Alone);
    world.set("proofMode", json!(2));
    // A chain that is old is proven all the same.
    miner.mine_at(crate::START - 3 * 3600);
    world.prove(OTHER, 900_000, &miner.newest(1));
    world.check(900_000, HeightState::Stale);
    world.set("proofMode", json!(1));
    world.check(900_000, HeightState::Stale);
}

#[test]
fn one_header_at_two_heights_agrees_with_nobody() {
    let (mut world, mut miner) = (World::new(), Miner::new());
    miner.mine(8);
    world.prove(EXPLORER, 900_000, &miner.newest(8));
    world.prove(OTHER, 900_001, &miner.newest(8));
    world.check(900_001, HeightState::Alone);
    assert_eq!(world.device.view().truth.agreeing(), 1);
}

#[test]
fn a_height_that_waits_for_its_proof_is_remembered() {
    let mut world = World::new();
    world.claim(RELAY, 900_000);
    world.set("proofMode", json!(2));
    assert_eq!(world.verdict().0, None);
    let remembered = world.device.memory().market.height;
    assert_eq!(remembered.map(|height| height.value), Some(900_000));
}

/// How many blocks were told of as new.
pub(crate) fn blocks(world: &World) -> usize {
    let view = world.device.view();
    let (happened, _) = view.happenings.since(0);
    let is_block = |what: &&Happening| matches!(what, Happening::Block { .. });
    happened.filter(is_block).count()
}

#[test]
fn a_lie_told_before_anything_was_proven_takes_no_later_block_away() {
    let (mut world, mut miner) = (World::new(), Miner::new());
    world.claim(RELAY, 909_000);
    world.claim(RELAY, 909_001);
    miner.mine(8);
    world.prove(EXPLORER, 900_000, &miner.newest(8));
    for _ in 0..2 {
        world.wait(1);
        world.claim(EXPLORER, 900_000);
    }
    for height in [900_001, 900_002, 900_003, 900_004] {
        world.wait(60);
        miner.mine_at(crate::START + world.secs() as u32);
        world.prove(EXPLORER, height, &miner.newest(8));
    }
    assert_eq!(world.verdict().0, Some(900_004));
    let before = blocks(&world);
    world.wait(60);
    miner.mine_at(crate::START + world.secs() as u32);
    world.prove(EXPLORER, 900_005, &miner.newest(1));
    assert_eq!(blocks(&world) - before, 1);
}

#[test]
fn where_blocks_are_invented_none_has_to_be_proven() {
    let mut world = World::with(data_source::EXPLORER, None);
    world.set("proofMode", json!(2));
    world.claim(RELAY, 900_000);
    assert_eq!(world.verdict().0, Some(900_000));
}

#[test]
fn a_mark_can_be_switched_off_and_so_can_all_that_is_not_proven() {
    let (mut world, mut miner) = anchored();
    world.claim(RELAY, 900_000);
    world.wait(120);
    assert_eq!(world.mark(), Some(Mark::Alone));
    world.set("proofMode", json!(0));
    world.wait(600);
    world.claim(RELAY, 900_001);
    assert_eq!((world.mark(), world.verdict().0), (None, Some(900_001)));

    world.set("proofMode", json!(2));
    assert_eq!((world.mark(), world.verdict().0), (None, None));
    assert_eq!(world.device.view().data[1..].concat(), "");
    assert_eq!(world.verdict().0, None);
    miner.mine_at(crate::START + world.secs() as u32);
    world.prove(EXPLORER, 900_000, &miner.newest(1));
    world.claim(RELAY, 900_001);
    world.claim(RELAY, 900_002);
    assert_eq!(world.verdict().0, Some(900_000), "no claim leads either");
    world.set("proofMode", json!(1));
    assert_eq!(world.verdict().0, Some(900_002));
}

#[test]
fn what_is_invented_for_show_carries_no_mark() {
    let mut world = World::with(data_source::EXPLORER, None);
    world.claim(RELAY, 900_000);
    world.wait(10);
    world.claim(RELAY, 900_500);
    world.wait(600);
    assert_eq!(world.mark(), None);
}

#[test]
fn a_claim_below_the_anchor_is_marked_at_once() {
    let main = Some(ChainSpec::built_in(Network::Main));
    let mut world = World::with(data_source::PUBLIC_RELAY, main);
    world.claim(RELAY, 900_000);
    assert_eq!(world.mark(), Some(Mark::Disputed));
    let says = world.device.view().sentence.to_string();
    assert!(
        says.ends_with("The sources disagree about this, or it cannot be."),
        "{says}"
    );
}

fn regtest() -> Option<ChainSpec> {
    Some(ChainSpec::built_in(Network::Regtest))
}
