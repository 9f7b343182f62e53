//! What another clock shares: it is as old as it was there, it is the word of whoever said so there, and it is no second
//! witness.

use std::time::Duration;

use device::{
    board::BoardSpec,
    cells::Mark,
    device::Device,
    input::{Input, LinkEvent},
    market::{
        ChainSpec, Connection, HeightState, Market, Missing, Observation, PriceState, Shared,
        SharedValue, Standing, Upstream, sources::SourcePlan,
    },
    memory::Memory,
    secret::Endpoint,
    settings::{Settings, Settled, data_source},
    sources::{SourceConfig, SourceId},
    units::{Currency, FeeRate, Price},
};

use serde_json::json;

use crate::{EXPLORER, RELAY, World, miner::Miner, now};

/// Takes it beside the source.
const BESIDE: u32 = 1;

/// Takes it instead of the source.
const INSTEAD: u32 = 2;

fn world(mqtt_market: u32) -> World {
    let settings = Settings {
        data_source: data_source::PUBLIC_RELAY,
        mqtt_enabled: true,
        mqtt_host: Endpoint::new("broker"),
        mqtt_market,
        ..Settings::default()
    };
    let chain = Some(ChainSpec::built_in(chain::network::Network::Regtest));
    let (board, memory) = (BoardSpec::EXAMPLE, Memory::default());
    let mut device = Device::on_chain(chain, board, settings, memory, now(0));
    device.handle(Input::Linked(LinkEvent::Unmanaged), now(0));
    World { device, secs: 0 }
}

impl World {
    fn share(&mut self, origin: SourceId, age_secs: u64, value: SharedValue) {
        let shared = Shared {
            origin,
            age: Duration::from_secs(age_secs),
            value,
        };
        self.hear(SourceId::Shared, Observation::Shared(shared));
    }

    fn dollars(&self) -> Option<(u64, SourceId, u64)> {
        let market = self.device.view().market;
        let price = market.prices.get(&Currency::USD)?;
        let age = price.age(now(self.secs)).unwrap();
        Some((price.value.rounded(), price.source, age.as_secs()))
    }

    fn source_of_height(&self) -> Option<SourceId> {
        let market = self.device.view().market;
        market.height.as_ref().map(|height| height.source)
    }

    fn plan(&self, source: SourceId) -> Option<SourcePlan> {
        self.device.desired().sources.get(&source).cloned()
    }
}

fn usd(dollars: u64) -> SharedValue {
    let price = Price::parse(&dollars.to_string()).unwrap();
    SharedValue::Price(Currency::USD, price)
}

#[test]
fn the_owner_chooses_whether_it_stands_beside_the_source_or_in_its_place() {
    for (mqtt_market, asks_relay, takes) in [
        (0, true, false),
        (BESIDE, true, true),
        (INSTEAD, false, true),
    ] {
        let world = world(mqtt_market);
        assert_eq!(world.plan(RELAY).is_some(), asks_relay, "{mqtt_market}");
        let shared = world.plan(SourceId::Shared);
        assert_eq!(shared.is_some(), takes, "{mqtt_market}");
        let is_instead = |plan: &SourcePlan| match plan.config {
            SourceConfig::Shared { stands_in, .. } => stands_in,
            SourceConfig::Relay { .. }
            | SourceConfig::Explorer { .. }
            | SourceConfig::Exchange { .. }
            | SourceConfig::Witness { .. }
            | SourceConfig::Nostr { .. }
            | SourceConfig::Zaps { .. }
            | SourceConfig::Wallet { .. }
            | SourceConfig::Pool { .. }
            | SourceConfig::Miner { .. }
            | SourceConfig::Node(_)
            | SourceConfig::Peers { .. } => panic!("{:?}", plan.config),
        };
        let stands_in = shared.as_ref().map(is_instead);
        assert_eq!(stands_in, takes.then_some(!asks_relay));
    }
}

