//! Which price is shown, and how good it is said to be: quotes in, verdict out.

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

/// A clock with a relay, and the witnesses that every clock has.
fn clock() -> World {
    let chain = ChainSpec::built_in(Network::Signet);
    World::with(data_source::PUBLIC_RELAY, Some(chain))
}

fn dollars(units: u64) -> Price {
    Price::parse(&units.to_string()).unwrap()
}

impl World {
    /// The relay tells a price; it has no time of its own.
    pub(crate) fn price(&mut self, units: u64) {
        let price = Observation::Price(Currency::USD, dollars(units));
        self.hear(RELAY, price);
    }

    /// A venue tells a trade that was made so many seconds ago.
    pub(crate) fn trade(&mut self, venue: SourceId, units: u64, ago: u64) {
        let utc = now(self.secs()).utc.map(|utc| UtcTime {
            unix_ms: utc.unix_ms - i64::try_from(ago).unwrap() * 1000,
        });
        let quote = Observation::Quote {
            currency: Currency::USD,
            price: dollars(units),
            at: utc,
        };
        self.hear(venue, quote);
    }

    /// The relay and two venues agree.
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

    pub(crate) fn standing(&self, source: SourceId) -> QuoteVerdict {
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
            self.device.handle(Input::Asked(request), at);
        }
        self.device.desired().picture.mark
    }
}

