//! Which fee rate is shown, and how good it is said to be: words in, verdict out.

use std::time::Duration;

use chain::network::Network;
use device::{
    board::BoardSpec,
    cells::Mark,
    device::Device,
    input::Input,
    limits::{DOUBT_TIME, FEE_MOST_SAT_VB, STALE_FEE},
    market::{
        ChainSpec, Connection, FeeVoice, Observation, PriceState, Shared, SharedValue, Standing,
        sources::FeeKind,
    },
    memory::Memory,
    request::Request,
    secret::Endpoint,
    settings::{Settings, data_source},
    sources::SourceId,
    units::FeeRate,
};
use proptest::prelude::*;
use serde_json::json;

use crate::{EXPLORER, RELAY, World, now};

const NODE: SourceId = SourceId::Node;
const SHARED: SourceId = SourceId::Shared;

/// What a setting calls a node of each kind; none is nought.
const PEER: u32 = 1;
const ELECTRUM: u32 = 2;
const REST: u32 = 3;
const CORE: u32 = 4;

/// What it calls the market of another clock.
const BESIDE: u32 = 1;
const INSTEAD: u32 = 2;

/// Seconds for which something may be less than good before the glass says so.
const DOUBT: u64 = DOUBT_TIME.as_secs();

/// Seconds for which a rate may be shown unmarked.
const FRESH: u64 = STALE_FEE.as_secs();

/// A clock with a relay, and a node that speaks so.
fn clock(node: u32) -> World {
    with(node, 0)
}

/// A clock that takes the market of another clock as well.
fn with(node_kind: u32, mqtt_market: u32) -> World {
    on(
        Some(ChainSpec::built_in(Network::Signet)),
        node_kind,
        mqtt_market,
    )
}

fn on(chain: Option<ChainSpec>, node_kind: u32, mqtt_market: u32) -> World {
    let settings = Settings {
        data_source: data_source::PUBLIC_RELAY,
        node_kind,
        node_host: Endpoint::new("node.example"),
        mqtt_enabled: true,
        mqtt_host: Endpoint::new("broker"),
        mqtt_market,
        ..Settings::default()
    };
    let (board, memory) = (BoardSpec::EXAMPLE, Memory::default());
    World {
        device: Device::on_chain(chain, board, settings, memory, now(0)),
        secs: 0,
    }
}

fn rate(text: &str) -> FeeRate {
    FeeRate::parse(text).unwrap()
}

/// A rate as sources tell it that know its decimals.
fn told(text: &str) -> Vec<Observation> {
    let precise = rate(text);
    let whole = FeeRate {
        micros: (precise.micros + 500_000) / 1_000_000 * 1_000_000,
    };
    vec![Observation::Fee(whole), Observation::PreciseFee(precise)]
}

fn down() -> Observation {
    Observation::Connection(Connection::Down {
        reason: "gone".into(),
        retry_in: Duration::from_secs(5),
    })
}

impl World {
    fn fee(&mut self, source: SourceId, text: &str) {
        let input = Input::Observed(source, told(text));
        self.device.handle(input, now(self.secs));
    }

    fn pass_fee_on(&mut self, origin: SourceId, age_secs: u64, text: &str) {
        let shared = Shared {
            origin,
            age: Duration::from_secs(age_secs),
            value: SharedValue::PreciseFee(rate(text)),
        };
        self.hear(SHARED, Observation::Shared(shared));
    }

    /// The text of the rate that the screen shows, and whose it is.
    fn fee_shown(&self) -> Option<(String, SourceId)> {
        let view = self.device.view();
        let shown = view.market.current_fee(&view.active)?.datum();
        let text = device::units::fixed(shown.value.micros, 2);
        Some((text, shown.source))
    }

    #[track_caller]
    fn check_fee(&self, text: &str, source: SourceId, state: PriceState) {
        let shown = Some((device::units::fixed(rate(text).micros, 2), source));
        assert_eq!(
            (self.fee_shown(), self.fee_state()),
            (shown, state),
            "after {} s",
            self.secs
        );
    }

    fn fee_state(&self) -> PriceState {
        self.device.view().truth.fee.state
    }

    fn fee_voices(&self) -> Vec<FeeVoice> {
        self.device.view().truth.fee.voices.clone()
    }

