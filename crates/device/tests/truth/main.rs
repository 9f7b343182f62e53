//! Which height is shown and in which state, from claims and proofs of sources.
#![allow(clippy::unwrap_used, reason = "tests")]

mod attacks;
mod fees;
mod header_chain;
mod marks;
mod miner;
mod prices;
mod screen;

use std::time::Duration;

use chain::{Header, network::Network};
use device::{
    board::BoardSpec,
    device::Device,
    input::Input,
    memory::Memory,
    settings::{Settings, data_source},
};
use market::{
    ChainSpec, Connection, HeightState, Observation, SourceState,
    now::{Now, UtcTime},
    source_id::SourceId,
};
use miner::{Miner, START};

/// A relay, which sends claims only.
const RELAY: SourceId = SourceId::Relay;

/// An explorer, which sends headers.
const EXPLORER: SourceId = SourceId::Explorer;

/// A second source of headers.
const OTHER: SourceId = SourceId::Nostr;

/// A device on regtest, in virtual time.
pub(crate) struct World {
    pub(crate) device: Device,
    pub(crate) secs: u64,
}

impl World {
    pub(crate) fn new() -> World {
        World::on(Some(ChainSpec::built_in(Network::Regtest)))
    }

    pub(crate) fn on(chain: Option<ChainSpec>) -> World {
        World::with(data_source::EXPLORER, chain)
    }

    /// A device with a data source.
    fn with(data_source: u32, chain: Option<ChainSpec>) -> World {
        let board = BoardSpec::EXAMPLE;
        let settings = Settings {
            data_source,
            ..Settings::default()
        };
        World {
            device: Device::on_chain(chain, board, settings, Memory::default(), now(0)),
            secs: 0,
        }
    }

    /// Advances the time, with a tick at each deadline only.
    pub(crate) fn wait(&mut self, secs: u64) {
        let end = Duration::from_secs(self.secs + secs);
        let mut at = now(self.secs);
        while let Some(due) = self.device.next_deadline(at).filter(|due| *due <= end) {
            let later = (due - at.uptime).as_millis() as i64;
            let utc = at
                .utc
                .and_then(|utc| UtcTime::plausible(utc.unix_ms + later));
            at = Now { uptime: due, utc };
            self.device.handle(Input::Tick, at);
        }
        self.secs += secs;
    }

    /// Seconds since the start.
    pub(crate) fn secs(&self) -> u64 {
        self.secs
    }

    pub(crate) fn observe(&mut self, source: SourceId, observation: Observation) {
        let input = Input::Observed(source, vec![observation]);
        self.device.handle(input, now(self.secs));
    }

    pub(crate) fn claim(&mut self, source: SourceId, height: u32) {
        self.observe(source, Observation::Block(height));
    }

    pub(crate) fn prove(&mut self, source: SourceId, height: u32, headers: &[Header]) {
        let headers = headers.to_vec();
        self.observe(source, Observation::Headers { height, headers });
    }

    pub(crate) fn verdict(&self) -> (Option<u32>, HeightState) {
        let view = self.device.view();
        let height = view.market.height.as_ref().map(|height| height.value);
        (height, view.truth.height)
    }

    pub(crate) fn check(&self, height: u32, state: HeightState) {
        assert_eq!(
            self.verdict(),
            (Some(height), state),
            "after {} s",
            self.secs
        );
    }

    pub(crate) fn dropped(&self, source: SourceId, reason: &str) -> u64 {
        let view = self.device.view();
        let dropped = |state: &SourceState| state.dropped.get(reason).copied();
        view.sources.get(&source).and_then(dropped).unwrap_or(0)
    }
}

pub(crate) fn now(secs: u64) -> Now {
    Now {
        uptime: Duration::from_secs(secs),
        utc: UtcTime::plausible((i64::from(START) + secs as i64) * 1000),
    }
}

#[test]
fn a_single_claim_is_shown_until_it_is_stale() {
    let mut world = World::new();
    assert_eq!(world.verdict(), (None, HeightState::Unknown));
    world.claim(RELAY, 900_000);
    world.check(900_000, HeightState::Claimed);
    world.wait(600);
    world.claim(RELAY, 900_001);
    world.check(900_001, HeightState::Claimed);
    world.wait(89 * 60);
    world.check(900_001, HeightState::Claimed);
    world.wait(60);
    world.check(900_001, HeightState::Stale);
    world.claim(RELAY, 900_002);
    world.check(900_002, HeightState::Claimed);
}

#[test]
fn a_refused_claim_disputes_the_height_after_two_minutes() {
    for claimed in [900_500, 899_999, 4_000_000_000, 0] {
        let mut world = World::new();
        world.claim(RELAY, 900_000);
        world.wait(10);
        world.claim(RELAY, claimed);
        world.wait(119);
        world.check(900_000, HeightState::Claimed);
        world.wait(1);
        world.check(900_000, HeightState::Disputed);
        world.claim(RELAY, 900_001);
        world.check(900_001, HeightState::Claimed);
    }
}

