//! What clocks share with each other: what is written is read again, with its age; what a clock has not at first hand is
//! not written; what nobody would write is not read.

use std::time::Duration;

use device::{
    board::BoardSpec,
    device::Device,
    input::{Input, LinkEvent},
    limits::{CURRENCIES_MAX, SHARED_AGE_MAX, SHARED_AHEAD_MAX, SHARED_SILENCE_MAX},
    market::{Observation, Shared, SharedValue},
    memory::Memory,
    now::{Now, UtcTime},
    secret::Endpoint,
    settings::{Settings, data_source},
    sources::SourceId,
    units::{Currency, FeeRate, Price},
};
use interface::mqtt::shared::{self, Reached, SharedMarket, Worthless};
use proptest::prelude::*;
use serde_json::{Value, json};

/// 2026-01-01, s since 1970-01-01 UTC.
const START: i64 = 1_767_225_600;

const KEPT: Reached = Reached::Kept;

fn at(secs: u64) -> Now {
    Now {
        uptime: Duration::from_secs(secs),
        utc: UtcTime::plausible((START + secs.cast_signed()) * 1000),
    }
}

/// A clock that has just started, and takes what others share beside what its own sources say.
fn clock() -> Device {
    let settings = Settings {
        data_source: data_source::EXPLORER,
        mqtt_enabled: true,
        mqtt_host: Endpoint::new("broker"),
        mqtt_market: 1,
        ..Settings::default()
    };
    let board = BoardSpec::EXAMPLE;
    let mut clock = Device::new(board, settings, Memory::default(), at(0));
    clock.handle(Input::Linked(LinkEvent::Unmanaged), at(0));
    clock
}

/// A clock that has learned something of every kind, each from another source.
fn knowing() -> Device {
    let mut clock = clock();
    let price = |text: &str| Price::parse(text).unwrap();
    let eur = Currency::parse("EUR").unwrap();
    for (secs, source, learned) in [
        (10, SourceId::Node, Observation::Block(930_000)),
        (
            20,
            SourceId::Exchange,
            Observation::Price(Currency::USD, price("64211.530001")),
        ),
        (30, SourceId::Relay, Observation::Price(eur, price("60000"))),
        (
            40,
            SourceId::Explorer,
            Observation::Fee(FeeRate::parse("3").unwrap()),
        ),
        (
            50,
            SourceId::Explorer,
            Observation::PreciseFee(FeeRate::parse("2.75").unwrap()),
        ),
    ] {
        clock.handle(Input::Observed(source, vec![learned]), at(secs));
    }
    clock
}

fn read(document: &Value) -> Result<SharedMarket, &'static str> {
    shared::read(document.to_string().as_bytes())
}

/// Prices in so many currencies, all of which say what the dollar's does.
fn prices(count: usize) -> Value {
    let usd = written()["prices"]["USD"].take();
    let code = |number: usize| {
        let letter = |at: usize| char::from(b'A' + u8::try_from(at).unwrap());
        format!("{}{}X", letter(number / 26), letter(number % 26))
    };
    (0..count)
        .map(|number| (code(number), usd.clone()))
        .collect()
}

fn written() -> Value {
    shared::document(&knowing().view(), "papertick-aabbcc", at(60)).unwrap()
}

#[test]
fn what_is_shared_says_who_said_so_and_when() {
    let entry = |value: Value, source: &str, secs: i64| json!({ "value": value, "source": source, "time": START + secs });
    assert_eq!(
        written(),
        json!({
            "from": "papertick-aabbcc",
            "chain": "main",
            "told": START + 60,
            "height": entry(930_000.into(), "node", 10),
            "fee": entry("3.000000".into(), "explorer", 40),
            "preciseFee": entry("2.750000".into(), "explorer", 50),
            "prices": {
                "USD": entry("64211.530001".into(), "exchange", 20),
                "EUR": entry("60000.000000".into(), "relay", 30),
            },
        })
    );
}

