//! The chain that is kept: what peers and a node hand in, and what comes of it.

use std::time::Duration;

use chain::{Header, rules::HeaderRefusal};
use device::{
    board::BoardSpec,
    device::Device,
    input::Input,
    memory::Memory,
    request::{Reply, Request},
    settings::{Settings, data_source},
};
use market::{
    ChainSpec, Connection, HeadersReach, HeadersReply, HeightState, MESSAGE_HEADERS_MAX,
    Observation, ProofOrigin, Seen, now::Now, source_id::SourceId,
};
use serde_json::json;

use crate::{
    EXPLORER, OTHER, RELAY, World,
    marks::blocks,
    miner::{
        Miner, START,
        mined::{unworked, worked},
    },
    now,
};

/// Height of the anchor.
const ANCHOR: u32 = 899_999;

const NODE: ProofOrigin = ProofOrigin {
    source: SourceId::Node,
    place: 0,
};

pub(crate) fn peer(place: u8) -> ProofOrigin {
    ProofOrigin {
        source: SourceId::Peers,
        place,
    }
}

/// A world with an anchor, and somebody who makes blocks after it.
fn begin() -> (World, Miner) {
    let miner = Miner::new();
    let world = World::on(Some(miner.chain(ANCHOR)));
    (world, miner)
}

