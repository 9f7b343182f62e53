//! The panels show a correct value for every number, currency and flag.

use std::{sync::Arc, time::Duration};

use device::{
    cells::Cell,
    screens::{SCREENS, Scene, catalog, issuance, payment, row, suffix, zap},
    settings::{
        Key, SPECS, Settings,
        spec::{Apply, Component, Spec},
    },
};
use market::{
    Datum, Direction, Figure, FigureIdentity, HeightState, HeightTruth, Market, MinerStats,
    Payment, PoolStats, Prices, Proven, Seen, Zap,
    logo::Logo,
    now::LocalTime,
    source_id::SourceId,
    units::{Currency, FeeRate, Hashrate, MICRO, Msats, Price, SATS_PER_BTC, Sats},
};
use proptest::prelude::*;

use crate::reading::Reading;

/// Largest number that is tested.
const MAX: u64 = 1_000_000_000_000_000;

/// Four times as many cases as `PROPTEST_CASES`.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: default.cases * 4,
        failure_persistence: None,
        ..default
    }
}

/// Numbers of every magnitude, and numbers at which rounding or the number of digits changes.
fn number() -> impl Strategy<Value = u64> {
    let magnitude = (0..=15u32).prop_flat_map(|exponent| 0..=10u64.pow(exponent));
    let starts = prop::sample::select(vec![1, 5, 25, 75, 95, 96, 99, 995, 9995, 99_995, 999_995]);
    let edge = (0..=15u32, starts, 0..3u64).prop_map(|(exponent, start, nudge)| {
        let edge = 10u64.pow(exponent).saturating_mul(start).min(MAX);
        (edge + nudge).saturating_sub(1).min(MAX)
    });
    prop_oneof![magnitude, edge]
}

fn currency() -> impl Strategy<Value = Currency> {
    let known = ["USD", "EUR", "GBP", "CAD", "CHF", "AUD", "JPY"]
        .map(String::from)
        .to_vec();
    let code = prop_oneof![prop::sample::select(known), "[A-Z]{3}"];
    code.prop_map(|code| Currency::parse(&code).unwrap())
}