#[test]
fn a_price_is_as_old_as_it_was_where_it_was_learned_and_is_marked_when_it_is_old() {
    let mut world = world(INSTEAD);
    // Older than the clock itself.
    world.share(RELAY, 600, usd(60_000));
    assert_eq!(world.dollars(), Some((60_000, SourceId::Shared, 600)));
    world.wait(30);
    assert_eq!(world.dollars(), Some((60_000, SourceId::Shared, 630)));
    world.share(RELAY, 20, usd(61_000));
    assert_eq!(world.dollars(), Some((61_000, SourceId::Shared, 20)));
    // What is older than what is known changes nothing, also where another clock shares it that was told it elsewhere.
    for (origin, age) in [(RELAY, 300), (RELAY, 299), (EXPLORER, 299), (EXPLORER, 21)] {
        world.share(origin, age, usd(59_000));
        assert_eq!(
            world.dollars(),
            Some((61_000, SourceId::Shared, 20)),
            "{age}"
        );
    }
    world.share(EXPLORER, 20, usd(61_001));
    assert_eq!(world.dollars(), Some((61_001, SourceId::Shared, 20)));

    let show = device::request::Request::ShowScreen(20);
    world.device.handle(Input::Asked(show), now(world.secs));
    let mark = |world: &World| world.device.desired().picture.mark;
    assert_eq!(mark(&world), None);
    world.wait(15 * 60 - 20);
    assert_eq!(mark(&world), None);
    world.wait(1);
    assert_eq!(
        mark(&world),
        Some(Mark::Stale),
        "a quarter of an hour after it was learned"
    );
}

#[test]
fn what_the_clock_knows_itself_is_newer_than_what_is_passed_on() {
    let mut world = world(BESIDE);
    world.wait(100);
    let own = Price::parse("60000").unwrap();
    world.hear(RELAY, Observation::Price(Currency::USD, own));
    world.share(RELAY, 2, usd(59_990));
    assert_eq!(world.dollars(), Some((60_000, RELAY, 0)));
    // Until its own source is silent.
    world.wait(301);
    world.share(RELAY, 2, usd(60_100));
    assert_eq!(world.dollars(), Some((60_100, SourceId::Shared, 2)));
    let fee = FeeRate::parse("2").unwrap();
    world.share(EXPLORER, 5, SharedValue::Fee(fee));
    let market = world.device.view().market;
    assert_eq!(market.fee.as_ref().map(|fee| fee.datum.value), Some(fee));
}

#[test]
fn who_takes_another_clocks_market_instead_sees_its_prices_at_once() {
    for origin in [RELAY, EXPLORER] {
        let mut world = world(BESIDE);
        let own = Price::parse("60000").unwrap();
        world.hear(RELAY, Observation::Price(Currency::USD, own));
        world.wait(10);
        world.share(origin, 1, usd(60_100));
        assert_eq!(world.dollars(), Some((60_000, RELAY, 10)), "{origin:?}");
        world.set("mqttMarket", json!(INSTEAD));
        // What the relay said last stands in nobody's way.
        for dollars in [60_200, 60_300] {
            world.wait(1);
            world.share(origin, 0, usd(dollars));
            let shown = Some((dollars, SourceId::Shared, 0));
            assert_eq!(world.dollars(), shown, "{origin:?}");
            let truth = world.device.view().truth;
            assert_eq!(truth.prices[&Currency::USD].state, PriceState::Single);
        }
    }
}

#[test]
fn a_height_is_a_claim_and_old_once_its_origin_is() {
    let mut world = world(INSTEAD);
    world.share(RELAY, 3600, SharedValue::Height(900_000));
    world.check(900_000, HeightState::Claimed);
    assert_eq!(world.source_of_height(), Some(SourceId::Shared));
    world.wait(30 * 60);
    world.check(900_000, HeightState::Claimed);
    world.wait(1);
    world.check(900_000, HeightState::Stale);
    world.share(RELAY, 10, SharedValue::Height(900_001));
    world.check(900_001, HeightState::Claimed);
}

