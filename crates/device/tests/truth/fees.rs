//! Which fee rate is shown: that of the primary source, or of the next source whose rate is fresh.

use std::time::Duration;

use chain::network::Network;
use device::{
    board::BoardSpec,
    device::Device,
    input::Input,
    memory::Memory,
    request::Request,
    secret::Endpoint,
    settings::{Settings, data_source},
};
use market::{
    ChainSpec, Connection, Observation, PriceState, limits::STALE_FEE, mark::Mark,
    source_id::SourceId, units::FeeRate,
};
use proptest::prelude::*;
use serde_json::json;

use crate::{EXPLORER, RELAY, World, now};

const NODE: SourceId = SourceId::Node;

/// Value of `nodeKind` for Electrum, which reports fees.
const ELECTRUM: u32 = 2;

/// Seconds for which a rate is fresh.
const FRESH: u64 = STALE_FEE.as_secs();

/// A device with a data source and a node.
fn clock(data_source: u32) -> World {
    start(data_source, "explorer.example", Memory::default())
}

fn start(data_source: u32, explorer: &str, memory: Memory) -> World {
    let settings = Settings {
        data_source,
        explorer_instance: Endpoint::new(explorer),
        node_kind: ELECTRUM,
        node_host: Endpoint::new("node.example"),
        ..Settings::default()
    };
    let chain = Some(ChainSpec::built_in(Network::Signet));
    World {
        device: Device::on_chain(chain, BoardSpec::EXAMPLE, settings, memory, now(0)),
        secs: 0,
    }
}

fn rate(text: &str) -> FeeRate {
    FeeRate::parse(text).unwrap()
}

/// Observations of a source that knows the decimals of the rate.
fn precise(text: &str) -> Vec<Observation> {
    let precise = rate(text);
    let whole = Observation::Fee(precise.rounded());
    vec![whole, Observation::PreciseFee(precise)]
}

fn down() -> Observation {
    Observation::Connection(Connection::Down {
        reason: "gone".into(),
        retry_in: Duration::from_secs(5),
    })
}

impl World {
    fn fee(&mut self, source: SourceId, text: &str) {
        let input = Input::Observed(source, precise(text));
        self.device.handle(input, now(self.secs));
    }

    /// The text of the rate that the screen shows, and its source.
    fn fee_shown(&self) -> Option<(String, SourceId)> {
        let view = self.device.view();
        let shown = view
            .market
            .current_fee(view.settings.active.fee_precision())?
            .datum();
        let text = market::units::fixed(shown.value.micros, 2);
        Some((text, shown.source))
    }

    #[track_caller]
    fn check_fee(&mut self, text: &str, source: SourceId, state: PriceState) {
        let shown = Some((market::units::fixed(rate(text).micros, 2), source));
        let seen = (self.fee_shown(), self.device.view().truth.fee);
        assert_eq!(seen, (shown, state), "after {} s", self.secs);
    }

    /// The mark on the screen that shows the rate.
    fn fee_mark(&mut self) -> Option<Mark> {
        let at = now(self.secs());
        // A better mark waits for the next picture.
        for request in [Request::ShowScreen(6), Request::FullRefresh] {
            self.device.handle(Input::Request(request), at);
        }
        self.device.desired().picture.mark
    }
}

#[test]
fn the_primary_source_is_shown_while_it_is_fresh() {
    for (data_source, primary) in [
        (data_source::PUBLIC_RELAY, RELAY),
        (data_source::EXPLORER, EXPLORER),
    ] {
        let mut world = clock(data_source);
        world.fee(NODE, "90");
        world.check_fee("90", NODE, PriceState::Single);
        world.fee(primary, "10");
        world.check_fee("10", primary, PriceState::Single);
        world.fee(NODE, "80");
        world.check_fee("10", primary, PriceState::Single);
        world.wait(FRESH - 1);
        world.fee(NODE, "70");
        world.check_fee("10", primary, PriceState::Single);
        world.wait(1);
        world.check_fee("70", NODE, PriceState::Single);
        assert_eq!(world.fee_mark(), None);
        // If no rate is fresh, the newest one is shown.
        world.wait(FRESH);
        world.check_fee("70", NODE, PriceState::Stale);
        world.wait(1);
        assert_eq!(world.fee_mark(), Some(Mark::Stale));
        world.fee(primary, "5");
        world.check_fee("5", primary, PriceState::Single);
        assert_eq!(world.fee_mark(), None);
    }
}