fn panels() -> impl Strategy<Value = usize> {
    7..=8usize
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

fn show(
    screen: u16,
    market: &Market,
    settings: &Settings,
    currency: Currency,
    panels: usize,
) -> Vec<Cell> {
    let scene = Scene {
        market,
        truth: HeightTruth::default(),
        settings,
        local: None,
        currency,
        panels,
    };
    let cells = (catalog::find(screen).unwrap().cells)(&scene);
    assert_eq!(cells.len(), panels);
    cells
}

/// The number after the label. `None` if the panels are blank.
fn behind_label(cells: &[Cell]) -> Option<Reading> {
    Reading::of(&cells[usize::from(matches!(cells[0], Cell::Label { .. }))..])
}

/// The number between the identity and the unit.
fn between(cells: &[Cell]) -> (Reading, String) {
    let (unit, number) = cells[1..].split_last().unwrap();
    (Reading::of(number).unwrap(), unit.mirror())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn ticker_shows_the_price(
        units in number(), below in 0..MICRO, currency in currency(), settings in settings(),
        panels in panels(),
    ) {
        let price = Price { micros: units.min(MAX / 1000) * MICRO + below };
        let shown = show(20, &price_of(currency, price.micros), &settings, currency, panels);
        let rounded = u128::from(price.rounded());
        match behind_label(&shown) {
            None => prop_assert!(rounded > 2_000_000_000),
            Some(shown) if shown.unit == 1 => {
                prop_assert!(shown.is_nearest(price.micros.into(), MICRO.into())
                    || shown.is_nearest(rounded, 1));
            }
            Some(shown) if settings.mow_mode => prop_assert!(shown.is_cut_off(rounded, 1)),
            Some(shown) => prop_assert!(shown.is_nearest(rounded, 1)),
        }
    }

    #[test]
    fn sats_per_currency_is_the_inverse_of_the_price(
        micros in number(), currency in currency(), settings in settings(), panels in panels(),
    ) {
        let shown = show(10, &price_of(currency, micros), &settings, currency, panels);
        let satoshis = u128::from(SATS_PER_BTC * MICRO);
        match behind_label(&shown) {
            None => prop_assert!(micros == 0 || satoshis > 4_000_000_000 * u128::from(micros)),
            Some(shown) if shown.unit == 1 => {
                prop_assert!(shown.is_nearest(satoshis, micros.into()));
            }
            Some(shown) => {
                let rounded = (satoshis + u128::from(micros / 2)) / u128::from(micros);
                prop_assert!(shown.is_nearest(rounded, 1));
            }
        }
    }

    #[test]
    fn market_cap_is_price_times_supply(
        units in number(), height in 0..8_000_000u32, currency in currency(),
        settings in settings(), panels in panels(),
    ) {
        let price = Price { micros: units.min(MAX / 1000) * MICRO };
        let market = Market { height: datum(height), ..price_of(currency, price.micros) };
        let shown = show(30, &market, &settings, currency, panels);
        match behind_label(&shown) {
            None => prop_assert!(price.rounded() > 2_000_000_000),
            Some(shown) => {
                let cap = u128::from(price.rounded()) * u128::from(issuance::mined_btc(height));
                prop_assert!(shown.is_nearest(cap, 1));
            }
        }
    }

    #[test]
    fn numbers_with_letters_fit_their_width(value in number(), width in 5..=7usize) {
        let nearest = suffix::suffixed(value, width);
        prop_assert!(nearest.len() <= width, "{nearest}");
        let read = |text: &str| Reading::of(&row::digits(text)).unwrap();
        prop_assert!(read(&nearest).is_nearest(value.into(), 1), "{nearest}");
        let millions = suffix::in_millions(value, width.max(6));
        prop_assert!(millions.len() <= width.max(6), "{millions}");
        prop_assert!(read(&millions).is_cut_off(value.into(), 1), "{millions}");
    }

    #[test]
    fn chain_screens_show_the_height(
        height in prop_oneof![0..2_000_000u32, any::<u32>()], settings in settings(),
        panels in panels(),
    ) {
        let market = Market { height: datum(height), ..Market::default() };
        let show = |screen| show(screen, &market, &settings, Currency::USD, panels);
        // Leading digits are cut if all panels together are too short for the height.
        let last_digits = u128::from(height) % 10u128.pow(panels.try_into().unwrap());
        prop_assert!(behind_label(&show(0)).unwrap().is_nearest(last_digits, 1));

        let to_go = u128::from(issuance::blocks_to_halving(height));
        let halving = show(4);
        if settings.use_blk_countdown {
            prop_assert!(behind_label(&halving).unwrap().is_nearest(to_go, 1));
        } else {
            prop_assert_eq!(minutes(&halving), to_go * 10);
        }

        let supply = behind_label(&show(40)).unwrap();
        let mined = u128::from(issuance::mined_btc(height));
        if settings.supply_percent {
            prop_assert!(supply.is_nearest(mined * 1_000_000, 209_999_999_769));
        } else {
            prop_assert!(supply.is_nearest(mined, 1));
        }
    }

    #[test]
    fn fee_screen_shows_the_rate(
        micros in number(), settings in settings(), precise in any::<bool>(), panels in panels(),
    ) {
        let fee = figure(FeeRate { micros });
        let market = if precise { Market { precise_fee: fee, ..Market::default() } } else { Market { fee, ..Market::default() } };
        let cells = show(6, &market, &settings, Currency::USD, panels);
        let (shown, unit) = between(&cells);
        prop_assert_eq!(unit, "sat/vB");
        // Leading digits are cut if even the whole number is too long.
        let limit = 10u128.pow((panels - 2).try_into().unwrap());
        let whole = (u128::from(micros) + 500_000) / 1_000_000;
        let right = if whole < limit { shown.is_nearest(micros.into(), MICRO.into()) } else { shown.is_nearest(whole % limit, 1) };
        prop_assert!(right, "{shown:?}");
    }

    #[test]
    fn pool_screens_show_hashrate_and_earnings(
        hashes in number(), scale in 0..=10u32, daily in number(), panels in panels(),
    ) {
        let settings = Settings::default();
        let hashrate = Hashrate(u128::from(hashes) * 10u128.pow(scale));
        let stats = PoolStats { hashrate: Some(hashrate), daily: Some(Sats(daily)), ..PoolStats::default() };
        let market = Market { pool: figure(stats), ..Market::default() };
        let (shown, unit) = between(&show(70, &market, &settings, Currency::USD, panels));
        prop_assert!(shown.is_nearest(hashrate.0, hashes_per(&unit)));

        let (shown, unit) = between(&show(71, &market, &settings, Currency::USD, panels));
        let unit = if unit == "BTC" { SATS_PER_BTC } else { 1 };
        prop_assert!(shown.is_cut_off(daily.into(), unit.into()));
    }

    #[test]
    fn miner_screen_shows_the_hashrate(hashes in number(), panels in panels()) {
        let hashrate = Some(Hashrate(hashes.into()));
        let miner = MinerStats { hashrate, best_difficulty: None };
        let market = Market { miner: figure(miner), ..Market::default() };
        let cells = show(80, &market, &Settings::default(), Currency::USD, panels);
        let (shown, unit) = between(&cells);
        prop_assert!(shown.is_nearest(hashes.into(), hashes_per(&unit)));
    }

    #[test]
    fn amounts_are_shown(sats in number(), settings in settings(), panels in panels()) {
        let msats = Msats(sats * 1000);
        let market = Market { balance: figure(msats), ..Market::default() };
        let balance = show(90, &market, &settings, Currency::USD, panels);
        let shown = Reading::of(&balance[usize::from(matches!(balance[1], Cell::Icon(_))) + 1..]);
        if sats < SATS_PER_BTC {
            prop_assert!(shown.unwrap().is_nearest(sats.into(), 1));
        } else {
            let bitcoin = shown.unwrap();
            let whole = u128::from(sats / SATS_PER_BTC);
            prop_assert!(bitcoin.is_nearest(sats.into(), SATS_PER_BTC.into())
                || bitcoin.is_nearest(whole, 1));
        }

        let zap = Zap { amount: Sats(sats), message: String::new() };
        let shown = zap::cells(&zap, &settings, panels);
        prop_assert!(Reading::of(&shown[2..]).unwrap().is_nearest(sats.into(), 1));

        let payment = Payment { direction: Some(Direction::Sent), amount: msats };
        let shown = Reading::of(&payment::cells(&payment, &settings, panels)[2..]).unwrap();
        prop_assert!(shown.is_nearest(sats.into(), 1)
            || shown.is_nearest(sats.into(), SATS_PER_BTC.into()));
    }

    #[test]
    fn every_screen_fills_any_board(
        settings in settings(), currency in currency(), panels in 0..=12usize,
        numbers in any::<[u64; 6]>(), known in any::<[bool; 8]>(), words in ".{0,12}",
        pool in "[a-z_ ]{0,20}",
    ) {
        let settings = Settings { mining_pool_name: pool.clone(), ..settings };
        let market = anything(numbers, known, words, pool, currency);
        let minute = LocalTime { year: 2026, month: 12, day: 31, hour: 9, minute: 5, second: 59 };
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
            truth,
            settings: &settings,
            local: known[0].then_some(minute),
            currency,
            panels,
        };
        for screen in SCREENS {
            prop_assert_eq!((screen.cells)(&scene).len(), panels, "{}", screen.name);
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

/// Minutes in the halving's panels of years, days, hours and minutes.
fn minutes(cells: &[Cell]) -> u128 {
    let parts = [("YRS", 525_600), ("DAYS", 1440), ("HRS", 60), ("MINS", 1)];
    let part = |name: &str| {
        cells.iter().find_map(|cell| {
            let Cell::Unit { top, bottom } = cell else {
                return None;
            };
            top.parse::<u128>().ok().filter(|_| bottom == name)
        })
    };
    parts
        .iter()
        .map(|(name, minutes)| part(name).unwrap() * minutes)
        .sum()
}

/// Hashes per second of a unit such as `TH/S`.
fn hashes_per(unit: &str) -> u128 {
    let letters = [
        "H/S", "KH/S", "MH/S", "GH/S", "TH/S", "PH/S", "EH/S", "ZH/S",
    ];
    let thousands = letters.iter().position(|known| *known == unit).unwrap();
    1000u128.pow(thousands.try_into().unwrap())
}