#[test]
fn the_same_word_twice_is_one_witness() {
    // A height ahead of what time allows needs a second voice.
    let ahead = 905_000;
    for (origin, is_believed) in [(RELAY, false), (SourceId::Node, true)] {
        let mut world = world(BESIDE);
        world.claim(RELAY, 900_000);
        world.wait(10);
        world.claim(RELAY, ahead);
        world.share(origin, 1, SharedValue::Height(ahead));
        let height = world.verdict().0;
        assert_eq!(height == Some(ahead), is_believed, "{origin:?}: {height:?}");
    }
}

#[test]
fn who_speaks_here_itself_is_not_heard_second_hand() {
    let mut world = world(BESIDE);
    world.claim(RELAY, 900_001);
    let contested = |world: &mut World, origin| {
        world.share(origin, 1, SharedValue::Height(900_000));
        world.wait(200);
        world.verdict().1
    };
    // The relay that another clock asks is the relay, only later.
    assert_eq!(contested(&mut world, RELAY), HeightState::Claimed);
    assert_eq!(contested(&mut world, EXPLORER), HeightState::Disputed);
    // Nobody is there any more who says so.
    let down = Connection::Down {
        reason: "gone".into(),
        retry_in: Duration::from_secs(60),
    };
    world.hear(SourceId::Shared, Observation::Connection(down));
    assert_eq!(world.verdict().1, HeightState::Claimed);
}

#[test]
fn what_is_proven_here_is_not_overruled_by_another_clock() {
    let (mut world, mut miner) = (world(INSTEAD), Miner::new());
    miner.mine(4);
    world.prove(SourceId::Node, 900_000, &miner.newest(4));
    world.check(900_000, HeightState::Proven);
    // Not even by one that had it from a node.
    world.share(SourceId::Node, 1, SharedValue::Height(900_050));
    world.check(900_000, HeightState::Proven);
    world.share(EXPLORER, 1, SharedValue::Height(900_050));
    assert_eq!(world.verdict().0, Some(900_000));
    world.wait(200);
    world.check(900_000, HeightState::Disputed);
    let claims = world.device.view().truth.claims;
    let told = claims.iter().find(|claim| claim.source == SourceId::Shared);
    assert_eq!(told.map(|claim| claim.origin), Some(EXPLORER));
}

#[test]
fn a_clock_that_takes_it_no_more_does_not_go_on_hearing_it() {
    let mut world = world(BESIDE);
    world.claim(RELAY, 900_001);
    world.share(EXPLORER, 1, SharedValue::Height(900_000));
    world.set("mqttMarket", json!(0));
    world.wait(300);
    world.check(900_001, HeightState::Claimed);
}

#[test]
fn what_was_on_its_way_as_its_source_was_switched_off_is_nothing() {
    let (mut world, mut miner) = (world(BESIDE), Miner::new());
    let asked = world.plan(RELAY);
    world.hear(RELAY, Observation::Connection(Connection::Up));
    miner.mine(4);
    world.prove(SourceId::Node, 900_000, &miner.newest(4));
    world.set("mqttMarket", json!(INSTEAD));
    world.share(EXPLORER, 1, usd(60_000));
    world.claim(RELAY, 900_000);
    let relays = Price::parse("50000").unwrap();
    world.hear(RELAY, Observation::Price(Currency::USD, relays));
    world.hear(RELAY, Observation::Connection(Connection::Up));
    assert_eq!(world.dollars(), Some((60_000, SourceId::Shared, 1)));
    miner.mine(1);
    world.prove(SourceId::Node, 900_001, &miner.newest(1));
    world.wait(200);
    world.check(900_001, HeightState::Proven);
    // What it was told of before is not what it is told of when it is asked again; who runs still begins anew.
    world.set("mqttMarket", json!(BESIDE));
    assert_ne!(world.plan(RELAY), asked);
    let is_up = |world: &World| {
        let states = world.device.view().sources;
        states.get(&RELAY).is_some_and(|state| state.up)
    };
    assert!(!is_up(&world));
    world.hear(RELAY, Observation::Connection(Connection::Up));
    assert!(is_up(&world));
}

