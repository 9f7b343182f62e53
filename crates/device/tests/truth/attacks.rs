//! Attacks and faults of sources, and what the panels show then.

use device::{input::Input, settings::data_source};
use market::{
    ChainSpec, Connection, HeightState, Observation, PriceState, TimeState,
    limits::{STALE_PRICE, TIP_AGE_MAX},
    mark::Mark,
    now::{Now, UtcTime},
};

use crate::{
    RELAY, World,
    header_chain::peer,
    marks::blocks,
    miner::{Miner, START},
    now,
    prices::{BITSTAMP, COINBASE},
};

/// Proven height at the start of each attack.
const TIP: u32 = 900_019;

/// A device with default settings, and a chain of 20 blocks that two peers have proven and the relay claims.
fn proven() -> (World, Miner) {
    let mut miner = Miner::new();
    let chain = miner.chain(TIP - 20);
    let mut world = World::with(data_source::PUBLIC_RELAY, Some(chain));
    miner.mine(20);
    // The newest block is a few seconds old.
    let (mut miner, newest) = (miner, START - 10);
    miner.fork(1);
    miner.mine_at(newest);
    for place in 0..2 {
        world.submit(peer(place), &miner.newest(20));
    }
    world.claim(RELAY, TIP);
    world.check(TIP, HeightState::Proven);
    assert_eq!(world.mark(), None);
    (world, miner)
}

impl World {
    /// Mines a block that the relay claims and two peers prove.
    fn block(&mut self, miner: &mut Miner, height: u32) {
        miner.mine_at(START + self.secs() as u32);
        self.claim(RELAY, height);
        for place in 0..2 {
            self.submit(peer(place), &miner.newest(1));
        }
    }
}

#[test]
fn stale_tip_all_peers_withhold() {
    let (mut world, _) = proven();
    let withheld = TIP_AGE_MAX.as_secs() - 10;
    world.wait(withheld - 1);
    assert_eq!(world.mark(), None);
    world.wait(1);
    world.check(TIP, HeightState::Stale);
    assert_eq!(world.mark(), Some(Mark::Stale));

    // A relay that continues reveals it.
    let (mut world, _) = proven();
    world.wait(600);
    world.claim(RELAY, TIP + 1);
    world.check(TIP + 1, HeightState::Claimed);
    world.wait(119);
    assert_eq!(world.mark(), None);
    world.wait(1);
    world.check(TIP, HeightState::Disputed);
    assert_eq!(world.mark(), Some(Mark::Disputed));
}

#[test]
fn height_jump() {
    for claimed in [TIP + 500, 4_000_000_000, 0] {
        let (mut world, mut miner) = proven();
        let before = blocks(&world);
        world.claim(RELAY, claimed);
        world.check(TIP, HeightState::Proven);
        let claims = world.device.view().truth.claims;
        assert!(
            claims
                .iter()
                .any(|claim| (claim.source, claim.height) == (RELAY, claimed))
        );
        world.wait(120);
        world.check(TIP, HeightState::Disputed);
        assert_eq!(world.mark(), Some(Mark::Disputed));
        assert_eq!(blocks(&world), before, "no flash for {claimed}");
        // After the next real block everything is normal.
        world.block(&mut miner, TIP + 1);
        world.check(TIP + 1, HeightState::Proven);
        assert_eq!((world.mark(), blocks(&world)), (None, before + 1));
    }
}

#[test]
fn reorganisation_one_to_six_deep() {
    for depth in 1..=6 {
        let (mut world, mut miner) = proven();
        let before = blocks(&world);
        miner.fork(depth);
        for second in 0..=depth {
            miner.mine_at(START + second);
        }
        for place in 0..2 {
            world.submit(peer(place), &miner.newest(depth as usize + 1));
        }
        world.claim(RELAY, TIP + 1);
        assert_eq!(world.tip(), miner.tip());
        world.check(TIP + 1, HeightState::Proven);
        assert_eq!(blocks(&world), before + 1, "one flash");
        let reorganised = world.device.view().truth.reorganisations;
        assert_eq!((reorganised.count, reorganised.last_depth), (1, depth));
        assert_eq!(world.mark(), None);
    }
}

#[test]
fn reorganisation_of_two_with_equal_work() {
    let (mut world, mut miner) = proven();
    let (first, before) = (world.tip(), blocks(&world));
    miner.fork(2);
    miner.mine_at(START);
    miner.mine_at(START + 1);
    world.submit(peer(2), &miner.newest(2));
    assert_eq!(world.tip(), first);
    world.check(TIP, HeightState::Proven);
    assert_eq!((world.mark(), blocks(&world)), (None, before));
    assert_eq!(world.device.view().truth.reorganisations.count, 0);
}