impl World {
    fn judge_at(
        &mut self,
        origin: ProofOrigin,
        headers: &[Header],
        reach: HeadersReach,
        now: Now,
    ) -> HeadersReply {
        let input = Input::Headers(origin, headers.to_vec(), reach);
        match self.device.handle(input, now).reply {
            Some(Reply::Headers(reply)) => *reply,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn judge(&mut self, origin: ProofOrigin, headers: &[Header]) -> HeadersReply {
        let now = now(self.secs);
        self.judge_at(origin, headers, HeadersReach::Newest, now)
    }

    pub(crate) fn tip(&self) -> chain::BlockHash {
        self.device.chain().unwrap().tip()
    }
}

#[test]
fn a_chain_counts_from_the_senders_newest_block_on() {
    let (mut world, mut miner) = begin();
    world.claim(RELAY, 900_040);
    miner.mine(40);
    let headers = miner.newest(40);
    let before = now(world.secs);
    for part in headers[..30].chunks(10) {
        let reply = world.judge_at(peer(0), part, HeadersReach::More, before);
        assert!(reply.is_new && reply.is_tip);
        world.check(900_040, HeightState::Claimed);
    }
    let reply = world.judge(peer(0), &headers[30..]);
    assert_eq!(reply.height, Some(900_039));
    assert_eq!(reply.locator[0], miner.tip());
    // What is taken for granted stays what it was.
    assert_eq!(world.device.view().truth.anchor, Some(ANCHOR));
    // The claim is one block ahead, which a number may be for a while.
    world.check(900_040, HeightState::Claimed);
    world.claim(RELAY, 900_039);
    world.check(900_039, HeightState::Alone);
}

#[test]
fn blocks_that_come_at_once_are_told_as_one_up_to_a_hundred_and_as_none_beyond() {
    for (missed, told) in [(1, 1), (100, 1), (101, 0), (1000, 0)] {
        let (mut world, mut miner) = begin();
        miner.mine_fast(20);
        world.judge(NODE, &miner.newest(20));
        let before = blocks(&world);
        miner.mine_fast(missed);
        world.judge(NODE, &miner.newest(missed as usize));
        world.check(900_019 + missed, HeightState::Proven);
        assert_eq!(blocks(&world) - before, told, "{missed}");
    }
}

#[test]
fn a_claim_beside_what_is_proven_is_counted_as_too_high_or_too_low() {
    for (said, unproven, lower) in [
        (900_018, 0, 1),
        (900_019, 0, 0),
        // A number may be ahead of its proof for a while.
        (900_021, 0, 0),
        (900_022, 1, 0),
        (900_500, 1, 0),
    ] {
        let mut miner = Miner::new();
        let chain = miner.chain(ANCHOR);
        let mut world = World::with(data_source::PUBLIC_RELAY, Some(chain));
        miner.mine(20);
        world.judge(NODE, &miner.newest(20));
        world.claim(RELAY, said);
        let counted = |reason| world.dropped(RELAY, reason);
        let (high, low) = (counted("height-unproven"), counted("lower-height"));
        assert_eq!((high, low), (unproven, lower), "{said}");
    }
}

#[test]
fn two_origins_prove_a_height_and_the_owners_node_alone_does() {
    let (mut world, mut miner) = begin();
    miner.mine(20);
    world.judge(peer(0), &miner.newest(20));
    world.check(900_019, HeightState::Alone);
    // Who has the block before the newest one does not agree yet, and says nothing against it.
    world.judge(peer(1), &miner.newest(20)[..19]);
    world.wait(1200);
    world.check(900_019, HeightState::Alone);
    world.judge(peer(1), &miner.newest(1));
    world.check(900_019, HeightState::Proven);
    let truth = world.device.view().truth.clone();
    assert_eq!((truth.proofs.len(), truth.agreeing()), (2, 2));
    assert_eq!(truth.work, Some(world.device.chain().unwrap().work()));
    miner.mine(1);
    world.judge(peer(1), &miner.newest(1));
    world.check(900_020, HeightState::Alone);
    let truth = world.device.view().truth.clone();
    assert_eq!((truth.proofs.len(), truth.agreeing()), (2, 1));
    // One place is one voice, however often it says the same.
    world.judge(peer(1), &miner.newest(1));
    world.check(900_020, HeightState::Alone);
    world.judge(NODE, &miner.newest(1));
    world.check(900_020, HeightState::Proven);
    let shown = world.device.view().market.height.clone().unwrap();
    assert_eq!(shown.source, SourceId::Node);
}

#[test]
fn an_explorer_that_has_the_same_block_is_an_origin() {
    let (mut world, mut miner) = begin();
    miner.mine(20);
    world.judge(peer(0), &miner.newest(20));
    world.prove(EXPLORER, 900_019, &miner.newest(8));
    world.check(900_019, HeightState::Proven);
    // At its own height and no other.
    miner.mine(1);
    world.prove(EXPLORER, 900_030, &miner.newest(1));
    world.check(900_019, HeightState::Proven);
    assert_eq!(world.dropped(EXPLORER, "unconnected"), 1);
    world.prove(EXPLORER, 900_020, &miner.newest(1));
    world.check(900_020, HeightState::Alone);
}

#[test]
fn what_reaches_no_chain_that_is_up_to_date_is_no_proof() {
    let (mut world, mut miner) = begin();
    let mut stranger = Miner::new();
    stranger.fork(0);
    stranger.mine(9);
    miner.mine(20);
    let fresh = START + 60;
    miner.mine_at(fresh);
    world.judge(peer(0), &miner.newest(21));
    world.prove(EXPLORER, 900_021, &stranger.newest(8));
    world.check(900_020, HeightState::Alone);
    assert_eq!(world.dropped(EXPLORER, "unconnected"), 1);
    // Nor was what had been believed before anything was known.
    let (mut world, _) = begin();
    world.prove(EXPLORER, 900_025, &stranger.newest(8));
    world.check(900_025, HeightState::Alone);
    world.judge(peer(0), &miner.newest(21));
    world.check(900_020, HeightState::Alone);
    world.wait(600);
    world.check(900_020, HeightState::Disputed);
}

#[test]
fn whoever_breaks_a_rule_is_told_which_and_changes_nothing() {
    let (mut world, mut miner) = begin();
    miner.mine(24);
    let good = miner.newest(24);
    world.judge(peer(0), &good[..20]);
    let tip = world.tip();
    let broken = |change: fn(&mut Header)| {
        let mut header = good[20];
        change(&mut header);
        header
    };
    #[rustfmt::skip]
    let rows = [
        (unworked(good[20]), HeaderRefusal::NoWork),
        (worked(broken(|header| { header.bits = chain::CompactTarget::from_consensus(0x2070_0000); })), HeaderRefusal::WrongBits),
        (worked(broken(|header| header.time = START - 7200)), HeaderRefusal::TooOld),
        (worked(broken(|header| { header.version = chain::Version::from_consensus(1) })), HeaderRefusal::OldVersion),
        (good[22], HeaderRefusal::Unconnected),
        (worked(broken(|header| header.time = START + 7201)), HeaderRefusal::Future),
    ];
    for (header, refusal) in rows {
        let reply = world.judge(peer(1), &[header]);
        assert_eq!(reply.refused, Some(refusal));
        assert!(!reply.is_new && !reply.is_tip);
        assert_eq!(world.tip(), tip);
        world.check(900_019, HeightState::Alone);
        // Whoever fetches blocks finds out by it where chains part.
        let counted = u64::from(refusal != HeaderRefusal::Unconnected);
        let source = &world.device.view().sources[&SourceId::Peers];
        let dropped = source.dropped.get(refusal.name()).copied();
        assert_eq!(dropped.unwrap_or(0), counted, "{refusal:?}");
    }
    // What comes before a bad one is kept, but whoever sent both has no voice.
    let mut headers = good[20..].to_vec();
    headers[3] = unworked(headers[3]);
    let reply = world.judge(peer(1), &headers);
    assert_eq!(reply.refused, Some(HeaderRefusal::NoWork));
    assert_eq!(reply.height, Some(900_022));
    world.check(900_019, HeightState::Alone);
}

#[test]
fn a_block_from_the_future_is_taken_when_its_time_has_come() {
    let (mut world, mut miner) = begin();
    miner.mine(12);
    world.judge(peer(0), &miner.newest(12));
    miner.mine_at(START + 7201);
    let reply = world.judge(peer(0), &miner.newest(1));
    assert_eq!(reply.refused, Some(HeaderRefusal::Future));
    // That its time has not come may be the clock's own fault: what it has is not its newest block.
    world.check(900_011, HeightState::Claimed);
    world.wait(1);
    let reply = world.judge(peer(0), &miner.newest(1));
    assert_eq!(reply.refused, None);
    world.check(900_012, HeightState::Alone);
}

/// As after hours without power, on a machine whose clock stood still.
#[test]
fn a_clock_that_is_slow_proves_no_old_height() {
    let (mut world, mut miner) = begin();
    for block in 0..40 {
        miner.mine_at(START - 3600 + block * 600);
    }
    world.claim(RELAY, 900_039);
    for place in 0..4 {
        let reply = world.judge(peer(place), &miner.newest(40));
        assert_eq!(reply.refused, Some(HeaderRefusal::Future));
        assert!(reply.height < Some(900_039));
    }
    world.check(900_039, HeightState::Claimed);
    // Nor does what was proven before.
    let (mut world, _) = begin();
    for place in 0..4 {
        world.judge(peer(place), &miner.newest(40)[..4]);
    }
    world.check(900_003, HeightState::Proven);
    world.claim(RELAY, 900_039);
    world.check(900_003, HeightState::Proven);
    for place in 0..4 {
        world.judge(peer(place), &miner.newest(40)[3..]);
    }
    world.check(900_039, HeightState::Claimed);
    // The right time makes all of it good.
    let right = now(world.secs + 6 * 3600);
    for place in 0..2 {
        world.judge_at(peer(place), &miner.newest(40), HeadersReach::Newest, right);
    }
    world.check(900_039, HeightState::Proven);
}

/// A world in which four peers have proven a block that was made now.
fn proven_by_peers() -> (World, Miner) {
    let (mut world, mut miner) = begin();
    miner.mine_at(START);
    for place in 0..4 {
        world.judge(peer(place), &miner.newest(1));
    }
    world.check(900_000, HeightState::Proven);
    (world, miner)
}

#[test]
fn what_is_not_asked_any_more_holds_nothing_back() {
    let (mut world, miner) = proven_by_peers();
    world.wait(600);
    world.claim(RELAY, 900_009);
    world.check(900_000, HeightState::Proven);
    world.set("proofPeerMax", json!(3));
    world.check(900_000, HeightState::Proven);
    world.set("proofPeerMax", json!(0));
    world.check(900_009, HeightState::Claimed);
    assert_eq!(world.device.view().truth.proofs, []);
    for height in 900_010..900_014 {
        world.wait(300);
        world.claim(RELAY, height);
        world.check(height, HeightState::Claimed);
    }
    // Their last word may have been under way.
    world.judge(peer(0), &miner.newest(1));
    world.check(900_013, HeightState::Claimed);
    world.set("proofPeerMax", json!(1));
    world.judge(peer(0), &miner.newest(1));
    world.check(900_000, HeightState::Alone);
}

#[test]
fn what_comes_to_be_believed_late_is_as_old_as_it_is() {
    let (mut world, _) = proven_by_peers();
    world.claim(OTHER, 900_014);
    world.wait(91 * 60);
    world.claim(RELAY, 900_013);
    world.set("proofPeerMax", json!(0));
    world.check(900_014, HeightState::Stale);
    let shown = world.device.view().market.height.clone();
    assert_eq!(shown.unwrap().seen, Seen::At(Duration::ZERO));
    world.wait(10);
    world.claim(RELAY, 900_015);
    world.check(900_015, HeightState::Claimed);
}

#[test]
fn who_is_asked_after_others_does_not_speak_for_them() {
    let (mut world, mut miner) = begin();
    let mut rival = miner.clone();
    rival.fork(0);
    rival.mine(9);
    miner.mine(9);
    let agreeing = |world: &World| world.device.view().truth.agreeing();
    for place in 0..3 {
        world.judge(peer(place), &miner.newest(9));
    }
    world.judge(peer(3), &rival.newest(9));
    world.check(900_008, HeightState::Proven);
    // All of them are away, and one is back.
    world.hear(SourceId::Peers, down());
    world.wait(700);
    world.hear(SourceId::Peers, Observation::Connection(Connection::Up));
    assert_eq!(agreeing(&world), 3, "nobody has said anything else");
    world.judge(peer(0), &miner.newest(1));
    world.check(900_008, HeightState::Alone);
    assert_eq!(agreeing(&world), 1);
    world.judge(peer(1), &miner.newest(1));
    world.check(900_008, HeightState::Proven);
    // Fewer are asked by other settings, or the same ones anew.
    world.set("proofPeerMax", json!(1));
    world.judge(peer(0), &miner.newest(1));
    world.check(900_008, HeightState::Alone);
    world.judge(peer(1), &miner.newest(1));
    let restart = Request::RestartSource(SourceId::Peers);
    world
        .device
        .handle(Input::Asked(restart), now(world.secs()));
    world.judge(peer(0), &miner.newest(1));
    assert_eq!(agreeing(&world), 1);
}

fn down() -> Observation {
    Observation::Connection(Connection::Down {
        reason: "gone".into(),
        retry_in: Duration::from_secs(10),
    })
}

#[test]
fn proofs_of_who_is_away_give_way_to_claims_when_they_are_old() {
    let (mut world, mut miner) = proven_by_peers();
    world.wait(600);
    world.hear(SourceId::Peers, down());
    world.claim(RELAY, 900_003);
    world.wait(80 * 60 - 1);
    world.claim(RELAY, 900_009);
    world.check(900_000, HeightState::Disputed);
    world.wait(1);
    world.check(900_009, HeightState::Claimed);
    // Whoever comes back proves as before.
    miner.mine_at(START + 600);
    world.judge(peer(0), &miner.newest(1));
    world.check(900_001, HeightState::Alone);
    world.wait(120);
    world.check(900_001, HeightState::Disputed);

    // Who is there and has nothing newer is believed, and so is who comes back in time.
    for is_back in [false, true] {
        let (mut world, _) = proven_by_peers();
        if is_back {
            world.hear(SourceId::Peers, down());
            world.wait(60);
            world.hear(SourceId::Peers, Observation::Connection(Connection::Up));
        }
        world.claim(RELAY, 900_009);
        world.wait(3 * 3600);
        world.check(900_000, HeightState::Stale);
    }

    // Who wants nothing but proof sees the last there was.
    let (mut world, _) = proven_by_peers();
    world.set("proofMode", json!(2));
    world.hear(SourceId::Peers, down());
    world.claim(RELAY, 900_009);
    world.wait(3 * 3600);
    world.check(900_000, HeightState::Stale);
    world.set("proofMode", json!(1));
    world.check(900_009, HeightState::Stale);
}

#[test]
fn who_has_left_is_no_witness() {
    let (mut world, mut miner) = begin();
    let mut rival = miner.clone();
    miner.mine(20);
    for place in 0..2 {
        world.judge(peer(place), &miner.newest(20));
    }
    let left = |world: &mut World, place| {
        world.hear(SourceId::Peers, Observation::PeerDisconnected(place))
    };
    let agreeing = |world: &World| {
        let truth = world.device.view().truth;
        (truth.peers(), truth.agreeing())
    };
    world.check(900_019, HeightState::Proven);
    left(&mut world, 1);
    world.check(900_019, HeightState::Alone);
    assert_eq!(agreeing(&world), (1, 1));
    // Who comes in its place may be one.
    world.judge(peer(1), &miner.newest(1));
    world.check(900_019, HeightState::Proven);
    assert_eq!(agreeing(&world), (2, 2));
    // Nor does who has left stand against anybody.
    rival.fork(0);
    rival.mine(20);
    world.judge(peer(2), &rival.newest(20));
    world.wait(600);
    world.check(900_019, HeightState::Disputed);
    left(&mut world, 2);
    world.check(900_019, HeightState::Proven);
    // Where nobody is left what the last ones have proven is what there is.
    left(&mut world, 1);
    world.hear(SourceId::Peers, down());
    left(&mut world, 0);
    world.check(900_019, HeightState::Proven);
    assert_eq!(world.device.view().truth.proven.unwrap().hash, miner.tip());
}

#[test]
fn who_is_away_stands_against_nobody() {
    let (mut world, mut miner) = begin();
    let mut rival = miner.clone();
    rival.fork(0);
    miner.mine(10);
    rival.mine(10);
    world.judge(peer(0), &miner.newest(10));
    world.judge(NODE, &rival.newest(10));
    world.wait(600);
    world.check(900_009, HeightState::Disputed);
    world.hear(SourceId::Node, down());
    world.check(900_009, HeightState::Alone);
    world.hear(SourceId::Node, Observation::Connection(Connection::Up));
    world.check(900_009, HeightState::Disputed);
}

#[test]
fn without_the_time_nothing_is_proven() {
    let (mut world, mut miner) = begin();
    miner.mine(12);
    let unset = |secs| Now {
        utc: None,
        ..now(secs)
    };
    for place in 0..2 {
        world.judge_at(
            peer(place),
            &miner.newest(12),
            HeadersReach::Newest,
            unset(0),
        );
    }
    world.check(900_011, HeightState::Alone);
    world.device.handle(Input::Tick, now(1));
    world.check(900_011, HeightState::Proven);
}

#[test]
fn a_clock_that_is_set_judges_what_is_old_at_once() {
    let (mut world, mut miner) = begin();
    miner.mine_at(START);
    for place in 0..2 {
        world.judge(peer(place), &miner.newest(1));
    }
    world.wait(60);
    let set = |world: &mut World, ahead: u64| {
        let now = Now {
            utc: now(world.secs + ahead).utc,
            ..now(world.secs)
        };
        world.device.handle(Input::Tick, now);
    };
    for (ahead, state) in [
        (89 * 60 - 2, HeightState::Proven),
        (89 * 60, HeightState::Stale),
        (0, HeightState::Proven),
        (24 * 60 * 60, HeightState::Stale),
    ] {
        set(&mut world, ahead);
        world.check(900_000, state);
    }
}

#[test]
fn a_long_branch_of_less_work_is_not_kept() {
    let (mut world, mut miner) = begin();
    let mut liar = miner.clone();
    liar.fork(0);
    liar.mine_fast(1500);
    miner.mine_fast(1600);
    world.judge(peer(0), &miner.newest(1600));
    let before = world.device.chain().unwrap().clone();
    let reply = world.judge(peer(1), &liar.newest(1500));
    assert!(!reply.is_new);
    assert_eq!(world.device.chain(), Some(&before));
    world.wait(600);
    // Nor does it stand against anything: it is not as high.
    world.check(901_599, HeightState::Alone);
}

#[test]
fn no_more_is_looked_at_than_a_message_can_hold() {
    let (mut world, mut miner) = begin();
    miner.mine_fast(MESSAGE_HEADERS_MAX as u32 + 5);
    let reply = world.judge(peer(0), &miner.newest(MESSAGE_HEADERS_MAX + 5));
    assert_eq!(reply.height, Some(ANCHOR + MESSAGE_HEADERS_MAX as u32));
}

#[test]
fn a_chain_that_was_kept_goes_on_and_says_nothing_by_itself() {
    let (mut world, mut miner) = begin();
    miner.mine(12);
    world.judge(peer(0), &miner.newest(12));
    let kept = world.device.chain().cloned();
    let (mut world, _) = begin();
    world.device = world.device.with_headers(kept.clone());
    assert_eq!(world.verdict(), (None, HeightState::Unknown));
    assert_eq!(world.device.chain(), kept.as_ref());
    miner.mine(1);
    world.judge(peer(0), &miner.newest(1));
    world.check(900_012, HeightState::Alone);
    // A chain of another network is none of ours.
    let mut main = World::on(Some(ChainSpec::built_in(chain::network::Network::Main)));
    main.device = main.device.with_headers(kept);
    assert_eq!(main.device.chain().unwrap().headers().len(), 0);
}

#[test]
fn a_question_is_no_success_of_whoever_is_asked() {
    let (mut world, mut miner) = begin();
    let success = |world: &World| {
        let view = world.device.view();
        view.sources
            .get(&SourceId::Peers)
            .and_then(|state| state.last_success)
    };
    world.judge_at(peer(0), &[], HeadersReach::More, now(0));
    assert_eq!(success(&world), None);
    miner.mine(1);
    world.judge(peer(0), &miner.newest(1));
    assert_eq!(success(&world), Some(Duration::ZERO));
}

#[test]
fn what_an_earlier_run_has_proven_is_the_least_that_is_shown() {
    let start = || {
        let (mut world, mut miner) = begin();
        miner.mine(20);
        world.judge(peer(0), &miner.newest(20));
        let kept = world.device.chain().cloned();
        let (mut world, _) = begin();
        world.device = world.device.with_headers(kept);
        (world, miner)
    };
    let (mut world, miner) = start();
    for place in 0..2 {
        // They are behind, or say that they are.
        world.judge(peer(place), &miner.newest(20)[..15]);
        world.check(900_019, HeightState::Alone);
    }
    let proven = world.device.view().truth.proven.unwrap();
    assert_eq!((proven.height, proven.hash), (900_019, miner.tip()));
    assert_eq!(world.device.view().truth.agreeing(), 0);
    world.claim(RELAY, 900_020);
    world.check(900_020, HeightState::Claimed);
    world.claim(RELAY, 900_019);
    for place in 0..2 {
        world.judge(peer(place), &miner.newest(1));
    }
    world.check(900_019, HeightState::Proven);
    // More work takes its place.
    let (mut world, mut miner) = start();
    miner.fork(10);
    miner.mine(11);
    world.judge(peer(0), &miner.newest(11));
    world.check(900_020, HeightState::Alone);
    miner.fork(15);
    world.judge(peer(1), &miner.newest(1));
    world.check(900_020, HeightState::Alone);
}

#[test]
fn where_the_chain_is_invented_there_are_no_headers() {
    let mut world = World::on(None);
    let mut miner = Miner::new();
    miner.mine(3);
    assert_eq!(
        world.judge(peer(0), &miner.newest(3)),
        HeadersReply::default()
    );
    assert_eq!(world.device.chain(), None);
    assert_eq!(world.verdict(), (None, HeightState::Unknown));
}

#[test]
fn peers_that_answered_well_are_remembered() {
    let (mut world, _) = begin();
    let known = vec!["192.0.2.7:8333".to_string()];
    let said = Input::Observed(SourceId::Peers, vec![Observation::Peers(known.clone())]);
    assert!(world.device.handle(said.clone(), now(0)).unsaved.memory);
    assert!(!world.device.handle(said, now(0)).unsaved.memory);
    let stored = world.device.memory().to_json(now(0));
    // Also by a clock to which nobody has named any since.
    let (board, settings) = (BoardSpec::EXAMPLE, Settings::default());
    let next = Device::new(board, settings, Memory::from_json(&stored), now(0));
    assert_eq!(next.memory().peers, known);
}
