//! Which price is shown and in which state, from quotes of sources.

use std::time::Duration;

use chain::network::Network;
use device::{input::Input, request::Request, settings::data_source};
use market::{
    ChainSpec, Connection, Observation, PriceState, QuoteVerdict,
    mark::Mark,
    now::UtcTime,
    source_id::SourceId,
    units::{Currency, Price},
};
use proptest::prelude::*;
use serde_json::json;

use crate::{World, now};

const RELAY: SourceId = SourceId::Relay;
pub(crate) const COINBASE: SourceId = SourceId::Coinbase;
pub(crate) const BITSTAMP: SourceId = SourceId::Bitstamp;
const BITFINEX: SourceId = SourceId::Bitfinex;

/// A device with a relay and the default witnesses.
fn clock() -> World {
    let chain = ChainSpec::built_in(Network::Signet);
    World::with(data_source::PUBLIC_RELAY, Some(chain))
}

fn dollars(units: u64) -> Price {
    Price::parse(&units.to_string()).unwrap()
}

impl World {
    /// A price of the relay, which has no time.
    pub(crate) fn price(&mut self, units: u64) {
        let price = Observation::Price(Currency::USD, dollars(units));
        self.observe(RELAY, price);
    }

    /// A trade at a venue `ago` seconds ago.
    pub(crate) fn trade(&mut self, venue: SourceId, units: u64, ago: u64) {
        let utc = now(self.secs()).utc.map(|utc| UtcTime {
            unix_ms: utc.unix_ms - i64::try_from(ago).unwrap() * 1000,
        });
        let quote = Observation::Quote {
            currency: Currency::USD,
            price: dollars(units),
            at: utc,
        };
        self.observe(venue, quote);
    }

    /// The relay and two venues quote the same price.
    pub(crate) fn agree_on(&mut self, units: u64) {
        self.price(units);
        self.trade(COINBASE, units + 10, 0);
        self.trade(BITSTAMP, units - 10, 0);
    }

    pub(crate) fn shown(&self) -> (u64, SourceId, PriceState) {
        let view = self.device.view();
        let shown = &view.market.prices[&Currency::USD];
        let state = view.truth.prices[&Currency::USD].state;
        (shown.value.rounded(), shown.source, state)
    }

    pub(crate) fn quote_verdict(&self, source: SourceId) -> QuoteVerdict {
        let view = self.device.view();
        let quotes = &view.truth.prices[&Currency::USD].quotes;
        let quote = quotes.iter().find(|quote| quote.source == source);
        quote.unwrap().verdict
    }

    /// The mark on a screen that shows the price in dollars.
    pub(crate) fn price_mark(&mut self) -> Option<Mark> {
        let at = now(self.secs());
        // A better mark waits for the next picture.
        for request in [Request::ShowScreen(20), Request::FullRefresh] {
            self.device.handle(Input::Request(request), at);
        }
        self.device.desired().picture.mark
    }
}

#[test]
fn the_primary_price_is_shown_while_most_sources_agree() {
    let mut world = clock();
    world.price(64_000);
    assert_eq!(world.shown(), (64_000, RELAY, PriceState::Single));
    world.trade(COINBASE, 64_200, 0);
    assert_eq!(world.shown(), (64_000, RELAY, PriceState::Agreed));
    world.trade(BITSTAMP, 63_900, 0);
    assert_eq!(world.shown(), (64_000, RELAY, PriceState::Agreed));
    assert_eq!(world.price_mark(), None);
    let truth = &world.device.view().truth.prices[&Currency::USD];
    assert_eq!((truth.quotes.len(), truth.spread_permille), (3, Some(5)));
}