#[test]
fn relay_below_or_above_the_truth_by_one() {
    for claimed in [TIP + 1, TIP - 1] {
        let (mut world, _) = proven();
        world.wait(60);
        world.claim(RELAY, claimed);
        world.wait(119);
        assert_ne!(world.verdict().1, HeightState::Disputed);
        assert_eq!(world.mark(), None);
        world.wait(1);
        world.check(TIP, HeightState::Disputed);
        assert_eq!(world.mark(), Some(Mark::Disputed));
    }
}

#[test]
fn two_of_three_collude_within_the_band() {
    let (mut world, _) = proven();
    world.agree_on(64_000);
    world.wait(5);
    // As documented: a lying majority is shown after five minutes, with a mark.
    world.trade(COINBASE, 70_000, 0);
    world.trade(BITSTAMP, 70_500, 0);
    assert_eq!(world.shown(), (64_000, RELAY, PriceState::Disputed));
    world.wait(200);
    world.price(64_001);
    world.trade(COINBASE, 70_000, 0);
    world.trade(BITSTAMP, 70_500, 0);
    world.wait(100);
    assert_eq!(world.shown(), (70_000, COINBASE, PriceState::Disputed));
    assert_eq!(world.price_mark(), Some(Mark::Disputed));
}

#[test]
fn all_sources_down_except_one_and_then_all() {
    let (mut world, _) = proven();
    world.agree_on(64_000);
    for venue in [COINBASE, BITSTAMP] {
        let down = Connection::Down {
            reason: "gone".into(),
            retry_in: std::time::Duration::from_secs(60),
        };
        world.observe(venue, Observation::Connection(down));
    }
    assert_eq!(world.shown(), (64_000, RELAY, PriceState::Single));
    world.wait(STALE_PRICE.as_secs());
    assert_eq!(world.shown().2, PriceState::Stale);
    world.wait(1);
    assert_eq!(world.price_mark(), Some(Mark::Stale));
    assert_eq!(world.shown().0, 64_000);
}

#[test]
fn time_server_one_day_off_back_and_forward() {
    let (mut world, miner) = proven();
    let truth = world.device.view().truth.time;
    assert_eq!(truth.state, TimeState::Host);
    let newest = miner.newest(11);
    let mut times: Vec<u32> = newest.iter().map(|header| header.time).collect();
    times.sort_unstable();
    assert_eq!(truth.earliest, Some(times[5]), "the median of eleven");
    world
        .device
        .handle(Input::TimeServer(Connection::Up), now(0));
    assert_eq!(world.device.view().truth.time.state, TimeState::Bounded);
    // Back: the chain refuses the time, and the panels are unchanged.
    world.device.handle(Input::TimeServerRejected, now(1));
    assert_eq!(world.device.view().truth.time.state, TimeState::Refused);
    world
        .device
        .handle(Input::TimeServer(Connection::Up), now(2));
    let yesterday = Now {
        utc: UtcTime::plausible((i64::from(START) - 86_400) * 1000),
        ..now(3)
    };
    world.device.handle(Input::Tick, yesterday);
    assert_eq!(world.device.view().truth.time.state, TimeState::Refused);
    world.device.handle(Input::Tick, now(4));
    assert_eq!(world.device.view().truth.time.state, TimeState::Bounded);
    // A deadline ends the state without any input.
    let late = |secs: u64| Now {
        utc: UtcTime::plausible((i64::from(times[5]) - 600) * 1000 + secs as i64 * 1000),
        ..now(10 + secs)
    };
    world.device.handle(Input::Tick, late(0));
    let mut secs = 0;
    while world.device.view().truth.time.state == TimeState::Refused {
        assert!(secs < 600, "the device has no deadline");
        let due = world.device.next_deadline(late(secs)).unwrap();
        secs = due.as_millis().div_ceil(1000) as u64 - 10;
        world.device.handle(Input::Tick, late(secs));
    }
    assert_eq!(secs, 600);
    world.device.handle(Input::Tick, now(4));
    // Forward: the time task queries a second server. The height becomes stale but does not change.
    let tomorrow = Now {
        utc: UtcTime::plausible((i64::from(START) + 86_400) * 1000),
        ..now(5)
    };
    world.device.handle(Input::Tick, tomorrow);
    world.device.handle(
        Input::Observed(RELAY, vec![Observation::Block(TIP)]),
        tomorrow,
    );
    world.check(TIP, HeightState::Stale);
    // Without a chain the time server is believed.
    let chain = ChainSpec::built_in(chain::network::Network::Main);
    let mut bare = World::on(Some(chain));
    bare.device
        .handle(Input::TimeServer(Connection::Up), now(0));
    assert_eq!(bare.device.view().truth.time.state, TimeState::Server);
}