#[test]
fn the_primary_is_shown_as_long_as_most_agree_with_it() {
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
fn a_primary_that_is_apart_gives_way_to_a_quote_in_the_middle() {
    for (wrong, standing) in [
        (67_000, QuoteVerdict::Apart),
        (640_000, QuoteVerdict::Outlier),
        (640, QuoteVerdict::Outlier),
        (1, QuoteVerdict::Outlier),
        (2_000_000_000, QuoteVerdict::Outlier),
    ] {
        let mut world = clock();
        world.agree_on(64_000);
        world.wait(5);
        world.price(wrong);
        let (shown, source, state) = world.shown();
        assert_ne!(source, RELAY, "{wrong}");
        assert_eq!(state, PriceState::Agreed, "{wrong}");
        // A quote of somebody, never a mean.
        assert!([63_990, 64_010].contains(&shown), "{shown} for {wrong}");
        assert_eq!(world.standing(RELAY), standing, "{wrong}");
        assert_eq!(world.price_mark(), None);
    }
}

#[test]
fn who_was_far_off_is_out_until_it_is_near() {
    let mut world = clock();
    world.agree_on(100_000);
    for (off, standing) in [
        (109_000, QuoteVerdict::Apart),
        (112_000, QuoteVerdict::Outlier),
        (107_000, QuoteVerdict::Outlier),
        (104_000, QuoteVerdict::Apart),
        (107_000, QuoteVerdict::Apart),
        (101_000, QuoteVerdict::Agrees),
    ] {
        world.wait(1);
        world.trade(COINBASE, off, 0);
        assert_eq!(world.standing(COINBASE), standing, "{off}");
        assert_eq!(world.shown(), (100_000, RELAY, PriceState::Agreed), "{off}");
    }
}

/// The 21st of October 2021: one venue fell from 65,760 to 8,200 within a minute, the others hardly.
#[test]
fn a_crash_of_one_venue_changes_nothing() {
    for crashes in [RELAY, COINBASE, BITSTAMP] {
        let mut world = clock();
        for second in 0..120_u64 {
            let fallen = if second < 60 {
                65_760 - second * 960
            } else {
                65_000
            };
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
            assert_eq!(state, PriceState::Agreed, "at {second} s");
            world.wait(1);
        }
    }
}

/// The 20th of September 2021: two of nine sources said 5,402 while the others stood at 43,000.
#[test]
fn a_few_who_are_wrong_do_not_win() {
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
        assert_eq!(world.standing(venue), QuoteVerdict::Outlier);
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
fn two_who_disagree_keep_what_was_agreed_for_a_while_and_are_marked_then() {
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
    assert_eq!(world.shown(), (70_009, RELAY, PriceState::Disputed));
    assert_eq!(world.price_mark(), Some(Mark::Disputed));
    assert!(world.device.view().disputed);
}

#[test]
fn who_contradicts_a_slip_does_not_set_it_free() {
    let mut world = clock();
    world.price(64_000);
    world.wait(5);
    world.price(640_000);
    assert_eq!(world.shown().0, 64_000, "a lone jump");
    world.wait(1);
    world.trade(COINBASE, 64_050, 0);
    assert_eq!(world.shown(), (64_000, RELAY, PriceState::Disputed));
    world.wait(119);
    world.trade(COINBASE, 64_060, 0);
    assert_eq!(world.shown().0, 64_000);
    assert_eq!(world.price_mark(), Some(Mark::Alone));
    world.wait(1);
    assert_eq!(world.shown().0, 640_000, "it is the owner's source");
    assert_eq!(world.price_mark(), Some(Mark::Disputed));
}

#[test]
fn two_who_contradict_each_other_from_the_start_are_marked_at_once_in_any_order() {
    for relay_first in [true, false] {
        let mut world = clock();
        if relay_first {
            world.price(70_000);
        }
        world.trade(COINBASE, 64_000, 0);
        if !relay_first {
            world.price(70_000);
        }
        assert_eq!(world.shown(), (70_000, RELAY, PriceState::Disputed));
        assert_eq!(world.price_mark(), Some(Mark::Disputed));
    }
}

#[test]
fn a_ring_stays_until_the_graver_sign_comes() {
    let mut world = clock();
    world.price(64_000);
    world.wait(100);
    world.price(64_001);
    world.wait(100);
    assert_eq!(world.price_mark(), Some(Mark::Alone));
    world.trade(COINBASE, 66_000, 0);
    assert_eq!(world.shown(), (64_001, RELAY, PriceState::Disputed));
    assert_eq!(world.price_mark(), Some(Mark::Alone));
    world.wait(120);
    world.trade(COINBASE, 66_000, 0);
    assert_eq!(world.price_mark(), Some(Mark::Disputed));
}

#[test]
fn what_was_agreed_goes_when_nobody_says_it_any_more() {
    let mut world = clock();
    world.agree_on(64_000);
    world.wait(3);
    world.trade(BITSTAMP, 57_400, 0);
    world.trade(COINBASE, 58_700, 0);
    world.price(60_000);
    assert_eq!(world.shown(), (60_000, RELAY, PriceState::Disputed));
    assert_eq!(world.price_mark(), Some(Mark::Disputed));
    world.trade(COINBASE, 59_900, 0);
    assert_eq!(world.shown(), (60_000, RELAY, PriceState::Agreed));
    assert_eq!(world.price_mark(), None);
}

#[test]
fn what_was_agreed_is_kept_from_its_end_on_whatever_happens_besides() {
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
        assert_eq!(world.shown().0, 70_001);
        assert_eq!(world.price_mark(), Some(Mark::Disputed));
    }
}

#[test]
fn a_trade_from_before_the_start_is_as_old_as_it_is() {
    let mut world = clock();
    world.wait(20);
    world.trade(COINBASE, 60_000, 6 * 60 * 60);
    assert_eq!(world.standing(COINBASE), QuoteVerdict::Old);
    assert!(world.device.view().market.prices.is_empty());
    world.price(64_000);
    assert_eq!(world.shown(), (64_000, RELAY, PriceState::Single));
    let truth = &world.device.view().truth.prices[&Currency::USD];
    let quote = truth.quotes.iter().find(|quote| quote.source == COINBASE);
    let age = quote.unwrap().seen.age_at(Duration::from_secs(20));
    assert_eq!(age, Some(Duration::from_secs(6 * 60 * 60)));
}

#[test]
fn a_trade_of_before_is_no_news() {
    let mut world = clock();
    world.wait(7200);
    world.trade(COINBASE, 64_000, 0);
    world.trade(COINBASE, 60_000, 200);
    assert_eq!(world.shown().0, 64_000);
    world.trade(COINBASE, 60_000, 3600);
    assert_eq!(world.shown().0, 64_000);
}

#[test]
fn a_time_that_is_ahead_keeps_nothing_fresh() {
    let mut world = clock();
    world.wait(7200);
    let ahead = now(world.secs() + 3600).utc;
    for minute in 0..7 {
        world.hear(
            COINBASE,
            Observation::Quote {
                currency: Currency::USD,
                price: dollars(64_000),
                at: ahead,
            },
        );
        let standing = world.standing(COINBASE);
        assert_eq!(standing == QuoteVerdict::Old, minute > 4, "minute {minute}");
        world.wait(60);
    }
}

#[test]
fn a_connection_that_comes_back_with_the_same_says_nothing_new() {
    let mut world = clock();
    world.wait(600);
    let same = Observation::Quote {
        currency: Currency::USD,
        price: dollars(64_000),
        at: None,
    };
    world.hear(COINBASE, same.clone());
    assert_eq!(world.standing(COINBASE), QuoteVerdict::Agrees);
    let down = Connection::Down {
        reason: "gone".into(),
        retry_in: Duration::from_secs(5),
    };
    world.wait(299);
    world.hear(COINBASE, Observation::Connection(down));
    let truth = world.device.view().truth;
    assert!(truth.prices[&Currency::USD].quotes.is_empty());
    world.wait(1);
    world.hear(COINBASE, same);
    assert_eq!(world.standing(COINBASE), QuoteVerdict::Old);
}

#[test]
fn nobody_is_heard_in_a_currency_that_was_not_asked_for() {
    let mut world = clock();
    let yen = Currency::parse("JPY").unwrap();
    world.hear(
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
fn two_who_were_far_off_are_counted_again_where_nobody_else_is_left() {
    let mut world = clock();
    world.set(
        "priceWitnesses",
        json!(["coinbase", "bitstamp", "bitfinex", "gemini"]),
    );
    world.price(100_000);
    for venue in [COINBASE, BITSTAMP, SourceId::Gemini] {
        world.trade(venue, 100_000, 0);
    }
    world.trade(BITFINEX, 200_000, 0);
    world.price(20_000);
    assert_eq!(world.standing(RELAY), QuoteVerdict::Outlier);
    for venue in [COINBASE, BITSTAMP, SourceId::Gemini] {
        let down = Connection::Down {
            reason: "gone".into(),
            retry_in: Duration::from_secs(5),
        };
        world.hear(venue, Observation::Connection(down));
    }
    assert_eq!(world.shown().2, PriceState::Disputed);
    assert_ne!(world.standing(RELAY), QuoteVerdict::Outlier);
}

#[test]
fn a_lone_voice_gets_a_ring_only_where_another_was_asked() {
    let mut world = clock();
    for _ in 0..3 {
        world.price(64_000 + world.secs());
        assert_eq!(world.price_mark(), None);
        world.wait(40);
    }
    assert_eq!(world.shown().2, PriceState::Single);
    assert_eq!(world.price_mark(), Some(Mark::Alone));
    // Nobody is asked any more.
    world.set("priceWitnesses", json!([]));
    assert_eq!(world.price_mark(), None);
    world.set("priceWitnesses", json!(["gemini"]));
    assert_eq!(world.price_mark(), Some(Mark::Alone));
    world.set("priceQuorum", json!(1));
    assert_eq!(world.shown().2, PriceState::Agreed);
    assert_eq!(world.price_mark(), None);
}

#[test]
fn a_lone_voice_that_jumps_is_held_back_for_a_minute() {
    let mut world = clock();
    world.price(64_000);
    world.wait(10);
    world.price(80_000);
    assert_eq!(world.shown().0, 64_000);
    world.wait(59);
    assert_eq!(world.shown().0, 64_000);
    world.wait(1);
    assert_eq!(world.shown().0, 80_000);
    world.wait(1);
    world.price(80_000);
    world.wait(1);
    // One that comes back was a slip.
    world.price(8_000);
    world.wait(30);
    world.price(80_100);
    assert_eq!(world.shown().0, 80_100);
    world.wait(1);
    // A second source ends the wait.
    world.price(60_000);
    assert_eq!(world.shown().0, 80_100);
    world.trade(COINBASE, 60_100, 0);
    assert_eq!(world.shown(), (60_000, RELAY, PriceState::Agreed));
}

#[test]
fn who_repeats_old_trades_is_not_counted() {
    let mut world = clock();
    world.agree_on(64_000);
    // The relay and a venue are frozen, the other goes on.
    for minute in 1..=10 {
        world.wait(60);
        world.price(64_000);
        world.trade(COINBASE, 64_010, world.secs());
        world.trade(BITSTAMP, 65_000 + minute, 0);
    }
    assert_eq!(world.standing(COINBASE), QuoteVerdict::Old);
    assert_eq!(world.standing(RELAY), QuoteVerdict::Old);
    assert_eq!(world.shown(), (65_010, BITSTAMP, PriceState::Single));
}

#[test]
fn a_primary_that_is_gone_leaves_the_word_to_the_witnesses() {
    let mut world = clock();
    world.agree_on(64_000);
    let down = Connection::Down {
        reason: "gone".into(),
        retry_in: Duration::from_secs(5),
    };
    world.hear(RELAY, Observation::Connection(down));
    let (shown, source, state) = world.shown();
    assert_eq!(
        (shown, source, state),
        (63_990, BITSTAMP, PriceState::Agreed)
    );
}

#[test]
fn nobody_witnesses_what_is_invented_and_nobody_is_heard_who_was_not_asked() {
    let asked = |world: &World| world.device.desired().sources.contains_key(&COINBASE);
    assert!(asked(&clock()));
    let mut world = World::with(data_source::PUBLIC_RELAY, None);
    assert!(!asked(&world));
    world.price(64_000);
    world.trade(COINBASE, 10_000, 0);
    world.wait(300);
    assert_eq!(world.shown(), (64_000, RELAY, PriceState::Single));
    assert_eq!(world.price_mark(), None);
}

#[test]
fn who_says_two_things_at_one_moment_is_judged_by_the_last() {
    let mut world = clock();
    world.agree_on(100_000);
    world.wait(1);
    // Far off, and near again.
    world.trade(COINBASE, 112_000, 0);
    world.trade(COINBASE, 107_000, 0);
    assert_eq!(world.standing(COINBASE), QuoteVerdict::Apart);
    // Near, and far off again.
    world.trade(COINBASE, 112_000, 0);
    world.wait(1);
    world.trade(COINBASE, 101_000, 0);
    world.trade(COINBASE, 107_000, 0);
    assert_eq!(world.standing(COINBASE), QuoteVerdict::Outlier);
}

proptest! {
    /// What is said at one moment counts together.
    #[test]
    fn the_order_of_quotes_changes_nothing(
        rounds in prop::collection::vec(
            (prop::collection::vec(prop_oneof![3 => Just(1000_u64), 1 => 980..1020_u64, 2 => 850..1150_u64, 1 => Just(100)], 4), prop_oneof![Just(1_u64), Just(20), Just(60), Just(130), Just(301)]),
            1..10,
        ),
        orders in prop::collection::vec(Just([0_usize, 1, 2, 3]).prop_shuffle(), 10),
    ) {
        let live = |orders: &[[usize; 4]]| {
            let mut world = clock();
            world.set("priceWitnesses", json!(["coinbase", "bitstamp", "bitfinex"]));
            let mut told = Vec::new();
            for ((quotes, wait), order) in rounds.iter().zip(orders) {
                for who in order {
                    let price = 64 * quotes[*who];
                    match who {
                        0 => world.price(price),
                        1 => world.trade(COINBASE, price, 0),
                        2 => world.trade(BITSTAMP, price, 0),
                        _ => world.trade(BITFINEX, price, 0),
                    }
                }
                let standings = [RELAY, COINBASE, BITSTAMP, BITFINEX].map(|who| world.standing(who));
                told.push((world.shown(), standings, world.price_mark()));
                world.wait(*wait);
                told.push((world.shown(), standings, world.price_mark()));
            }
            told
        };
        prop_assert_eq!(live(&[[0, 1, 2, 3]; 10]), live(&orders));
    }

    /// Whatever a minority says and however it is ordered: what is shown is a real quote within the band of most.
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
                let who = (order + step) % 3;
                let right = 64_000 + world.secs() % 50 + who as u64;
                let price = if who == liar { lie } else { right };
                match who {
                    0 => world.price(price),
                    1 => world.trade(COINBASE, price, 0),
                    _ => world.trade(BITSTAMP, price, 0),
                }
            }
            let (shown, source, state) = world.shown();
            prop_assert_eq!(state, PriceState::Agreed);
            // The one in the middle is honest, or between two who are.
            let middle = 64_000 + world.secs() % 50 + 1;
            prop_assert!(shown.abs_diff(middle) <= middle / 50 + 2, "{} of {:?}", shown, source);
        }
    }
}