#[test]
fn a_deviating_primary_is_replaced_by_the_agreed_price_and_then_the_median() {
    for (wrong, median) in [
        (67_000, (64_010, COINBASE)),
        (2_000_000_000, (64_010, COINBASE)),
        (1, (63_990, BITSTAMP)),
    ] {
        let mut world = clock();
        world.agree_on(64_000);
        world.wait(5);
        world.price(wrong);
        assert_eq!(world.shown(), (64_000, RELAY, PriceState::Disputed));
        assert_eq!(world.quote_verdict(RELAY), QuoteVerdict::Apart, "{wrong}");
        world.wait(200);
        world.trade(COINBASE, 64_010, 0);
        world.trade(BITSTAMP, 63_990, 0);
        world.price(wrong + 1);
        world.wait(99);
        assert_eq!(world.shown().0, 64_000, "{wrong}");
        assert_eq!(world.price_mark(), None);
        world.wait(1);
        let (shown, source, state) = world.shown();
        // A quote of one source, never a mean.
        assert_eq!(((shown, source), state), (median, PriceState::Disputed));
        assert_eq!(world.price_mark(), Some(Mark::Disputed));
        world.price(64_000);
        assert_eq!(world.shown(), (64_000, RELAY, PriceState::Agreed));
    }
}

/// 2021-10-21: one venue fell from 65,760 to 8,200 within a minute, the others hardly.
#[test]
fn a_crash_of_one_venue_changes_nothing() {
    for crashes in [RELAY, COINBASE, BITSTAMP] {
        let mut world = clock();
        for second in 0..120_u64 {
            let fallen = if second < 60 { 65_760 - second * 960 } else { 65_000 };
            let other = 65_760 - second.min(60) * 25;
            for source in [RELAY, COINBASE, BITSTAMP] {
                let price = if source == crashes { fallen } else { other };
                if source == RELAY {
                    world.price(price);
                } else {
                    world.trade(source, price, 0);
                }
            }
            let (shown, _, state) = world.shown();
            assert!(
                shown.abs_diff(other) <= 1_400,
                "{shown} at {second} s, {crashes:?}"
            );
            let is_agreed = state == PriceState::Agreed;
            assert!(is_agreed || crashes == RELAY, "at {second} s");
            world.wait(1);
        }
    }
}

/// 2021-09-20: two of nine sources reported 5,402, the others 43,000.
#[test]
fn a_wrong_minority_is_ignored() {
    let mut world = clock();
    world.set(
        "priceWitnesses",
        json!(["coinbase", "bitstamp", "bitfinex", "gemini"]),
    );
    let (right, wrong) = (43_000, 5_402);
    world.price(right);
    for venue in [COINBASE, BITSTAMP, BITFINEX, SourceId::Gemini] {
        world.trade(venue, right, 0);
    }
    for venue in [BITFINEX, SourceId::Gemini] {
        world.wait(10);
        world.trade(venue, wrong, 0);
        assert_eq!(world.shown(), (right, RELAY, PriceState::Agreed));
        assert_eq!(world.quote_verdict(venue), QuoteVerdict::Apart);
    }
}

#[test]
fn a_crash_everywhere_is_followed_at_once() {
    let mut world = clock();
    world.agree_on(60_000);
    world.wait(3);
    world.price(42_000);
    world.trade(COINBASE, 42_100, 0);
    assert_eq!(world.shown().0, 42_000, "two of three");
    world.trade(BITSTAMP, 41_900, 0);
    assert_eq!(world.shown(), (42_000, RELAY, PriceState::Agreed));
}

#[test]
fn two_different_quotes_hold_the_agreed_price_and_are_then_marked() {
    let mut world = clock();
    world.set("priceWitnesses", json!(["coinbase"]));
    world.price(64_000);
    world.trade(COINBASE, 64_000, 0);
    for minute in 0..5 {
        world.wait(if minute == 0 { 1 } else { 60 });
        world.price(70_000 + minute);
        world.trade(COINBASE, 64_100, 0);
        assert_eq!(world.shown().0, 64_000, "minute {minute}");
        assert_eq!(world.shown().2, PriceState::Disputed);
        assert_eq!(world.price_mark(), None);
    }
    world.wait(60);
    world.price(70_009);
    assert_eq!(world.shown(), (64_100, COINBASE, PriceState::Disputed));
    assert_eq!(world.price_mark(), Some(Mark::Disputed));
    assert!(world.device.view().disputed);
}