    fn fee_standing(&self, source: SourceId) -> Standing {
        let voices = self.fee_voices();
        let voice = voices.iter().find(|voice| voice.source == source);
        voice.unwrap().standing
    }

    /// The mark on the screen that shows the rate.
    fn fee_mark(&mut self) -> Option<Mark> {
        let at = now(self.secs());
        // A better mark waits for the next picture.
        for request in [Request::ShowScreen(6), Request::FullRefresh] {
            self.device.handle(Input::Asked(request), at);
        }
        self.device.desired().picture.mark
    }
}

#[test]
fn one_source_is_no_blemish_where_nobody_else_is_asked_who_tells_a_rate() {
    // Who is asked beside the relay, and whether somebody is missed who says nothing.
    for (node, mqtt_market, is_missed) in [
        (0, 0, false),
        (PEER, 0, false),
        (REST, 0, false),
        (ELECTRUM, 0, true),
        (CORE, 0, true),
        // Beside another one nobody misses it.
        (0, BESIDE, false),
    ] {
        let mut world = with(node, mqtt_market);
        world.fee(RELAY, "12.5");
        world.wait(DOUBT - 1);
        assert_eq!(world.fee_mark(), None, "{node}");
        world.wait(1);
        world.check_fee("12.5", RELAY, PriceState::Single);
        let mark = is_missed.then_some(Mark::Alone);
        assert_eq!(world.fee_mark(), mark, "{node} {mqtt_market}");
        // A second voice is one.
        if node == ELECTRUM {
            world.fee(NODE, "12");
            world.check_fee("12", NODE, PriceState::Agreed);
            assert_eq!(world.fee_mark(), None);
        }
    }
}

#[test]
fn the_owners_node_leads_where_it_tells_the_same() {
    for (node, leads, kind) in [
        (ELECTRUM, NODE, FeeKind::Median),
        (CORE, RELAY, FeeKind::Estimate),
    ] {
        for node_first in [true, false] {
            let mut world = clock(node);
            let mut words = [(NODE, "20"), (RELAY, "10")];
            if !node_first {
                words.reverse();
            }
            for (source, text) in words {
                world.fee(source, text);
            }
            let text = if leads == NODE { "20" } else { "10" };
            world.check_fee(text, leads, PriceState::Agreed);
            assert_eq!(world.fee_mark(), None);
            let voices = world.fee_voices();
            let voice = voices.iter().find(|voice| voice.source == NODE).unwrap();
            assert_eq!((voice.kind, voice.standing), (kind, Standing::Agrees));
        }
    }
    // What it reckons is better than nothing.
    let mut world = clock(CORE);
    world.fee(NODE, "7");
    world.check_fee("7", NODE, PriceState::Single);
    world.fee(RELAY, "6");
    world.check_fee("6", RELAY, PriceState::Agreed);
    world.hear(RELAY, down());
    world.check_fee("7", NODE, PriceState::Single);
}

#[test]
fn rates_agree_within_a_factor_and_an_estimate_within_a_wider_one() {
    // What the node speaks, what relay and node tell, whose is shown, and whether they agree.
    let rows = [
        (ELECTRUM, "10", "20", NODE, true),
        (ELECTRUM, "20", "10", NODE, true),
        (ELECTRUM, "10", "20.1", NODE, false),
        (ELECTRUM, "20.1", "10", NODE, false),
        // Many servers count in whole satoshis.
        (ELECTRUM, "0.2", "1", NODE, true),
        (ELECTRUM, "0.2", "1.2", NODE, true),
        (ELECTRUM, "0.2", "1.3", NODE, false),
        (CORE, "10", "40", RELAY, true),
        (CORE, "40", "10", RELAY, true),
        (CORE, "10", "40.1", RELAY, false),
        (CORE, "40.1", "10", RELAY, false),
    ];
    for (node, relay, own, shown, agrees) in rows {
        let mut world = clock(node);
        world.fee(RELAY, relay);
        world.fee(NODE, own);
        let text = if shown == NODE { own } else { relay };
        let state = match agrees {
            true => PriceState::Agreed,
            false => PriceState::Disputed,
        };
        world.check_fee(text, shown, state);
        // Nothing good was shown before.
        let mark = (!agrees).then_some(Mark::Disputed);
        assert_eq!(world.fee_mark(), mark, "{relay} and {own}");
        assert_eq!(world.device.view().disputed, !agrees);
        // Who does not want marks gets none.
        world.set("proofMode", json!(0));
        assert_eq!(world.fee_mark(), None);
        assert_eq!(world.fee_state(), state);
    }
}