#[test]
fn what_is_on_offer_does_not_depend_on_who_was_asked_before() {
    let mut world = world(0);
    world.hear(RELAY, Observation::Currencies(vec![Currency::USD]));
    assert_eq!(world.device.view().available_currencies, [Currency::USD]);
    world.set("mqttMarket", json!(INSTEAD));
    let begun = super::shared::world(INSTEAD);
    let (view, expected) = (world.device.view(), begun.device.view());
    assert_eq!(view.available_currencies, expected.available_currencies);
    assert_eq!(view.active.act_currencies, expected.active.act_currencies);
}

#[test]
fn a_price_that_another_clock_contradicts_has_its_sign_whoever_else_is_asked() {
    for (is_invented, mark) in [(false, Some(Mark::Disputed)), (true, None)] {
        let mut world = world(BESIDE);
        if is_invented {
            let (board, memory) = (BoardSpec::EXAMPLE, Memory::default());
            let settings = (*world.device.view().settings).clone();
            world.device = Device::on_chain(None, board, settings, memory, now(0));
        }
        world.set("priceWitnesses", json!([]));
        let own = Price::parse("60000").unwrap();
        world.hear(RELAY, Observation::Price(Currency::USD, own));
        world.wait(20);
        // Nobody else was asked to speak for it.
        assert_eq!(world.price_mark(), None);
        world.share(EXPLORER, 0, usd(65_000));
        let state = |world: &World| world.device.view().truth.prices[&Currency::USD].state;
        assert_eq!(state(&world), PriceState::Disputed);
        world.wait(121);
        assert_eq!(state(&world), PriceState::Disputed);
        assert_eq!(world.price_mark(), mark, "{is_invented}");
    }
}

#[test]
fn nothing_is_missing_while_another_clock_shares_what_it_has() {
    for (mqtt_market, is_shared, is_missed) in [
        (BESIDE, false, true),
        (BESIDE, true, false),
        (INSTEAD, false, true),
        (INSTEAD, true, false),
    ] {
        let settings = Settings {
            mqtt_enabled: true,
            mqtt_host: Endpoint::new("broker"),
            mqtt_market,
            ..Settings::default()
        };
        let settled = Settled::new(settings.clone(), settings.currencies());
        let mut upstream = Upstream::new(None, &settings, Market::default(), Vec::new(), now(0));
        let down = || Connection::Down {
            reason: "no internet".into(),
            retry_in: Duration::from_secs(60),
        };
        let shared = if is_shared { Connection::Up } else { down() };
        for (source, connection) in [(RELAY, down()), (SourceId::Shared, shared)] {
            let heard = Observation::Connection(connection);
            upstream.hear(source, heard, &settled, now(0));
        }
        let missing = Missing {
            blocks: is_missed,
            prices: is_missed,
        };
        assert_eq!(upstream.missing(), missing, "{mqtt_market} {is_shared}");
    }
}

#[test]
fn a_quote_that_is_passed_on_is_a_voice_unless_its_origin_speaks_here() {
    let mut world = world(BESIDE);
    world.wait(100);
    let own = Price::parse("60000").unwrap();
    world.hear(RELAY, Observation::Price(Currency::USD, own));
    let verdict = |world: &World| {
        let truth = world.device.view().truth;
        let usd = &truth.prices[&Currency::USD];
        let voice = usd.voices.iter().find(|it| it.source == SourceId::Shared);
        let voice = voice.unwrap();
        (usd.state, voice.origin, voice.standing)
    };
    world.share(RELAY, 2, usd(65_000));
    assert_eq!(verdict(&world), (PriceState::Single, RELAY, Standing::Old));
    world.share(SourceId::Exchange, 2, usd(65_000));
    assert_eq!(
        verdict(&world),
        (PriceState::Disputed, SourceId::Exchange, Standing::Apart)
    );
    world.share(SourceId::Exchange, 1, usd(60_010));
    assert_eq!(
        verdict(&world),
        (PriceState::Agreed, SourceId::Exchange, Standing::Agrees)
    );
    assert_eq!(world.dollars(), Some((60_000, RELAY, 0)));
    // Nobody passes it on any more.
    let down = Connection::Down {
        reason: "gone".into(),
        retry_in: Duration::from_secs(60),
    };
    world.hear(SourceId::Shared, Observation::Connection(down));
    let truth = world.device.view().truth;
    assert_eq!(truth.prices[&Currency::USD].state, PriceState::Single);
}