#[test]
fn different_first_quotes_are_marked_at_once_in_any_order() {
    for relay_first in [true, false] {
        let mut world = clock();
        if relay_first {
            world.price(70_000);
        }
        world.trade(COINBASE, 64_000, 0);
        if !relay_first {
            world.price(70_000);
        }
        assert_eq!(world.shown(), (64_000, COINBASE, PriceState::Disputed));
        assert_eq!(world.price_mark(), Some(Mark::Disputed));
    }
}

#[test]
fn an_agreed_price_is_held_from_the_end_of_the_agreement() {
    for meddles in [false, true] {
        let mut world = clock();
        world.set("priceWitnesses", json!(["coinbase"]));
        world.price(64_000);
        world.trade(COINBASE, 64_000, 0);
        world.wait(290);
        if meddles {
            world.set("ledBrightness", json!(7));
        }
        world.price(70_000);
        world.trade(COINBASE, 64_100, 0);
        for seconds in [299, 1] {
            assert_eq!(world.shown().0, 64_000);
            world.wait(seconds);
            world.trade(COINBASE, 64_100, 0);
            world.price(70_000 + seconds);
        }
        assert_eq!(world.shown().0, 64_100);
        assert_eq!(world.price_mark(), Some(Mark::Disputed));
    }
}

#[test]
fn a_trade_before_the_start_has_its_real_age() {
    let mut world = clock();
    world.wait(20);
    world.trade(COINBASE, 60_000, 6 * 60 * 60);
    assert_eq!(world.quote_verdict(COINBASE), QuoteVerdict::Old);
    assert!(world.device.view().market.prices.is_empty());
    world.price(64_000);
    assert_eq!(world.shown(), (64_000, RELAY, PriceState::Single));
    let truth = &world.device.view().truth.prices[&Currency::USD];
    let quote = truth.quotes.iter().find(|quote| quote.source == COINBASE);
    let age = quote.unwrap().seen.age_at(Duration::from_secs(20));
    assert_eq!(age, Some(Duration::from_secs(6 * 60 * 60)));
}

#[test]
fn an_older_trade_is_ignored() {
    let mut world = clock();
    world.wait(7200);
    world.trade(COINBASE, 64_000, 0);
    world.trade(COINBASE, 60_000, 200);
    assert_eq!(world.shown().0, 64_000);
    world.trade(COINBASE, 60_000, 3600);
    assert_eq!(world.shown().0, 64_000);
}

#[test]
fn a_trade_time_in_the_future_does_not_extend_freshness() {
    let mut world = clock();
    world.wait(7200);
    let ahead = now(world.secs() + 3600).utc;
    for minute in 0..7 {
        world.observe(
            COINBASE,
            Observation::Quote {
                currency: Currency::USD,
                price: dollars(64_000),
                at: ahead,
            },
        );
        let verdict = world.quote_verdict(COINBASE);
        assert_eq!(verdict == QuoteVerdict::Old, minute > 4, "minute {minute}");
        world.wait(60);
    }
}

#[test]
fn a_repeated_quote_after_a_reconnect_is_not_new() {
    let mut world = clock();
    world.wait(600);
    let same = Observation::Quote {
        currency: Currency::USD,
        price: dollars(64_000),
        at: None,
    };
    world.observe(COINBASE, same.clone());
    assert_eq!(world.quote_verdict(COINBASE), QuoteVerdict::Agrees);
    let down = Connection::Down {
        reason: "gone".into(),
        retry_in: Duration::from_secs(5),
    };
    world.wait(299);
    world.observe(COINBASE, Observation::Connection(down));
    let truth = world.device.view().truth;
    assert!(truth.prices[&Currency::USD].quotes.is_empty());
    world.wait(1);
    world.observe(COINBASE, same);
    assert_eq!(world.quote_verdict(COINBASE), QuoteVerdict::Old);
}