#[test]
fn a_contradiction_is_shown_after_two_minutes_and_then_with_its_sign() {
    let mut world = clock(ELECTRUM);
    world.fee(RELAY, "10");
    world.fee(NODE, "11");
    world.wait(60);
    world.fee(NODE, "90");
    world.check_fee("11", NODE, PriceState::Disputed);
    assert_eq!(world.fee_standing(NODE), Standing::Apart);
    assert_eq!(world.fee_standing(RELAY), Standing::Agrees);
    world.wait(DOUBT - 1);
    world.check_fee("11", NODE, PriceState::Disputed);
    assert_eq!(world.fee_mark(), None);
    // Nobody says anything: it has a deadline of its own.
    world.wait(1);
    world.check_fee("90", NODE, PriceState::Disputed);
    assert_eq!(world.fee_mark(), Some(Mark::Disputed));
    world.wait(60);
    world.fee(NODE, "80");
    world.check_fee("80", NODE, PriceState::Disputed);
    // It is over at once.
    world.fee(RELAY, "70");
    world.check_fee("80", NODE, PriceState::Agreed);
    assert_eq!(world.fee_mark(), None);
    // The next one has its own two minutes.
    world.wait(10);
    world.fee(RELAY, "5");
    world.check_fee("80", NODE, PriceState::Disputed);
    assert_eq!(world.fee_mark(), None);
}

#[test]
fn what_nobody_says_any_more_is_not_kept() {
    let mut world = clock(ELECTRUM);
    world.fee(RELAY, "10");
    world.fee(NODE, "10");
    world.wait(60);
    world.fee(NODE, "300");
    world.check_fee("10", NODE, PriceState::Disputed);
    world.fee(RELAY, "50");
    world.check_fee("300", NODE, PriceState::Disputed);
    assert_eq!(world.fee_mark(), Some(Mark::Disputed));
}

#[test]
fn a_lone_rate_that_is_contradicted_stays_for_two_minutes() {
    let mut world = clock(CORE);
    world.fee(RELAY, "10");
    world.wait(30);
    world.fee(NODE, "90");
    world.check_fee("10", RELAY, PriceState::Disputed);
    assert_eq!(world.fee_mark(), None);
    // A ring that is due does not go before the sign comes.
    world.wait(DOUBT - 30);
    assert_eq!(world.fee_mark(), Some(Mark::Alone));
    world.wait(30);
    assert_eq!(world.fee_mark(), Some(Mark::Disputed));
}

#[test]
fn what_cannot_be_is_refused_and_told() {
    let most = FEE_MOST_SAT_VB.to_string();
    let too_much = format!("{most}.01");
    for absurd in ["0", "0.0000001", too_much.as_str(), "1000000000"] {
        let mut world = clock(0);
        world.fee(RELAY, absurd);
        assert_eq!(world.fee_shown(), None, "{absurd}");
        assert_eq!(world.fee_state(), PriceState::Stale);
        assert_eq!(world.fee_standing(RELAY), Standing::Out);
        assert!(world.dropped(RELAY, "fee-impossible") > 0);
        world.fee(RELAY, "5");
        world.check_fee("5", RELAY, PriceState::Single);
        // What was good stays, and gets a sign when it has been contradicted for two minutes.
        world.wait(10);
        world.fee(RELAY, absurd);
        world.check_fee("5", RELAY, PriceState::Disputed);
        world.wait(DOUBT - 1);
        assert_eq!(world.fee_mark(), None, "{absurd}");
        world.wait(1);
        world.check_fee("5", RELAY, PriceState::Disputed);
        assert_eq!(world.fee_mark(), Some(Mark::Disputed));
        // However often it is said: what is shown grows old.
        while world.secs() < 5 + FRESH {
            world.wait(60);
            world.fee(RELAY, absurd);
        }
        world.check_fee("5", RELAY, PriceState::Stale);
        assert_eq!(world.fee_mark(), Some(Mark::Stale), "{absurd}");
        // A witness that tells what can be is alone.
        let mut world = clock(ELECTRUM);
        world.fee(RELAY, absurd);
        world.fee(NODE, "5");
        world.check_fee("5", NODE, PriceState::Disputed);
        assert_eq!(world.fee_mark(), Some(Mark::Disputed));
    }
    let mut world = clock(0);
    world.fee(RELAY, &most);
    world.check_fee(&most, RELAY, PriceState::Single);
}

