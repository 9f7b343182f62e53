//! The mark of the height on the panels.

use chain::network::Network;
use device::{
    canvas::Layout,
    cells::Picture,
    event_log::DeviceEvent,
    frames::FrameContent,
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
        self.device.handle(Input::Request(patch), now(self.secs));
    }

    fn picture(&self) -> Picture {
        self.device.desired().picture
    }

    /// The mark on the panels; the status must not report a worse one.
    pub(crate) fn mark(&self) -> Option<Mark> {
        let mark = self.picture().mark;
        let view = self.device.view();
        let reported = match (view.stale, view.disputed) {
            (true, true | false) => Some(Mark::Stale),
            (false, true) => Some(Mark::Disputed),
            (false, false) => None,
        };
        assert!(
            reported <= mark,
            "{reported:?} is reported, {mark:?} is shown"
        );
        mark
    }
}

/// A device with an explorer, and a block that two sources have proven.
fn proven() -> (World, Miner) {
    let (mut world, mut miner) = (World::new(), Miner::new());
    miner.mine(4);
    world.prove(EXPLORER, 900_000, &miner.newest(4));
    world.prove(OTHER, 900_000, &miner.newest(4));
    (world, miner)
}

/// A device with an explorer, and a miner of blocks from 900,000.
fn anchored() -> (World, Miner) {
    let miner = Miner::new();
    (World::on(Some(miner.chain(899_999))), miner)
}

#[test]
fn a_block_proven_by_two_sources_has_no_mark() {
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
fn a_single_source_is_marked_after_two_minutes_and_the_mark_stays() {
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

/// A relay sends claims only; peers, which are on by default, send proofs.
#[test]
fn public_peers_are_a_source_of_proofs() {
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
fn a_height_that_a_relay_repeats_is_stale_if_proofs_are_expected() {
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
    // A repeated claim updates its age.
    assert_eq!(repeated(0), (None, false, old));
}

/// Values become stale while the machine is suspended, not when it wakes.
#[test]
fn suspend_ages_values_like_running() {
    let night = |sleeps: bool| {
        let mut world = World::with(data_source::PUBLIC_RELAY, regtest());
        let usd = Observation::Price(Currency::USD, Price::parse("64000").unwrap());
        world.claim(RELAY, 900_000);
        world.observe(RELAY, usd.clone());
        if sleeps {
            world.secs += 8 * 3600
        } else {
            world.wait(8 * 3600)
        }
        world.claim(RELAY, 900_048);
        world.observe(RELAY, usd);
        let mut marks = vec![world.mark()];
        for screen in [20, 0] {
            let at = now(world.secs());
            for request in [Request::ShowScreen(screen), Request::FullRefresh] {
                world.device.handle(Input::Request(request), at);
            }
            marks.push(world.mark());
        }
        (marks, world.device.view().truth)
    };
    assert_eq!(night(true), night(false));
    assert_eq!(night(true).0[1..], [None, None], "a new height and price");
}

#[test]
fn a_stale_and_disputed_height_is_reported_as_both() {
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
        let phrase = spoken::of_mark(mark).template();
        assert!(
            view.sentence.to_string().contains(phrase),
            "{}",
            view.sentence
        );
    }
    world.set("proofMode", json!(0));
    let view = world.device.view();
    assert_eq!((view.stale, view.disputed), (true, false));
}

#[test]
fn without_proof_sources_a_claim_has_no_mark() {
    let mut world = World::with(data_source::PUBLIC_RELAY, regtest());
    world.set("proofPeerMax", json!(0));
    world.claim(RELAY, 900_000);
    world.wait(80 * 60);
    assert_eq!(world.mark(), None);
    // An implausible claim is marked all the same.
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
    let refresh = Input::Request(Request::FullRefresh);
    let at = now(world.secs());
    world.device.handle(refresh, at);
    assert_eq!(world.mark(), None);
}

#[test]
fn an_old_tip_is_stale_although_it_is_repeated() {
    let (mut world, miner) = proven();
    for _ in 0..91 {
        world.wait(60);
        world.claim(RELAY, 900_000);
        world.prove(EXPLORER, 900_000, &miner.newest(1));
    }
    assert_eq!(world.mark(), Some(Mark::Stale));
    assert!(world.device.view().stale);
    // Other screens name the time of the block, not that of its newest report.
    let frame = world
        .device
        .view()
        .frame(FrameContent::Screen(0), Layout::Figure, now(world.secs));
    assert_eq!(
        frame.unwrap().picture.tiles[0].lines[0][0],
        "Stale: from 00:00"
    );
}

#[test]
fn stale_values_are_marked_even_if_other_marks_are_off() {
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

/// Work alone proves no height: a valid header can be claimed at any height.
#[test]
fn in_strict_mode_headers_must_link_to_the_chain() {
    let (mut world, mut miner) = anchored();
    world.set("proofMode", json!(2));
    let mut other_chain = Miner::new();
    other_chain.fork(0);
    other_chain.mine(8);
    world.prove(EXPLORER, 900_050, &other_chain.newest(7));
    assert_eq!(world.verdict(), (None, HeightState::Unknown));
    world.set("proofMode", json!(1));
    world.check(900_050, HeightState::Alone);
    world.set("proofMode", json!(2));
    // An old chain is proven all the same.
    miner.mine_at(crate::START - 3 * 3600);
    world.prove(OTHER, 900_000, &miner.newest(1));
    world.check(900_000, HeightState::Stale);
    world.set("proofMode", json!(1));
    world.check(900_000, HeightState::Stale);
}

#[test]
fn one_header_at_two_heights_agrees_with_no_source() {
    let (mut world, mut miner) = (World::new(), Miner::new());
    miner.mine(8);
    world.prove(EXPLORER, 900_000, &miner.newest(8));
    world.prove(OTHER, 900_001, &miner.newest(8));
    world.check(900_001, HeightState::Alone);
    assert_eq!(world.device.view().truth.agreeing(), 1);
}

#[test]
fn a_height_without_proof_is_stored() {
    let mut world = World::new();
    world.claim(RELAY, 900_000);
    world.set("proofMode", json!(2));
    assert_eq!(world.verdict().0, None);
    let remembered = world.device.memory().market.height;
    assert_eq!(remembered.map(|height| height.value), Some(900_000));
}

/// Number of block events.
pub(crate) fn blocks(world: &World) -> usize {
    let view = world.device.view();
    let (happened, _) = view.event_log.since(0);
    let is_block = |what: &&DeviceEvent| matches!(what, DeviceEvent::Block { .. });
    happened.filter(is_block).count()
}

#[test]
fn a_false_claim_before_the_first_proof_hides_no_later_block() {
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
fn a_demo_needs_no_proofs() {
    let mut world = World::with(data_source::EXPLORER, None);
    world.set("proofMode", json!(2));
    world.claim(RELAY, 900_000);
    assert_eq!(world.verdict().0, Some(900_000));
}

#[test]
fn marks_and_unproven_heights_can_be_switched_off() {
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
fn invented_values_have_no_mark() {
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
    let sentence = world.device.view().sentence.to_string();
    assert!(
        sentence.ends_with("The sources disagree about this, or it cannot be."),
        "{sentence}"
    );
}

fn regtest() -> Option<ChainSpec> {
    Some(ChainSpec::built_in(Network::Regtest))
}