#[test]
fn what_was_written_is_read_with_its_age() {
    let market = read(&written()).unwrap();
    assert_eq!(market.from, "papertick-aabbcc");
    let worth = market.worth("main", KEPT, at(100)).unwrap();
    let shared = |origin, age, value| {
        Observation::Shared(Shared {
            origin,
            age: Duration::from_secs(age),
            value,
        })
    };
    let price = |text: &str| Price::parse(text).unwrap();
    let eur = Currency::parse("EUR").unwrap();
    assert_eq!(
        worth.observations,
        [
            shared(SourceId::Node, 90, SharedValue::Height(930_000)),
            shared(
                SourceId::Explorer,
                60,
                SharedValue::Fee(FeeRate::parse("3").unwrap())
            ),
            shared(
                SourceId::Explorer,
                50,
                SharedValue::PreciseFee(FeeRate::parse("2.75").unwrap())
            ),
            shared(SourceId::Relay, 70, SharedValue::Price(eur, price("60000"))),
            shared(
                SourceId::Exchange,
                80,
                SharedValue::Price(Currency::USD, price("64211.530001"))
            ),
        ]
    );
    // It was told 40 s ago.
    let left = SHARED_SILENCE_MAX - Duration::from_secs(40);
    assert_eq!(worth.lasts, Some(left));
    let later = market.worth("main", KEPT, at(60 + SHARED_SILENCE_MAX.as_secs()));
    assert_eq!(later.unwrap().lasts, None);
}

#[test]
fn what_came_from_another_clock_is_never_shared() {
    let (first, mut second) = (written(), clock());
    let worth = read(&first).unwrap().worth("main", KEPT, at(61)).unwrap();
    second.handle(
        Input::Observed(SourceId::Shared, worth.observations),
        at(61),
    );
    let market = second.view().market;
    assert!(market.height.is_some() && market.prices.len() == 2);
    assert_eq!(shared::document(&second.view(), "other", at(62)), None);
    // Beside it there is something of its own.
    let own = Observation::Price(Currency::USD, Price::parse("64300").unwrap());
    second.handle(Input::Observed(SourceId::Relay, vec![own]), at(62));
    let document = shared::document(&second.view(), "other", at(62)).unwrap();
    assert_eq!(
        document["prices"].as_object().unwrap().len(),
        1,
        "{document}"
    );
    assert_eq!(document.get("height"), None);
    // Nor over a restart.
    let kept = Memory::from_json(&second.memory().to_json(at(62)));
    let third = Device::new(BoardSpec::EXAMPLE, Settings::default(), kept, at(63));
    assert_eq!(third.view().market.prices.len(), 2);
    let document = shared::document(&third.view(), "other", at(63)).unwrap();
    assert_eq!(
        document["prices"].as_object().unwrap().len(),
        1,
        "{document}"
    );
    // And who says that it is so anyway is not believed.
    let mut looped = first;
    looped["prices"]["USD"]["source"] = "shared".into();
    assert_eq!(read(&looped), Err("shared-source"));
}

#[test]
fn a_clock_that_knows_nothing_or_no_time_shares_nothing() {
    assert_eq!(shared::document(&clock().view(), "me", at(60)), None);
    let timeless = Now {
        utc: None,
        ..at(60)
    };
    assert_eq!(shared::document(&knowing().view(), "me", timeless), None);
}

#[test]
fn what_nobody_would_write_is_refused() {
    type Spoil = fn(&mut Value);
    let rows: &[(&str, Spoil)] = &[
        ("shared-json", |it| *it = json!([])),
        ("shared-json", |it| *it = json!("x")),
        ("shared-member", |it| it["extra"] = 1.into()),
        ("shared-member", |it| it["height"]["extra"] = 1.into()),
        ("shared-member", |it| {
            it["prices"]["USD"]["extra"] = 1.into()
        }),
        ("shared-type", |it| it["told"] = "now".into()),
        ("shared-type", |it| it["told"] = json!(1.5)),
        ("shared-type", |it| it["from"] = 1.into()),
        ("shared-type", |it| it["chain"] = Value::Null),
        ("shared-type", |it| it["prices"] = json!([])),
        ("shared-type", |it| it["height"] = 930_000.into()),
        ("shared-type", |it| it["height"]["value"] = "930000".into()),
        ("shared-type", |it| it["height"]["value"] = json!(-1)),
        ("shared-type", |it| {
            it["height"]["value"] = json!(4_294_967_296_u64)
        }),
        ("shared-type", |it| it["height"]["time"] = json!("x")),
        ("shared-type", |it| it["fee"]["value"] = json!(3)),
        ("shared-type", |it| it["fee"]["value"] = "3.5".into()),
        ("shared-type", |it| it["preciseFee"]["value"] = json!("-3")),
        ("shared-type", |it| {
            it["prices"]["USD"]["value"] = json!("0.0")
        }),
        ("shared-type", |it| {
            it["prices"]["USD"]["value"] = json!("1e9")
        }),
        ("shared-type", |it| {
            it["prices"]["usd"] = it["prices"]["USD"].clone()
        }),
        ("shared-source", |it| {
            it["height"]["source"] = "wallet".into()
        }),
        ("shared-source", |it| {
            it["height"]["source"] = "elsewhere".into()
        }),
        ("shared-type", |it| it["height"]["source"] = Value::Null),
        ("shared-many", |it| {
            it["prices"] = prices(CURRENCIES_MAX + 1)
        }),
    ];
    for (reason, spoil) in rows {
        let mut document = written();
        spoil(&mut document);
        assert_eq!(read(&document), Err(*reason), "{document}");
    }
    let mut full = written();
    full["prices"] = prices(CURRENCIES_MAX);
    assert!(read(&full).is_ok(), "as many as there can be");
    assert_eq!(shared::read(b"{"), Err("shared-json"));
    assert_eq!(shared::read(&[0xFF; 9]), Err("shared-json"));
    let deep = "[".repeat(10_000);
    assert_eq!(shared::read(deep.as_bytes()), Err("shared-json"));
}

