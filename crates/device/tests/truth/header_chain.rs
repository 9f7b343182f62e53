//! The stored header chain: headers from peers and a node, and the resulting height.

use std::time::Duration;

use chain::{Header, rules::HeaderRefusal};
use device::{
    board::BoardSpec,
    device::Device,
    input::Input,
    memory::Memory,
    request::Request,
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
        mined::{with_work, without_work},
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

/// A device with an anchor, and a miner of the blocks after it.
fn start() -> (World, Miner) {
    let miner = Miner::new();
    let world = World::on(Some(miner.chain(ANCHOR)));
    (world, miner)
}

impl World {
    fn submit_at(
        &mut self,
        origin: ProofOrigin,
        headers: &[Header],
        reach: HeadersReach,
        now: Now,
    ) -> HeadersReply {
        let input = Input::Headers(origin, headers.to_vec(), reach);
        self.device.handle(input, now).headers.unwrap()
    }

    pub(crate) fn submit(&mut self, origin: ProofOrigin, headers: &[Header]) -> HeadersReply {
        let now = now(self.secs);
        self.submit_at(origin, headers, HeadersReach::Newest, now)
    }

    pub(crate) fn tip(&self) -> chain::BlockHash {
        self.device.chain().unwrap().tip()
    }
}

#[test]
fn headers_prove_a_height_once_the_last_part_has_arrived() {
    let (mut world, mut miner) = start();
    world.claim(RELAY, 900_040);
    miner.mine(40);
    let headers = miner.newest(40);
    let before = now(world.secs);
    for part in headers[..30].chunks(10) {
        let reply = world.submit_at(peer(0), part, HeadersReach::More, before);
        assert!(reply.is_new && reply.is_tip);
        world.check(900_040, HeightState::Claimed);
    }
    let reply = world.submit(peer(0), &headers[30..]);
    assert_eq!(reply.height, Some(900_039));
    assert_eq!(reply.locator[0], miner.tip());
    // The anchor is unchanged.
    assert_eq!(world.device.view().truth.anchor, Some(ANCHOR));
    // The claim is one block ahead, which is allowed for two minutes.
    world.check(900_040, HeightState::Claimed);
    world.claim(RELAY, 900_039);
    world.check(900_039, HeightState::Alone);
}

#[test]
fn up_to_100_missed_blocks_are_one_event_and_more_are_none() {
    for (missed, events) in [(1, 1), (100, 1), (101, 0), (1000, 0)] {
        let (mut world, mut miner) = start();
        miner.mine_fast(20);
        world.submit(NODE, &miner.newest(20));
        let before = blocks(&world);
        miner.mine_fast(missed);
        world.submit(NODE, &miner.newest(missed as usize));
        world.check(900_019 + missed, HeightState::Proven);
        assert_eq!(blocks(&world) - before, events, "{missed}");
    }
}

#[test]
fn claims_above_or_below_the_proven_height_are_counted() {
    for (height, unproven, lower) in [
        (900_018, 0, 1),
        (900_019, 0, 0),
        // A claim may be two blocks ahead of the proof.
        (900_021, 0, 0),
        (900_022, 1, 0),
        (900_500, 1, 0),
    ] {
        let mut miner = Miner::new();
        let chain = miner.chain(ANCHOR);
        let mut world = World::with(data_source::PUBLIC_RELAY, Some(chain));
        miner.mine(20);
        world.submit(NODE, &miner.newest(20));
        world.claim(RELAY, height);
        let counted = |reason| world.dropped(RELAY, reason);
        let (high, low) = (counted("height-unproven"), counted("lower-height"));
        assert_eq!((high, low), (unproven, lower), "{height}");
    }
}

#[test]
fn two_origins_or_the_owners_node_prove_a_height() {
    let (mut world, mut miner) = start();
    miner.mine(20);
    world.submit(peer(0), &miner.newest(20));
    world.check(900_019, HeightState::Alone);
    // A peer that is one block behind neither agrees nor disputes.
    world.submit(peer(1), &miner.newest(20)[..19]);
    world.wait(1200);
    world.check(900_019, HeightState::Alone);
    world.submit(peer(1), &miner.newest(1));
    world.check(900_019, HeightState::Proven);
    let truth = world.device.view().truth.clone();
    assert_eq!((truth.proofs.len(), truth.agreeing()), (2, 2));
    assert_eq!(truth.work, Some(world.device.chain().unwrap().work()));
    miner.mine(1);
    world.submit(peer(1), &miner.newest(1));
    world.check(900_020, HeightState::Alone);
    let truth = world.device.view().truth.clone();
    assert_eq!((truth.proofs.len(), truth.agreeing()), (2, 1));
    // Repeated proofs of one peer count once.
    world.submit(peer(1), &miner.newest(1));
    world.check(900_020, HeightState::Alone);
    world.submit(NODE, &miner.newest(1));
    world.check(900_020, HeightState::Proven);
    let shown = world.device.view().market.height.clone().unwrap();
    assert_eq!(shown.source, SourceId::Node);
}

#[test]
fn an_explorer_with_the_same_block_agrees() {
    let (mut world, mut miner) = start();
    miner.mine(20);
    world.submit(peer(0), &miner.newest(20));
    world.prove(EXPLORER, 900_019, &miner.newest(8));
    world.check(900_019, HeightState::Proven);
    // Only at the height of the block.
    miner.mine(1);
    world.prove(EXPLORER, 900_030, &miner.newest(1));
    world.check(900_019, HeightState::Proven);
    assert_eq!(world.dropped(EXPLORER, "unconnected"), 1);
    world.prove(EXPLORER, 900_020, &miner.newest(1));
    world.check(900_020, HeightState::Alone);
}

#[test]
fn headers_that_do_not_link_to_the_current_chain_are_no_proof() {
    let (mut world, mut miner) = start();
    let mut other = Miner::new();
    other.fork(0);
    other.mine(9);
    miner.mine(20);
    let fresh = START + 60;
    miner.mine_at(fresh);
    world.submit(peer(0), &miner.newest(21));
    world.prove(EXPLORER, 900_021, &other.newest(8));
    world.check(900_020, HeightState::Alone);
    assert_eq!(world.dropped(EXPLORER, "unconnected"), 1);
    // The same if they arrived before the chain.
    let (mut world, _) = start();
    world.prove(EXPLORER, 900_025, &other.newest(8));
    world.check(900_025, HeightState::Alone);
    world.submit(peer(0), &miner.newest(21));
    world.check(900_020, HeightState::Alone);
    world.wait(600);
    world.check(900_020, HeightState::Disputed);
}

#[test]
fn invalid_headers_are_refused_with_the_rule_and_change_nothing() {
    let (mut world, mut miner) = start();
    miner.mine(24);
    let good = miner.newest(24);
    world.submit(peer(0), &good[..20]);
    let tip = world.tip();
    let broken = |change: fn(&mut Header)| {
        let mut header = good[20];
        change(&mut header);
        header
    };
    #[rustfmt::skip]
    let rows = [
        (without_work(good[20]), HeaderRefusal::NoWork),
        (with_work(broken(|header| { header.bits = chain::CompactTarget::from_consensus(0x2070_0000); })), HeaderRefusal::WrongBits),
        (with_work(broken(|header| header.time = START - 7200)), HeaderRefusal::TooOld),
        (with_work(broken(|header| { header.version = chain::Version::from_consensus(1) })), HeaderRefusal::OldVersion),
        (good[22], HeaderRefusal::Unconnected),
        (with_work(broken(|header| header.time = START + 7201)), HeaderRefusal::Future),
    ];
    for (header, refusal) in rows {
        let reply = world.submit(peer(1), &[header]);
        assert_eq!(reply.refused, Some(refusal));
        assert!(!reply.is_new && !reply.is_tip);
        assert_eq!(world.tip(), tip);
        world.check(900_019, HeightState::Alone);
        // An unconnected header is not an error: the sync uses it to find the fork.
        let counted = u64::from(refusal != HeaderRefusal::Unconnected);
        let source = &world.device.view().sources[&SourceId::Peers];
        let dropped = source.dropped.get(refusal.name()).copied();
        assert_eq!(dropped.unwrap_or(0), counted, "{refusal:?}");
    }
    // Valid headers before an invalid one are stored, but do not count as a proof of the sender.
    let mut headers = good[20..].to_vec();
    headers[3] = without_work(headers[3]);
    let reply = world.submit(peer(1), &headers);
    assert_eq!(reply.refused, Some(HeaderRefusal::NoWork));
    assert_eq!(reply.height, Some(900_022));
    world.check(900_019, HeightState::Alone);
}

#[test]
fn a_block_from_the_future_is_accepted_later() {
    let (mut world, mut miner) = start();
    miner.mine(12);
    world.submit(peer(0), &miner.newest(12));
    miner.mine_at(START + 7201);
    let reply = world.submit(peer(0), &miner.newest(1));
    assert_eq!(reply.refused, Some(HeaderRefusal::Future));
    // The wall clock may be wrong, so the chain may not be complete: the height is only claimed.
    world.check(900_011, HeightState::Claimed);
    world.wait(1);
    let reply = world.submit(peer(0), &miner.newest(1));
    assert_eq!(reply.refused, None);
    world.check(900_012, HeightState::Alone);
}

/// As after a power cut on a machine without a battery-backed clock.
#[test]
fn a_slow_wall_clock_does_not_prove_an_old_height() {
    let (mut world, mut miner) = start();
    for block in 0..40 {
        miner.mine_at(START - 3600 + block * 600);
    }
    world.claim(RELAY, 900_039);
    for place in 0..4 {
        let reply = world.submit(peer(place), &miner.newest(40));
        assert_eq!(reply.refused, Some(HeaderRefusal::Future));
        assert!(reply.height < Some(900_039));
    }
    world.check(900_039, HeightState::Claimed);
    // The same with blocks that were proven before.
    let (mut world, _) = start();
    for place in 0..4 {
        world.submit(peer(place), &miner.newest(40)[..4]);
    }
    world.check(900_003, HeightState::Proven);
    world.claim(RELAY, 900_039);
    world.check(900_003, HeightState::Proven);
    for place in 0..4 {
        world.submit(peer(place), &miner.newest(40)[3..]);
    }
    world.check(900_039, HeightState::Claimed);
    // With the right time the height is proven.
    let right = now(world.secs + 6 * 3600);
    for place in 0..2 {
        world.submit_at(peer(place), &miner.newest(40), HeadersReach::Newest, right);
    }
    world.check(900_039, HeightState::Proven);
}

/// A device and four peers that have proven a new block.
fn proven_by_peers() -> (World, Miner) {
    let (mut world, mut miner) = start();
    miner.mine_at(START);
    for place in 0..4 {
        world.submit(peer(place), &miner.newest(1));
    }
    world.check(900_000, HeightState::Proven);
    (world, miner)
}

#[test]
fn disabled_peers_do_not_veto_claims() {
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
    // A proof that was queued when the peers were disabled does not count.
    world.submit(peer(0), &miner.newest(1));
    world.check(900_013, HeightState::Claimed);
    world.set("proofPeerMax", json!(1));
    world.submit(peer(0), &miner.newest(1));
    world.check(900_000, HeightState::Alone);
}

#[test]
fn a_claim_that_is_accepted_late_keeps_its_age() {
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
fn proofs_of_earlier_connections_do_not_agree_with_later_ones() {
    let (mut world, mut miner) = start();
    let mut rival = miner.clone();
    rival.fork(0);
    rival.mine(9);
    miner.mine(9);
    let agreeing = |world: &World| world.device.view().truth.agreeing();
    for place in 0..3 {
        world.submit(peer(place), &miner.newest(9));
    }
    world.submit(peer(3), &rival.newest(9));
    world.check(900_008, HeightState::Proven);
    // All peers disconnect, and one reconnects.
    world.observe(SourceId::Peers, down());
    world.wait(700);
    world.observe(SourceId::Peers, Observation::Connection(Connection::Up));
    assert_eq!(agreeing(&world), 3, "no peer has sent another block");
    world.submit(peer(0), &miner.newest(1));
    world.check(900_008, HeightState::Alone);
    assert_eq!(agreeing(&world), 1);
    world.submit(peer(1), &miner.newest(1));
    world.check(900_008, HeightState::Proven);
    // The settings reduce the number of peers, or the source is restarted.
    world.set("proofPeerMax", json!(1));
    world.submit(peer(0), &miner.newest(1));
    world.check(900_008, HeightState::Alone);
    world.submit(peer(1), &miner.newest(1));
    let restart = Request::RestartSource(SourceId::Peers);
    world
        .device
        .handle(Input::Request(restart), now(world.secs()));
    world.submit(peer(0), &miner.newest(1));
    assert_eq!(agreeing(&world), 1);
}

fn down() -> Observation {
    Observation::Connection(Connection::Down {
        reason: "gone".into(),
        retry_in: Duration::from_secs(10),
    })
}

#[test]
fn old_proofs_of_disconnected_peers_yield_to_claims() {
    let (mut world, mut miner) = proven_by_peers();
    world.wait(600);
    world.observe(SourceId::Peers, down());
    world.claim(RELAY, 900_003);
    world.wait(80 * 60 - 1);
    world.claim(RELAY, 900_009);
    world.check(900_000, HeightState::Disputed);
    world.wait(1);
    world.check(900_009, HeightState::Claimed);
    // After a reconnect, proofs count again.
    miner.mine_at(START + 600);
    world.submit(peer(0), &miner.newest(1));
    world.check(900_001, HeightState::Alone);
    world.wait(120);
    world.check(900_001, HeightState::Disputed);

    // Proofs of connected peers do not expire, nor of those that reconnect in time.
    for is_back in [false, true] {
        let (mut world, _) = proven_by_peers();
        if is_back {
            world.observe(SourceId::Peers, down());
            world.wait(60);
            world.observe(SourceId::Peers, Observation::Connection(Connection::Up));
        }
        world.claim(RELAY, 900_009);
        world.wait(3 * 3600);
        world.check(900_000, HeightState::Stale);
    }

    // With proofMode 2 the last proven height stays.
    let (mut world, _) = proven_by_peers();
    world.set("proofMode", json!(2));
    world.observe(SourceId::Peers, down());
    world.claim(RELAY, 900_009);
    world.wait(3 * 3600);
    world.check(900_000, HeightState::Stale);
    world.set("proofMode", json!(1));
    world.check(900_009, HeightState::Stale);
}

#[test]
fn a_disconnected_peer_does_not_agree_or_dispute() {
    let (mut world, mut miner) = start();
    let mut rival = miner.clone();
    miner.mine(20);
    for place in 0..2 {
        world.submit(peer(place), &miner.newest(20));
    }
    let left = |world: &mut World, place| {
        world.observe(SourceId::Peers, Observation::PeerDisconnected(place))
    };
    let agreeing = |world: &World| {
        let truth = world.device.view().truth;
        (truth.peers(), truth.agreeing())
    };
    world.check(900_019, HeightState::Proven);
    left(&mut world, 1);
    world.check(900_019, HeightState::Alone);
    assert_eq!(agreeing(&world), (1, 1));
    // A new peer in its slot agrees.
    world.submit(peer(1), &miner.newest(1));
    world.check(900_019, HeightState::Proven);
    assert_eq!(agreeing(&world), (2, 2));
    // A disconnected peer does not dispute.
    rival.fork(0);
    rival.mine(20);
    world.submit(peer(2), &rival.newest(20));
    world.wait(600);
    world.check(900_019, HeightState::Disputed);
    left(&mut world, 2);
    world.check(900_019, HeightState::Proven);
    // If all peers disconnect, the last proof stays.
    left(&mut world, 1);
    world.observe(SourceId::Peers, down());
    left(&mut world, 0);
    world.check(900_019, HeightState::Proven);
    assert_eq!(world.device.view().truth.proven.unwrap().hash, miner.tip());
}

#[test]
fn a_disconnected_node_does_not_dispute() {
    let (mut world, mut miner) = start();
    let mut rival = miner.clone();
    rival.fork(0);
    miner.mine(10);
    rival.mine(10);
    world.submit(peer(0), &miner.newest(10));
    world.submit(NODE, &rival.newest(10));
    world.wait(600);
    world.check(900_009, HeightState::Disputed);
    world.observe(SourceId::Node, down());
    world.check(900_009, HeightState::Alone);
    world.observe(SourceId::Node, Observation::Connection(Connection::Up));
    world.check(900_009, HeightState::Disputed);
}

#[test]
fn without_the_time_nothing_is_proven() {
    let (mut world, mut miner) = start();
    miner.mine(12);
    let unset = |secs| Now {
        utc: None,
        ..now(secs)
    };
    for place in 0..2 {
        world.submit_at(
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
fn a_step_of_the_wall_clock_updates_the_age_at_once() {
    let (mut world, mut miner) = start();
    miner.mine_at(START);
    for place in 0..2 {
        world.submit(peer(place), &miner.newest(1));
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
fn a_long_branch_with_less_work_is_not_stored() {
    let (mut world, mut miner) = start();
    let mut liar = miner.clone();
    liar.fork(0);
    liar.mine_fast(1500);
    miner.mine_fast(1600);
    world.submit(peer(0), &miner.newest(1600));
    let before = world.device.chain().unwrap().clone();
    let reply = world.submit(peer(1), &liar.newest(1500));
    assert!(!reply.is_new);
    assert_eq!(world.device.chain(), Some(&before));
    world.wait(600);
    // It does not dispute the height either, because it is lower.
    world.check(901_599, HeightState::Alone);
}

#[test]
fn headers_beyond_the_limit_of_a_message_are_ignored() {
    let (mut world, mut miner) = start();
    miner.mine_fast(MESSAGE_HEADERS_MAX as u32 + 5);
    let reply = world.submit(peer(0), &miner.newest(MESSAGE_HEADERS_MAX + 5));
    assert_eq!(reply.height, Some(ANCHOR + MESSAGE_HEADERS_MAX as u32));
}

#[test]
fn a_stored_chain_continues_but_proves_nothing_by_itself() {
    let (mut world, mut miner) = start();
    miner.mine(12);
    world.submit(peer(0), &miner.newest(12));
    let stored = world.device.chain().cloned();
    let (mut world, _) = start();
    world.device = world.device.with_headers(stored.clone());
    assert_eq!(world.verdict(), (None, HeightState::Unknown));
    assert_eq!(world.device.chain(), stored.as_ref());
    miner.mine(1);
    world.submit(peer(0), &miner.newest(1));
    world.check(900_012, HeightState::Alone);
    // A chain of another network is ignored.
    let mut main = World::on(Some(ChainSpec::built_in(chain::network::Network::Main)));
    main.device = main.device.with_headers(stored);
    assert_eq!(main.device.chain().unwrap().headers().len(), 0);
}

#[test]
fn an_empty_submission_is_no_success_of_the_source() {
    let (mut world, mut miner) = start();
    let success = |world: &World| {
        let view = world.device.view();
        view.sources
            .get(&SourceId::Peers)
            .and_then(|state| state.last_success)
    };
    world.submit_at(peer(0), &[], HeadersReach::More, now(0));
    assert_eq!(success(&world), None);
    miner.mine(1);
    world.submit(peer(0), &miner.newest(1));
    assert_eq!(success(&world), Some(Duration::ZERO));
}

#[test]
fn the_height_of_a_stored_chain_is_the_minimum() {
    let restart = || {
        let (mut world, mut miner) = start();
        miner.mine(20);
        world.submit(peer(0), &miner.newest(20));
        let stored = world.device.chain().cloned();
        let (mut world, _) = start();
        world.device = world.device.with_headers(stored);
        (world, miner)
    };
    let (mut world, miner) = restart();
    for place in 0..2 {
        // Peers that are behind, or pretend to be.
        world.submit(peer(place), &miner.newest(20)[..15]);
        world.check(900_019, HeightState::Alone);
    }
    let proven = world.device.view().truth.proven.unwrap();
    assert_eq!((proven.height, proven.hash), (900_019, miner.tip()));
    assert_eq!(world.device.view().truth.agreeing(), 0);
    world.claim(RELAY, 900_020);
    world.check(900_020, HeightState::Claimed);
    world.claim(RELAY, 900_019);
    for place in 0..2 {
        world.submit(peer(place), &miner.newest(1));
    }
    world.check(900_019, HeightState::Proven);
    // A branch with more work replaces it.
    let (mut world, mut miner) = restart();
    miner.fork(10);
    miner.mine(11);
    world.submit(peer(0), &miner.newest(11));
    world.check(900_020, HeightState::Alone);
    miner.fork(15);
    world.submit(peer(1), &miner.newest(1));
    world.check(900_020, HeightState::Alone);
}

#[test]
fn without_a_chain_headers_are_ignored() {
    let mut world = World::on(None);
    let mut miner = Miner::new();
    miner.mine(3);
    assert_eq!(
        world.submit(peer(0), &miner.newest(3)),
        HeadersReply::default()
    );
    assert_eq!(world.device.chain(), None);
    assert_eq!(world.verdict(), (None, HeightState::Unknown));
}

#[test]
fn known_peers_are_stored() {
    let (mut world, _) = start();
    let known = vec!["192.0.2.7:8333".to_string()];
    let input = Input::Observed(SourceId::Peers, vec![Observation::Peers(known.clone())]);
    assert!(world.device.handle(input.clone(), now(0)).unsaved.memory);
    assert!(!world.device.handle(input, now(0)).unsaved.memory);
    let memory = world.device.memory().to_json(now(0));
    // They are still stored after a restart.
    let (board, settings) = (BoardSpec::EXAMPLE, Settings::default());
    let next = Device::new(board, settings, Memory::from_json(&memory), now(0));
    assert_eq!(next.memory().peers, known);
}