#[test]
fn a_disconnected_source_comes_after_the_others() {
    let mut world = clock(data_source::PUBLIC_RELAY);
    world.fee(RELAY, "10");
    world.observe(RELAY, down());
    // Its rate does not become stale by that.
    world.check_fee("10", RELAY, PriceState::Single);
    assert_eq!(world.fee_mark(), None);
    world.fee(NODE, "12");
    world.check_fee("12", NODE, PriceState::Single);
    world.fee(RELAY, "11");
    world.check_fee("11", RELAY, PriceState::Single);
}

#[test]
fn the_rate_of_an_explorer_is_stale_after_three_failed_polls() {
    let mut world = clock(data_source::EXPLORER);
    world.fee(EXPLORER, "10");
    for _ in 0..3 {
        world.observe(EXPLORER, down());
    }
    world.wait(29);
    world.check_fee("10", EXPLORER, PriceState::Single);
    world.wait(1);
    world.check_fee("10", EXPLORER, PriceState::Stale);
    world.wait(1);
    assert_eq!(world.fee_mark(), Some(Mark::Stale));
    world.fee(EXPLORER, "11");
    world.check_fee("11", EXPLORER, PriceState::Single);
    assert_eq!(world.fee_mark(), None);
}

#[test]
fn a_rate_of_an_earlier_run_is_stale_and_belongs_to_its_explorer() {
    for (source, data_source, explorer, shown) in [
        (RELAY, data_source::PUBLIC_RELAY, "explorer.example", true),
        (EXPLORER, data_source::EXPLORER, "explorer.example", true),
        (EXPLORER, data_source::EXPLORER, "other.example", false),
    ] {
        let mut before = clock(data_source);
        before.fee(source, "9.5");
        // The stored form.
        let memory = Memory::from_json(&before.device.memory().to_json(now(0)));
        let mut world = start(data_source, explorer, memory);
        let known = world.fee_shown().map(|(text, _)| text);
        assert_eq!(known, shown.then(|| "9.50".to_owned()), "{explorer}");
        assert_eq!(world.device.view().truth.fee, PriceState::Stale);
        world.fee(source, "3");
        world.check_fee("3", source, PriceState::Single);
    }
}

#[test]
fn an_impossible_rate_is_ignored_and_counted() {
    let most = "10000".to_owned();
    let too_much = format!("{most}.01");
    for absurd in ["0", "0.0000001", too_much.as_str(), "1000000000"] {
        let mut world = clock(data_source::PUBLIC_RELAY);
        world.observe(RELAY, Observation::PreciseFee(rate(absurd)));
        assert_eq!(world.fee_shown(), None, "{absurd}");
        assert_eq!(world.dropped(RELAY, "fee-impossible"), 1);
        world.fee(RELAY, "5");
        world.observe(RELAY, Observation::PreciseFee(rate(absurd)));
        world.check_fee("5", RELAY, PriceState::Single);
    }
    let mut world = clock(data_source::PUBLIC_RELAY);
    world.fee(RELAY, &most);
    world.check_fee(&most, RELAY, PriceState::Single);
    world.set("blockFeeDec", json!(false));
    world.observe(RELAY, Observation::Fee(rate("0")));
    world.check_fee(&most, RELAY, PriceState::Single);
}

const TEXTS: [&str; 6] = ["0.4", "3", "5", "9", "40", "9000"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// A stale rate is marked, and a fresh rate of the primary source is shown.
    #[test]
    fn stale_rates_are_always_marked(
        steps in prop::collection::vec((0..4_usize, 0..6_usize, prop_oneof![1..90_u64, 3000..4000_u64]), 1..24),
    ) {
        let mut world = clock(data_source::PUBLIC_RELAY);
        for (step, text, wait) in steps {
            match step {
                0 => world.fee(RELAY, TEXTS[text]),
                1 => world.fee(NODE, TEXTS[text]),
                2 => world.observe(NODE, down()),
                _ => world.observe(RELAY, down()),
            }
            if step == 0 {
                prop_assert_eq!(world.fee_shown().map(|(_, source)| source), Some(RELAY));
            }
            world.wait(wait);
            let mark = world.fee_mark();
            let view = world.device.view();
            let Some(shown) = view.market.current_fee(view.settings.active.fee_precision()) else { continue };
            let age = shown.datum().seen.age_at(Duration::from_secs(world.secs())).unwrap();
            prop_assert_eq!(mark == Some(Mark::Stale), age > STALE_FEE, "{:?} old", age);
        }
    }
}