#[test]
fn what_is_of_another_time_or_chain_is_refused() {
    let worth = |document: &Value, secs| read(document).unwrap().worth("main", KEPT, at(secs));
    let mut other = written();
    other["chain"] = "demo".into();
    assert_eq!(worth(&other, 60), Err(Worthless::Refused("chain")));

    let (ahead, old) = (SHARED_AHEAD_MAX.as_secs(), SHARED_AGE_MAX.as_secs());
    let mut document = written();
    let told =
        |document: &mut Value, secs: u64| document["told"] = (START + secs.cast_signed()).into();
    told(&mut document, 100 + ahead);
    assert!(worth(&document, 100).is_ok());
    told(&mut document, 101 + ahead);
    assert_eq!(worth(&document, 100), Err(Worthless::Refused("future")));
    assert_eq!(
        worth(&written(), 61 + old),
        Err(Worthless::Refused("too-old"))
    );
    for time in [i64::MAX, i64::MIN] {
        document["told"] = time.into();
        assert!(worth(&document, 100).is_err());
    }

    // One value of another time costs that value.
    let mut document = written();
    document["height"]["time"] = (START + 10_000).into();
    document["fee"]["time"] = (START - 100_000).into();
    let observations = worth(&document, 60).unwrap().observations;
    let dropped = |reason| observations.contains(&Observation::Dropped(reason, 1));
    assert!(dropped("future") && dropped("too-old"), "{observations:?}");
    assert_eq!(observations.len(), 5);
}

#[test]
fn without_the_time_only_what_is_told_just_now_has_an_age() {
    let market = read(&written()).unwrap();
    let timeless = |secs| Now {
        utc: None,
        ..at(secs)
    };
    assert_eq!(
        market.worth("main", KEPT, timeless(7)),
        Err(Worthless::NoTime)
    );
    // The height was 50 s old when it was told, and that is 3 s ago.
    let live = Reached::Live(Duration::from_secs(4));
    let worth = market.worth("main", live, timeless(7)).unwrap();
    let is_height = |shared: &Shared| matches!(shared.value, SharedValue::Height(_));
    let age = worth.observations.iter().find_map(|it| {
        let Observation::Shared(shared) = it else {
            return None;
        };
        is_height(shared).then_some(shared.age)
    });
    assert_eq!(age, Some(Duration::from_secs(53)));
    assert_eq!(
        worth.lasts,
        Some(SHARED_SILENCE_MAX - Duration::from_secs(3))
    );
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[0-9.]{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["relay", "node", "shared", "main"]).prop_map(Value::from),
    ];
    let name = prop::sample::select(vec![
        "from",
        "chain",
        "told",
        "height",
        "fee",
        "preciseFee",
        "prices",
        "value",
        "source",
        "time",
        "USD",
        "x",
    ]);
    leaf.prop_recursive(3, 40, 8, move |inner| {
        prop::collection::btree_map(name.clone().prop_map(String::from), inner, 0..8)
            .prop_map(|members| members.into_iter().collect())
    })
}

proptest! {
    /// Whatever is there, nothing is taken that is from the future or too old.
    #[test]
    fn anything_can_stand_there(spoilt in any_value(), name in 0..7usize, secs in any::<u32>(), live in any::<bool>()) {
        let mut document = written();
        let names = ["from", "chain", "told", "height", "fee", "preciseFee", "prices"];
        document[names[name]] = spoilt.clone();
        for document in [document, spoilt] {
            let Ok(market) = read(&document) else { continue };
            let reached = if live { Reached::Live(Duration::ZERO) } else { KEPT };
            if let Ok(worth) = market.worth("main", reached, at(secs.into())) {
                for observation in worth.observations {
                    if let Observation::Shared(shared) = observation {
                        prop_assert!(shared.age <= SHARED_AGE_MAX);
                        prop_assert!(shared.origin.is_first_hand());
                    }
                }
            }
        }
    }
}