/// In whole satoshis nought is what rounds to it.
#[test]
fn nought_without_decimals_is_less_than_half_and_gives_way_to_who_tells_more() {
    let mut world = clock(ELECTRUM);
    world.set("blockFeeDec", json!(false));
    world.hear(RELAY, Observation::Fee(rate("0")));
    world.check_fee("0", RELAY, PriceState::Single);
    world.hear(NODE, Observation::Fee(rate("0")));
    world.check_fee("0", NODE, PriceState::Agreed);
    world.hear(RELAY, Observation::Fee(rate("1")));
    world.check_fee("1", RELAY, PriceState::Agreed);
    world.hear(RELAY, Observation::Fee(rate("2")));
    assert_eq!(world.fee_state(), PriceState::Disputed);
}

#[test]
fn who_is_gone_or_old_leaves_the_word_to_the_other() {
    let mut world = clock(ELECTRUM);
    world.fee(RELAY, "10");
    world.fee(NODE, "12");
    world.hear(NODE, down());
    world.check_fee("10", RELAY, PriceState::Single);
    assert_eq!(world.fee_voices().len(), 1);
    world.fee(NODE, "12");
    world.wait(FRESH - 1);
    world.fee(RELAY, "13");
    world.check_fee("12", NODE, PriceState::Agreed);
    world.wait(1);
    world.check_fee("13", RELAY, PriceState::Single);
    assert_eq!(world.fee_standing(NODE), Standing::Old);
    // A rate that was told does not grow old by a connection that is lost.
    world.hear(RELAY, down());
    world.check_fee("13", RELAY, PriceState::Single);
    world.wait(FRESH - 2);
    world.check_fee("13", RELAY, PriceState::Single);
    assert_ne!(world.fee_mark(), Some(Mark::Stale));
    world.wait(1);
    world.check_fee("13", RELAY, PriceState::Stale);
    world.wait(1);
    assert_eq!(world.fee_mark(), Some(Mark::Stale));
}

/// A source that says the same for ever is found out by whoever is asked beside it.
#[test]
fn a_frozen_source_is_contradicted_or_grows_old() {
    // It repeats what it once said, and fees go on without it.
    let mut world = clock(CORE);
    world.fee(RELAY, "4");
    world.fee(NODE, "5");
    for minute in 0..6_u64 {
        world.wait(60);
        world.fee(RELAY, "4");
        world.fee(NODE, &(5 + minute * 6).to_string());
    }
    world.check_fee("4", RELAY, PriceState::Disputed);
    assert_eq!(world.fee_mark(), Some(Mark::Disputed));
    // It says nothing at all.
    let mut world = clock(0);
    world.fee(RELAY, "4");
    world.wait(FRESH);
    world.check_fee("4", RELAY, PriceState::Stale);
    world.wait(1);
    assert_eq!(world.fee_mark(), Some(Mark::Stale));
    assert!(world.device.view().stale);
}

#[test]
fn a_rate_of_an_earlier_run_is_old_until_somebody_says_one() {
    let mut before = clock(0);
    before.fee(RELAY, "9.5");
    // As it is stored.
    let memory = Memory::from_json(&before.device.memory().to_json(now(0)));
    let settings = (**before.device.settings()).clone();
    let chain = Some(ChainSpec::built_in(Network::Signet));
    let device = Device::on_chain(chain, BoardSpec::EXAMPLE, settings, memory, now(0));
    let mut world = World { device, secs: 0 };
    assert_eq!(world.fee_shown().unwrap().0, "9.50");
    assert_eq!(world.fee_state(), PriceState::Stale);
    world.fee(RELAY, "0");
    assert_eq!(world.fee_shown().unwrap().0, "9.50");
    world.fee(RELAY, "3");
    world.check_fee("3", RELAY, PriceState::Single);
}