#[test]
fn an_old_quote_that_is_passed_on_takes_the_place_of_none_that_is_newer() {
    let mut world = world(BESIDE);
    // There is nothing else.
    world.share(SourceId::Exchange, 3000, usd(50_000));
    assert_eq!(world.dollars(), Some((50_000, SourceId::Shared, 3000)));
    world.wait(10);
    let own = Price::parse("60000").unwrap();
    world.hear(RELAY, Observation::Price(Currency::USD, own));
    world.wait(600);
    assert_eq!(world.dollars(), Some((60_000, RELAY, 600)));
    let down = Connection::Down {
        reason: "gone".into(),
        retry_in: Duration::from_secs(60),
    };
    world.hear(RELAY, Observation::Connection(down));
    assert_eq!(world.dollars(), Some((60_000, RELAY, 600)));
    world.share(SourceId::Exchange, 599, usd(61_000));
    assert_eq!(world.dollars(), Some((61_000, SourceId::Shared, 599)));
}

#[test]
fn a_height_that_is_passed_on_is_as_old_in_every_place() {
    let mut world = world(INSTEAD);
    world.wait(100);
    world.share(RELAY, 3600, SharedValue::Height(900_000));
    world.wait(30);
    let at = now(world.secs);
    let view = world.device.view();
    let old = Some(Duration::from_secs(3630));
    assert_eq!(view.market.height.as_ref().unwrap().age(at), old);
    let claims = &view.truth.claims;
    let ages: Vec<_> = claims.iter().map(|it| it.seen.age_at(at.uptime)).collect();
    assert_eq!(ages, [old]);
}

#[test]
fn clocks_that_tell_in_turn_contradict_as_one_does() {
    const TURN: u64 = 30;
    for heights in [[900_050, 900_050], [900_050, 900_051]] {
        let (mut world, mut miner) = (world(INSTEAD), Miner::new());
        miner.mine(4);
        world.prove(SourceId::Node, 900_000, &miner.newest(4));
        let tellers = [RELAY, EXPLORER].into_iter().zip(heights);
        let mut turns = tellers.cycle();
        let mut tell = |world: &mut World| {
            let (teller, height) = turns.next().unwrap();
            world.share(teller, 1, SharedValue::Height(height));
        };
        for _ in 0..4 {
            tell(&mut world);
            world.check(900_000, HeightState::Proven);
            world.wait(TURN);
        }
        // The first one has said so for two minutes now, and from its next turn on the second one has, too.
        for _ in 0..6 {
            tell(&mut world);
            world.check(900_000, HeightState::Disputed);
            world.wait(TURN);
        }
    }
}

#[test]
fn who_was_heard_here_gives_no_voice_to_who_comes_after_it() {
    let mut world = world(BESIDE);
    world.claim(RELAY, 900_001);
    world.share(RELAY, 1, SharedValue::Height(900_000));
    world.wait(600);
    // This one has said nothing before.
    world.share(EXPLORER, 1, SharedValue::Height(900_000));
    world.check(900_001, HeightState::Claimed);
    world.wait(119);
    world.check(900_001, HeightState::Claimed);
    world.wait(1);
    world.check(900_001, HeightState::Disputed);
}

#[test]
fn who_comes_back_after_long_is_not_held_to_what_it_said_before() {
    let (mut world, mut miner) = (world(INSTEAD), Miner::new());
    miner.mine(4);
    world.prove(SourceId::Node, 900_000, &miner.newest(4));
    world.share(RELAY, 1, SharedValue::Height(900_000));
    miner.mine(1);
    world.prove(SourceId::Node, 900_001, &miner.newest(1));
    for _ in 0..5 {
        world.share(EXPLORER, 1, SharedValue::Height(900_001));
        world.wait(60);
    }
    // It has the next block, and not been wrong for all that time.
    world.share(RELAY, 1, SharedValue::Height(900_002));
    world.check(900_002, HeightState::Claimed);
}
