//! Every screen fills a board with any number of panels, whichever values are known.

use std::{sync::Arc, time::Duration};

use device::{
    screens::{SCREENS, Scene, payment, zap},
    settings::{
        Key, SPECS, Settings,
        spec::{Apply, Component, Spec},
    },
};
use market::{
    Datum, Figure, FigureIdentity, HeightState, HeightTruth, MarkReasons, Market, MinerStats,
    Payment, PoolStats, Prices, Proven, Seen, Zap,
    logo::Logo,
    now::{Now, UtcTime, Zone},
    source_id::SourceId,
    units::{Currency, FeeRate, Hashrate, Msats, Price, Sats},
};
use proptest::prelude::*;

/// Four times as many cases as `PROPTEST_CASES`.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: default.cases * 4,
        failure_persistence: None,
        ..default
    }
}

fn currency() -> impl Strategy<Value = Currency> {
    let known = ["USD", "EUR", "GBP", "CAD", "CHF", "AUD", "JPY"]
        .map(String::from)
        .to_vec();
    let code = prop_oneof![prop::sample::select(known), "[A-Z]{3}"];
    code.prop_map(|code| Currency::parse(&code).unwrap())
}

/// Random values of every switch that acts on the panels.
fn settings() -> impl Strategy<Value = Settings> {
    let acts_on_panels = |spec: &&Spec| match spec.apply {
        Apply::Live(components) => components.contains(&Component::Panels),
        Apply::Reboot => false,
    };
    let switches = SPECS.iter().filter(acts_on_panels);
    let switches = switches.filter(|spec| spec.kind.control()["control"] == "switch");
    let keys: Vec<Key> = switches.map(|spec| spec.key).collect();
    let values = prop::collection::vec(any::<bool>(), keys.len());
    (values, 0..=2u32).prop_map(move |(values, price_sym_mode)| {
        let mut settings = Settings {
            price_sym_mode,
            ..Settings::default()
        };
        for (key, value) in keys.iter().zip(values) {
            settings.set(*key, &value.into());
        }
        settings
    })
}

fn datum<T>(value: T) -> Option<Datum<T>> {
    Some(Datum {
        value,
        source: SourceId::Relay,
        seen: Seen::At(Duration::ZERO),
    })
}

fn figure<T>(value: T) -> Option<Figure<T>> {
    Some(Figure {
        datum: datum(value)?,
        identity: FigureIdentity::default(),
        failed_polls: 0,
    })
}

fn price_of(currency: Currency, micros: u64) -> Market {
    let prices = Prices::from([(currency, datum(Price { micros }).unwrap())]).into();
    Market {
        prices,
        ..Market::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_screen_fills_any_board(
        settings in settings(), currency in currency(), panels in 0..=12usize,
        numbers in any::<[u64; 6]>(), known in any::<[bool; 8]>(), words in ".{0,12}",
        pool in "[a-z_ ]{0,20}",
    ) {
        let settings = Settings { mining_pool_name: pool.clone(), ..settings };
        let market = anything(numbers, known, words, pool, currency);
        let now = Now {
            uptime: Duration::ZERO,
            utc: UtcTime::plausible(1_798_707_959_000).filter(|_| known[0]),
        };
        let truth = HeightTruth {
            state: HeightState::ALL[usize::from(known[1]) + usize::from(known[2]) * 2],
            proven: known[3].then_some(Proven {
                agreeing: usize::from(numbers[2] as u16),
                hash_end: numbers[3] as u16,
                age_mins: known[4].then_some(numbers[4]),
            }),
        };
        let scene = Scene {
            market: &market,
            mark_reasons: &MarkReasons::default(),
            truth,
            history: None,
            mark: None,
            settings: &settings,
            now,
            zone: &Zone::utc(),
            currency,
            panels,
        };
        for screen in SCREENS {
            prop_assert_eq!((screen.cells)(&scene).len(), panels, "{}", screen.name);
            prop_assert!(!(screen.tile)(&scene).figures.is_empty(), "{}", screen.name);
        }
        let zap = Zap { amount: Sats(numbers[0]), message: String::new() };
        prop_assert_eq!(zap::cells(&zap, &settings, panels).len(), panels);
        let payment = Payment { direction: None, amount: Msats(numbers[1]) };
        prop_assert_eq!(payment::cells(&payment, &settings, panels).len(), panels);
    }
}

/// A market in which any value may be known.
fn anything(
    numbers: [u64; 6],
    known: [bool; 8],
    words: String,
    pool: String,
    currency: Currency,
) -> Market {
    let fee = |index: usize| {
        known[index].then(|| {
            figure(FeeRate {
                micros: numbers[index],
            })
        })?
    };
    let figures = PoolStats {
        hashrate: Some(Hashrate(u128::from(numbers[3]) * u128::from(numbers[4]))),
        daily: known[3].then_some(Sats(numbers[4])),
        ..PoolStats::default()
    };
    let miner = MinerStats {
        hashrate: known[4].then_some(Hashrate(u128::from(numbers[4]) * u128::from(numbers[5]))),
        best_difficulty: known[5].then_some(words),
    };
    let logo = Logo {
        name: pool,
        width: 1,
        height: 1,
        rows: vec![0],
    };
    let prices = if known[0] { price_of(currency, numbers[0]).prices } else { Arc::default() };
    Market {
        height: known[1]
            .then(|| datum(u32::try_from(numbers[1] >> 32).unwrap()))
            .flatten(),
        fee: fee(1),
        precise_fee: fee(2),
        prices,
        pool: if known[6] { figure(figures) } else { None },
        pool_logo: known[7].then(|| Arc::new(logo)),
        miner: if known[6] { figure(miner) } else { None },
        balance: if known[2] { figure(Msats(numbers[5])) } else { None },
    }
}