#[test]
fn quotes_in_an_inactive_currency_are_ignored() {
    let mut world = clock();
    let yen = Currency::parse("JPY").unwrap();
    world.observe(
        COINBASE,
        Observation::Quote {
            currency: yen,
            price: dollars(1000),
            at: None,
        },
    );
    assert!(!world.device.view().market.prices.contains_key(&yen));
}

#[test]
fn a_single_source_has_no_mark() {
    let mut world = clock();
    for _ in 0..3 {
        world.price(64_000 + 1000 * world.secs());
        world.wait(80);
        assert_eq!(world.price_mark(), None);
    }
    assert_eq!(world.shown(), (224_000, RELAY, PriceState::Single));
    world.set("priceQuorum", json!(1));
    assert_eq!(world.shown().2, PriceState::Agreed);
}

/// The relay has no times, so that a price is as old as its last report.
#[test]
fn a_price_that_the_primary_repeats_is_not_stale() {
    let mut world = clock();
    for _ in 0..20 {
        world.price(64_000);
        world.wait(60);
    }
    assert_eq!(world.shown().2, PriceState::Single);
    world.wait(15 * 60);
    assert_eq!(world.shown().2, PriceState::Stale);
}

#[test]
fn repeated_old_trades_do_not_count() {
    let mut world = clock();
    world.agree_on(64_000);
    // The relay and one venue repeat old quotes, the other venue continues.
    for minute in 1..=10 {
        world.wait(60);
        world.price(64_000);
        world.trade(COINBASE, 64_010, world.secs());
        world.trade(BITSTAMP, 65_000 + minute, 0);
    }
    assert_eq!(world.quote_verdict(COINBASE), QuoteVerdict::Old);
    assert_eq!(world.quote_verdict(RELAY), QuoteVerdict::Old);
    assert_eq!(world.shown(), (65_010, BITSTAMP, PriceState::Single));
}

#[test]
fn without_the_primary_the_witnesses_decide() {
    let mut world = clock();
    world.agree_on(64_000);
    let down = Connection::Down {
        reason: "gone".into(),
        retry_in: Duration::from_secs(5),
    };
    world.observe(RELAY, Observation::Connection(down));
    let (shown, source, state) = world.shown();
    assert_eq!(
        (shown, source, state),
        (63_990, BITSTAMP, PriceState::Agreed)
    );
}

#[test]
fn a_demo_has_no_witnesses_and_disabled_sources_are_ignored() {
    let is_planned = |world: &World| world.device.desired().sources.contains_key(&COINBASE);
    assert!(is_planned(&clock()));
    let mut world = World::with(data_source::PUBLIC_RELAY, None);
    assert!(!is_planned(&world));
    world.price(64_000);
    world.trade(COINBASE, 10_000, 0);
    world.wait(300);
    assert_eq!(world.shown(), (64_000, RELAY, PriceState::Single));
    assert_eq!(world.price_mark(), None);
}

proptest! {
    /// Whatever a minority quotes, the shown price is a real quote within the band of the majority.
    #[test]
    fn a_minority_never_moves_the_price(
        lies in prop::collection::vec((0..3_usize, 1..2_000_000_u64, 1..20_u64), 1..40),
        liar in 0..3_usize,
    ) {
        let mut world = clock();
        world.agree_on(64_000);
        for (order, lie, wait) in lies {
            world.wait(wait);
            for step in 0..3 {
                let source_index = (order + step) % 3;
                let right = 64_000 + world.secs() % 50 + source_index as u64;
                let price = if source_index == liar { lie } else { right };
                match source_index {
                    0 => world.price(price),
                    1 => world.trade(COINBASE, price, 0),
                    _ => world.trade(BITSTAMP, price, 0),
                }
            }
            let (shown, source, state) = world.shown();
            prop_assert!(state == PriceState::Agreed || liar == 0);
            // The median is honest, or lies between two honest quotes. A price that was agreed before they last moved, by
            // less than 50, is still shown.
            let middle = 64_000 + world.secs() % 50 + 1;
            prop_assert!(shown.abs_diff(middle) <= middle / 50 + 52, "{} of {:?}", shown, source);
        }
    }
}