#[test]
fn different_claims_are_disputed_until_one_source_disconnects() {
    let mut world = World::new();
    world.claim(RELAY, 900_001);
    world.claim(OTHER, 900_000);
    world.wait(120);
    world.check(900_001, HeightState::Disputed);
    let down = Connection::Down {
        reason: "gone".into(),
        retry_in: Duration::from_secs(5),
    };
    world.observe(OTHER, Observation::Connection(down));
    world.check(900_001, HeightState::Claimed);
}

#[test]
fn headers_prove_work_and_linked_headers_prove_heights() {
    let mut world = World::new();
    let mut miner = Miner::new();
    miner.mine(8);
    world.prove(EXPLORER, 900_000, &miner.newest(8));
    world.claim(EXPLORER, 900_000);
    world.check(900_000, HeightState::Alone);
    for height in 900_001..900_020 {
        world.wait(1);
        miner.mine(1);
        world.prove(EXPLORER, height, &miner.newest(1));
        world.check(height, HeightState::Alone);
    }
    let tip = world.device.view().truth.proven.unwrap();
    assert_eq!((tip.height, tip.hash), (900_019, miner.tip()));
    // As a claim, this height would be ahead of what time allows.
    miner.mine(60);
    world.prove(EXPLORER, 900_079, &miner.newest(60));
    miner.mine(60);
    world.prove(EXPLORER, 900_139, &miner.newest(60));
    world.check(900_139, HeightState::Alone);
}

#[test]
fn invalid_headers_are_no_proof() {
    let mut miner = Miner::new();
    miner.mine(4);
    let good = miner.newest(4);
    let broken = |change: fn(&mut Vec<Header>)| {
        let mut headers = good.clone();
        change(&mut headers);
        headers
    };
    #[rustfmt::skip]
    let rows = [
        (broken(|headers| headers[3] = miner::mined::without_work(headers[3])), "no-work"),
        (broken(|headers| headers[3].bits = chain::CompactTarget::from_consensus(0)), "wrong-bits"),
        (broken(|headers| headers.swap(1, 2)), "unconnected"),
        (broken(|headers| { headers.remove(2); }), "unconnected"),
    ];
    for (headers, reason) in rows {
        let mut world = World::new();
        world.prove(EXPLORER, 900_000, &headers);
        world.claim(EXPLORER, 900_000);
        world.check(900_000, HeightState::Claimed);
        assert_eq!(world.dropped(EXPLORER, reason), 1, "{reason}");
    }
}

#[test]
fn a_claim_may_be_two_blocks_ahead_of_a_proof_for_two_minutes() {
    let start = || {
        let mut world = World::new();
        let mut miner = Miner::new();
        miner.mine(4);
        world.prove(EXPLORER, 900_000, &miner.newest(4));
        (world, miner)
    };
    for (claimed, shown) in [
        (900_001, 900_001),
        (900_002, 900_002),
        (900_003, 900_000),
        (900_090, 900_000),
    ] {
        let (mut world, mut miner) = start();
        world.wait(30);
        world.claim(RELAY, claimed);
        let state = if shown == claimed { HeightState::Claimed } else { HeightState::Alone };
        world.check(shown, state);
        world.wait(120);
        world.check(900_000, HeightState::Disputed);
        // The proof is late.
        miner.mine(claimed - 900_000);
        let count = (claimed - 900_000) as usize;
        world.prove(EXPLORER, claimed, &miner.newest(count.min(64)));
        if count <= 64 {
            world.check(claimed, HeightState::Alone);
        }
    }
    // The proof is in time.
    let (mut world, mut miner) = start();
    world.claim(RELAY, 900_001);
    world.wait(20);
    miner.mine(1);
    world.prove(EXPLORER, 900_001, &miner.newest(1));
    world.wait(600);
    world.check(900_001, HeightState::Alone);
    // A proof that stays behind gives the claim no more time.
    let (mut world, mut miner) = start();
    world.claim(RELAY, 900_002);
    world.wait(100);
    miner.mine(1);
    world.prove(EXPLORER, 900_001, &miner.newest(1));
    world.check(900_002, HeightState::Claimed);
    world.wait(20);
    world.check(900_001, HeightState::Disputed);
}