#[test]
fn most_who_tell_the_same_outvote_the_one_who_leads() {
    let mut world = with(ELECTRUM, BESIDE);
    world.wait(100);
    world.fee(RELAY, "10");
    world.fee(NODE, "10");
    world.pass_fee_on(EXPLORER, 5, "11");
    world.check_fee("10", NODE, PriceState::Agreed);
    world.wait(10);
    // A node that has just been started knows little of what waits.
    world.fee(NODE, "1");
    world.check_fee("10", RELAY, PriceState::Agreed);
    assert_eq!(world.fee_standing(NODE), Standing::Apart);
    world.wait(DOUBT);
    assert_eq!(world.fee_mark(), None);
}

#[test]
fn what_another_clock_passes_on_is_as_old_as_it_is_and_no_second_voice() {
    let mut world = with(0, BESIDE);
    world.wait(7200);
    world.fee(RELAY, "10");
    // The relay that another clock asks is the relay, only later.
    world.pass_fee_on(RELAY, 1, "40");
    world.check_fee("10", RELAY, PriceState::Single);
    assert_eq!(world.fee_standing(SHARED), Standing::Old);
    world.pass_fee_on(EXPLORER, 1, "40");
    world.check_fee("10", RELAY, PriceState::Disputed);
    world.wait(DOUBT);
    assert_eq!(world.fee_mark(), Some(Mark::Disputed), "it was asked for");
    // Nobody says what kind of rate a node tells.
    world.pass_fee_on(NODE, 1, "40");
    world.check_fee("10", RELAY, PriceState::Agreed);
    world.pass_fee_on(NODE, 1, "41");
    assert_eq!(world.fee_state(), PriceState::Disputed);
    // Nor does it take anything newer away.
    world.hear(RELAY, down());
    world.hear(SHARED, down());
    world.pass_fee_on(EXPLORER, 600, "30");
    world.check_fee("10", RELAY, PriceState::Single);
    world.pass_fee_on(EXPLORER, 30, "31");
    world.check_fee("31", SHARED, PriceState::Single);
    world.wait(FRESH - 30);
    world.check_fee("31", SHARED, PriceState::Stale);
    // Something old is better than nothing, and marked.
    let mut world = with(0, INSTEAD);
    world.wait(9000);
    world.pass_fee_on(RELAY, FRESH + 600, "8");
    world.check_fee("8", SHARED, PriceState::Stale);
    assert_eq!(world.fee_mark(), Some(Mark::Stale));
}

#[test]
fn where_several_share_the_newer_word_counts() {
    let mut world = with(0, INSTEAD);
    world.wait(1000);
    world.pass_fee_on(RELAY, 10, "8");
    world.pass_fee_on(EXPLORER, 40, "12");
    world.check_fee("8", SHARED, PriceState::Single);
    world.pass_fee_on(EXPLORER, 9, "12");
    world.check_fee("12", SHARED, PriceState::Single);
    // Nobody is there who would say so again.
    world.hear(SHARED, down());
    world.pass_fee_on(RELAY, 20, "8");
    assert_eq!(world.fee_voices()[0].origin, RELAY);
}

#[test]
fn a_sharer_that_is_back_is_heard_with_what_it_has() {
    let mut world = with(0, BESIDE);
    world.wait(1000);
    world.fee(RELAY, "10");
    world.pass_fee_on(EXPLORER, 10, "10");
    world.hear(SHARED, down());
    world.wait(5);
    // Of those who shared only one is back, who was told it before the other.
    world.pass_fee_on(EXPLORER, 45, "40");
    world.check_fee("10", RELAY, PriceState::Disputed);
}

#[test]
fn who_is_not_asked_any_more_is_not_heard() {
    let mut world = with(0, BESIDE);
    world.fee(RELAY, "10");
    world.pass_fee_on(EXPLORER, 0, "40");
    assert_eq!(world.fee_state(), PriceState::Disputed);
    world.set("mqttMarket", json!(0));
    world.check_fee("10", RELAY, PriceState::Single);
    world.pass_fee_on(EXPLORER, 0, "40");
    world.check_fee("10", RELAY, PriceState::Single);
    // In the place of the source it is the only one.
    world.set("mqttMarket", json!(INSTEAD));
    world.pass_fee_on(RELAY, 0, "40");
    world.check_fee("40", SHARED, PriceState::Single);
    world.fee(RELAY, "10");
    world.check_fee("40", SHARED, PriceState::Single);
}

#[test]
fn nobody_is_misled_by_what_is_invented() {
    let mut world = on(None, 0, BESIDE);
    world.fee(RELAY, "10");
    world.pass_fee_on(EXPLORER, 0, "90");
    assert_eq!(world.fee_state(), PriceState::Disputed);
    world.wait(600);
    assert_eq!(world.fee_mark(), None);
}

