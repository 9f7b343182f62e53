//! Which height is shown, and how good it is said to be: voices in, verdict out.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod attacks;
mod fees;
mod kept;
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

/// The relay, which only ever claims.
const RELAY: SourceId = SourceId::Relay;

/// The explorer, which proves.
const EXPLORER: SourceId = SourceId::Explorer;

/// A second one that proves.
const OTHER: SourceId = SourceId::Nostr;

/// A clock on a network of one's own, and what time it is there.
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

    /// A clock that asks these sources.
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

    /// Lets time pass, with a tick at each deadline and nowhere else.
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

    pub(crate) fn hear(&mut self, source: SourceId, observation: Observation) {
        let input = Input::Observed(source, vec![observation]);
        self.device.handle(input, now(self.secs));
    }

    pub(crate) fn claim(&mut self, source: SourceId, height: u32) {
        self.hear(source, Observation::Block(height));
    }

    pub(crate) fn prove(&mut self, source: SourceId, height: u32, headers: &[Header]) {
        let headers = headers.to_vec();
        self.hear(source, Observation::Headers { height, headers });
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
fn a_lone_claim_is_shown_as_one_until_it_is_old() {
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
fn a_claim_that_is_not_believed_is_disputed_after_two_minutes() {
    for said in [900_500, 899_999, 4_000_000_000, 0] {
        let mut world = World::new();
        world.claim(RELAY, 900_000);
        world.wait(10);
        world.claim(RELAY, said);
        world.wait(119);
        world.check(900_000, HeightState::Claimed);
        world.wait(1);
        world.check(900_000, HeightState::Disputed);
        world.claim(RELAY, 900_001);
        world.check(900_001, HeightState::Claimed);
    }
}

#[test]
fn two_claims_that_disagree_are_disputed_and_a_voice_that_is_gone_is_not_heard() {
    let mut world = World::new();
    world.claim(RELAY, 900_001);
    world.claim(OTHER, 900_000);
    world.wait(120);
    world.check(900_001, HeightState::Disputed);
    let down = Connection::Down {
        reason: "gone".into(),
        retry_in: Duration::from_secs(5),
    };
    world.hear(OTHER, Observation::Connection(down));
    world.check(900_001, HeightState::Claimed);
}

#[test]
fn headers_prove_their_work_and_what_links_to_them_its_height() {
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
    // More than time allows, had it only been said.
    miner.mine(60);
    world.prove(EXPLORER, 900_079, &miner.newest(60));
    miner.mine(60);
    world.prove(EXPLORER, 900_139, &miner.newest(60));
    world.check(900_139, HeightState::Alone);
}

#[test]
fn what_breaks_a_rule_is_no_proof() {
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
        (broken(|headers| headers[3] = miner::mined::unworked(headers[3])), "no-work"),
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
fn a_claim_leads_a_proof_by_two_blocks_and_two_minutes() {
    let start = || {
        let mut world = World::new();
        let mut miner = Miner::new();
        miner.mine(4);
        world.prove(EXPLORER, 900_000, &miner.newest(4));
        (world, miner)
    };
    for (said, shown) in [
        (900_001, 900_001),
        (900_002, 900_002),
        (900_003, 900_000),
        (900_090, 900_000),
    ] {
        let (mut world, mut miner) = start();
        world.wait(30);
        world.claim(RELAY, said);
        let state = if shown == said {
            HeightState::Claimed
        } else {
            HeightState::Alone
        };
        world.check(shown, state);
        world.wait(120);
        world.check(900_000, HeightState::Disputed);
        // Its proof comes late.
        miner.mine(said - 900_000);
        let count = (said - 900_000) as usize;
        world.prove(EXPLORER, said, &miner.newest(count.min(64)));
        if count <= 64 {
            world.check(said, HeightState::Alone);
        }
    }
    // The proof follows in time.
    let (mut world, mut miner) = start();
    world.claim(RELAY, 900_001);
    world.wait(20);
    miner.mine(1);
    world.prove(EXPLORER, 900_001, &miner.newest(1));
    world.wait(600);
    world.check(900_001, HeightState::Alone);
}

#[test]
fn a_claim_that_falls_back_in_between_leads_no_longer_for_that() {
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
        // The next block may be told of before its proof again.
        miner.mine(1);
        world.prove(EXPLORER, 900_001, &miner.newest(1));
        world.claim(RELAY, 900_002);
        assert_eq!(world.verdict().0, Some(900_002), "{secs}");
    }
}

#[test]
fn the_rules_for_claims_veto_no_proof() {
    let mut world = World::new();
    let mut miner = Miner::new();
    // A lie is believed, for nobody knows better.
    world.claim(RELAY, 900_090);
    miner.mine(8);
    world.prove(EXPLORER, 900_000, &miner.newest(8));
    world.check(900_090, HeightState::Claimed);
    assert_eq!(world.dropped(EXPLORER, "lower-height"), 1);
    // Loose headers are at a height that may be false; they are believed as claims are.
    for height in [900_001, 900_002] {
        miner.mine(1);
        world.wait(1);
        world.prove(EXPLORER, height, &miner.newest(8));
    }
    world.check(900_002, HeightState::Alone);
    // From now on nothing but work counts.
    world.claim(RELAY, 900_091);
    for height in 900_003..900_010 {
        miner.mine(1);
        world.prove(EXPLORER, height, &miner.newest(1));
        world.check(height, HeightState::Alone);
    }
}

#[test]
fn a_header_names_no_height_but_its_own() {
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
fn two_sources_with_one_block_prove_it_and_with_two_blocks_dispute_it() {
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

/// A block flashes the lights and takes the glass once, whichever of its words comes first.
#[test]
fn a_block_is_news_once() {
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
        device.handle(Input::Asked(next), now(secs));
        assert_ne!(device.view().current_screen, 0);
    };
    for (at, proof_first) in [(1, true), (2, false)] {
        miner.mine(1);
        let height = 900_000 + at;
        let mut words = vec![headers(height, &miner), Observation::Block(height)];
        if !proof_first {
            words.reverse();
        }
        away(&mut device, 10 * u64::from(at));
        device.handle(
            Input::Observed(EXPLORER, vec![words.remove(0)]),
            now(10 * u64::from(at) + 1),
        );
        assert_eq!(device.view().current_screen, 0);
        away(&mut device, 10 * u64::from(at) + 2);
        let screen = device.view().current_screen;
        device.handle(
            Input::Observed(EXPLORER, words),
            now(10 * u64::from(at) + 3),
        );
        assert_eq!(device.view().current_screen, screen);
    }
}