#[test]
fn a_claim_that_alternates_does_not_restart_the_two_minutes() {
    for secs in [1, 3, 50, 110] {
        let mut world = World::new();
        let mut miner = Miner::new();
        miner.mine(4);
        world.prove(EXPLORER, 900_000, &miner.newest(4));
        world.wait(30);
        let end = world.secs + 120;
        while world.secs < end {
            world.claim(RELAY, 900_002);
            world.wait(secs.min(end - world.secs));
            world.claim(RELAY, 900_000);
            world.wait(1);
        }
        for _ in 0..20 {
            world.claim(RELAY, 900_002);
            assert_eq!(world.verdict().0, Some(900_000), "{secs}");
            world.wait(secs);
            world.claim(RELAY, 900_000);
            world.wait(1);
        }
        // After the next block, a claim may be ahead again.
        miner.mine(1);
        world.prove(EXPLORER, 900_001, &miner.newest(1));
        world.claim(RELAY, 900_002);
        assert_eq!(world.verdict().0, Some(900_002), "{secs}");
    }
}

#[test]
fn the_rules_for_claims_do_not_apply_to_proofs() {
    let mut world = World::new();
    let mut miner = Miner::new();
    // A false claim is believed if there is no other source.
    world.claim(RELAY, 900_090);
    miner.mine(8);
    world.prove(EXPLORER, 900_000, &miner.newest(8));
    world.check(900_090, HeightState::Claimed);
    assert_eq!(world.dropped(EXPLORER, "lower-height"), 1);
    // The height of headers without a known parent may be false; the rules for claims apply to it.
    for height in [900_001, 900_002] {
        miner.mine(1);
        world.wait(1);
        world.prove(EXPLORER, height, &miner.newest(8));
    }
    world.check(900_002, HeightState::Alone);
    // From now on only work counts.
    world.claim(RELAY, 900_091);
    for height in 900_003..900_010 {
        miner.mine(1);
        world.prove(EXPLORER, height, &miner.newest(1));
        world.check(height, HeightState::Alone);
    }
}

#[test]
fn a_header_cannot_prove_another_height() {
    let mut world = World::new();
    let mut miner = Miner::new();
    miner.mine(8);
    world.prove(EXPLORER, 900_000, &miner.newest(8));
    for height in [900_001, 900_007, 899_993] {
        world.prove(EXPLORER, height, &miner.newest(8));
        world.prove(EXPLORER, height, &miner.newest(1));
        world.check(900_000, HeightState::Alone);
    }
    miner.mine(1);
    world.prove(EXPLORER, 900_050, &miner.newest(1));
    assert_eq!(world.verdict().0, Some(900_000));
    world.prove(EXPLORER, 900_001, &miner.newest(1));
    world.check(900_001, HeightState::Alone);
}

#[test]
fn two_sources_prove_a_common_block_and_dispute_different_blocks() {
    let mut world = World::new();
    let mut miner = Miner::new();
    miner.mine(8);
    world.prove(EXPLORER, 900_000, &miner.newest(8));
    world.check(900_000, HeightState::Alone);
    world.prove(OTHER, 900_000, &miner.newest(8));
    world.check(900_000, HeightState::Proven);
    let before = miner.clone();
    miner.mine(1);
    let mut rival = before;
    rival.fork(0);
    rival.mine(1);
    world.wait(60);
    world.prove(EXPLORER, 900_001, &miner.newest(1));
    world.wait(1);
    world.prove(OTHER, 900_001, &rival.newest(1));
    world.check(900_001, HeightState::Alone);
    world.wait(600);
    world.check(900_001, HeightState::Disputed);
    assert_eq!(world.device.view().truth.proven.unwrap().hash, miner.tip());
}

/// A block is shown once, whether its claim or its proof arrives first.
#[test]
fn a_block_is_reported_once() {
    let settings = Settings {
        steal_focus: true,
        ..Settings::default()
    };
    let (chain, memory) = (ChainSpec::built_in(Network::Regtest), Memory::default());
    let mut device = Device::on_chain(Some(chain), BoardSpec::EXAMPLE, settings, memory, now(0));
    let mut miner = Miner::new();
    miner.mine(4);
    let headers = |height: u32, miner: &Miner| Observation::Headers {
        height,
        headers: miner.newest(4),
    };
    device.handle(
        Input::Observed(EXPLORER, vec![headers(900_000, &miner)]),
        now(0),
    );
    let away = |device: &mut Device, secs| {
        let next = device::request::Request::Next;
        device.handle(Input::Request(next), now(secs));
        assert_ne!(device.view().current_screen, 0);
    };
    for (at, proof_first) in [(1, true), (2, false)] {
        miner.mine(1);
        let height = 900_000 + at;
        let mut observations = vec![headers(height, &miner), Observation::Block(height)];
        if !proof_first {
            observations.reverse();
        }
        away(&mut device, 10 * u64::from(at));
        device.handle(
            Input::Observed(EXPLORER, vec![observations.remove(0)]),
            now(10 * u64::from(at) + 1),
        );
        assert_eq!(device.view().current_screen, 0);
        away(&mut device, 10 * u64::from(at) + 2);
        let screen = device.view().current_screen;
        device.handle(
            Input::Observed(EXPLORER, observations),
            now(10 * u64::from(at) + 3),
        );
        assert_eq!(device.view().current_screen, screen);
    }
}