/// Whatever was due while the machine slept was due then.
#[test]
fn a_night_asleep_is_as_one_awake() {
    let night = |sleeps: bool| {
        let mut world = clock(ELECTRUM);
        world.fee(RELAY, "10");
        world.fee(NODE, "10");
        world.wait(60);
        world.fee(NODE, "90");
        match sleeps {
            true => world.secs += 8 * 3600,
            false => world.wait(8 * 3600),
        }
        world.fee(RELAY, "12");
        (world.fee_shown(), world.fee_state(), world.fee_mark())
    };
    assert_eq!(night(true), night(false));
}

/// Somebody says something.
type Word = (usize, usize);

const TEXTS: [&str; 8] = ["0", "0.4", "3", "5", "9", "40", "9000", "2000000"];

fn word(world: &mut World, (who, text): Word) {
    match who {
        0 => world.fee(RELAY, TEXTS[text]),
        1 => world.fee(NODE, TEXTS[text]),
        2 => world.pass_fee_on(EXPLORER, 20, TEXTS[text]),
        3 => world.hear(NODE, down()),
        _ => world.hear(RELAY, down()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// What is shown is somebody's word that can be, none past its age is unmarked, and none that most contradict is for
    /// longer than two minutes.
    #[test]
    fn nothing_wrong_is_shown_unmarked(
        kind in prop_oneof![Just(ELECTRUM), Just(CORE)],
        steps in prop::collection::vec((0..5_usize, 0..8_usize, prop_oneof![1..90_u64, 100..130_u64, 3000..4000_u64]), 1..24),
    ) {
        let mut world = with(kind, BESIDE);
        let mut apart_since = None;
        for (who, text, wait) in steps {
            word(&mut world, (who, text));
            // A word may end a dispute that another begins before anybody looks again.
            apart_since = apart_since.filter(|_| world.fee_state() == PriceState::Disputed);
            world.wait(wait);
            let (state, mark) = (world.fee_state(), world.fee_mark());
            let view = world.device.view();
            let Some(shown) = view.market.current_fee(&view.active) else { continue };
            let shown = shown.datum();
            let (micros, text) = (shown.value.micros, world.fee_shown().unwrap().0);
            prop_assert!(micros > 0 && micros <= FEE_MOST_SAT_VB * 1_000_000, "{text}");
            let age = shown.seen.age_at(Duration::from_secs(world.secs())).unwrap();
            prop_assert!(age <= STALE_FEE || mark == Some(Mark::Stale), "{text} is {age:?} old");
            match state {
                PriceState::Disputed => {
                    let since = *apart_since.get_or_insert(world.secs());
                    let is_due = world.secs() >= since + DOUBT;
                    prop_assert!(!is_due || mark >= Some(Mark::Disputed), "{text} since {since}");
                }
                PriceState::Agreed | PriceState::Single | PriceState::Stale => apart_since = None,
            }
            // Whoever is shown and speaks is none of those who were refused.
            let voice = world.fee_voices().into_iter().find(|voice| voice.source == shown.source);
            let is_out = voice.is_some_and(|voice| voice.rate == shown.value && voice.standing == Standing::Out);
            prop_assert!(!is_out, "{text}");
        }
    }

    #[test]
    fn the_order_of_words_changes_nothing(
        kind in prop_oneof![Just(ELECTRUM), Just(CORE)],
        rounds in prop::collection::vec(([0..8_usize, 0..8, 0..8], prop_oneof![Just(1_u64), Just(60), Just(125), Just(3601)]), 1..8),
        turns in prop::collection::vec(0..6_usize, 8),
    ) {
        const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let live = |turns: &[usize]| {
            let mut world = with(kind, BESIDE);
            world.wait(30);
            let mut told = Vec::new();
            for (at, (texts, wait)) in rounds.iter().enumerate() {
                for who in ORDERS[turns[at]] {
                    word(&mut world, (who, texts[who]));
                }
                for wait in [0, *wait] {
                    world.wait(wait);
                    told.push((world.fee_shown(), world.fee_voices(), world.fee_state(), world.fee_mark()));
                }
            }
            told
        };
        prop_assert_eq!(live(&[0; 8]), live(&turns));
    }
}
