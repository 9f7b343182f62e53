//! The documents with the state of the clock, validated with their schemas.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use api::{
    mqtt::documents,
    schema::Word,
    shape::{Shape, sent},
    status::{
        DiskSpace, FirmwareStatus, HostMemory, PanelRefreshes, PanelStatus, Status, Surroundings,
        SystemStatus, Widget,
    },
};
use device::{
    board::PanelFault,
    device::Device,
    input::{BrokerEvent, Input, LinkEvent, LinkFailure, Sensed},
    memory::Memory,
    network::LinkState,
    refresh::Refresh,
    releases::{Release, ReleaseCheck, ReleaseVerdict},
    request::{Changed, Patch, Request},
    secret::{Endpoint, Secret},
    settings::Settings,
    sources::{self, ByHand},
    spoken,
    view::{SourceState, View},
};
use market::{
    Connection, Datum, Figure, FigureIdentity, HeightState, Market, MinerStats, Observation,
    Polled, PoolStats, PriceState, Reorganisations, Seen, Tip,
    now::UtcTime,
    source_id::SourceId,
    units::{Currency, FeeRate, Hashrate, Msats, Price, Sats},
};
use serde_json::{Map, Value, json};

use crate::{
    clock::{BARE, BOARD, clock, now, reply},
    mqtt,
};

const MEMORY: HostMemory = HostMemory {
    total: 4000,
    free: 3000,
    least_free: 2000,
    more_total: 500,
    more_free: 400,
    least_more_free: 300,
};

const REFRESHES: PanelRefreshes = PanelRefreshes {
    full: 1,
    partial: 0,
    failed: 0,
    full_age_sec: Some(0),
    full_ms: Some(2100),
    partial_ms: None,
};

const PANEL: PanelStatus = PanelStatus {
    age_sec: Some(7),
    refresh: Some(Word(Refresh::Partial)),
    partials: 12,
    partials_max: 200,
    refreshes: REFRESHES,
    fault: None,
    failures: 0,
    next_try_sec: None,
};

const BROKEN: PanelStatus = PanelStatus {
    age_sec: None,
    refresh: None,
    partials: 0,
    partials_max: 0,
    refreshes: REFRESHES,
    fault: Some(Word(PanelFault::NotRefreshed)),
    failures: 3,
    next_try_sec: Some(20),
};

fn status(view: &View, uptime: u64) -> Value {
    json!(Status::of(view, &surroundings(uptime)))
}

fn surroundings(uptime: u64) -> Surroundings {
    Surroundings {
        uptime: Duration::from_secs(uptime),
        utc: UtcTime::plausible(1_777_000_000_000 + i64::try_from(uptime).unwrap() * 1000),
        memory: MEMORY,
        panels: vec![PANEL, BROKEN],
        proxy: Some(SourceState {
            last_error: Some("refused".into()),
            ..SourceState::default()
        }),
        settings_tag: "1".into(),
    }
}

fn fits(shape: Shape, document: &Value) {
    let validator = jsonschema::validator_for(&shape.schema()).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?} in {document}");
}

/// The view of a clock after observations of a source.
fn view_after(source: SourceId, observations: Vec<Observation>) -> View {
    let mut clock = clock(BOARD);
    clock.handle(Input::Sensed(Sensed::Millilux(12_340)), now(5));
    clock.handle(Input::Observed(source, observations), now(10));
    clock.handle(Input::TimeServer(Connection::Up), now(11));
    clock.view()
}

#[test]
fn the_status_of_a_clock_without_data_matches_its_schema() {
    for board in [BOARD, BARE] {
        let document = status(&clock(board).view(), 60);
        fits(sent::<Status>(), &document);
        assert_eq!(document["market"], json!({}));
        assert_eq!(document["timeServer"], Value::Null);
        assert_eq!(
            document["proxy"],
            json!({ "up": false, "lastError": "refused" })
        );
        assert_eq!(document.get("frontlight").is_some(), board.frontlight);
        assert_eq!(document.get("lightLevel"), None);
    }
}

#[test]
fn the_sentence_is_also_reported_in_parts() {
    let mut view = clock(BOARD).view();
    let height = spoken::BLOCK_HEIGHT.with("height", spoken::number(900_123));
    view.sentence = spoken::MARKED
        .with("sentence", height)
        .with("mark", spoken::STALE);
    let document = status(&view, 60);
    fits(sent::<Status>(), &document);
    let sentence = "Block height 900,123. This is older than it should be.";
    assert_eq!(document["says"], sentence);
    let phrase = json!({
        "words": "{sentence} {mark}",
        "values": {
            "sentence": {
                "words": "Block height {height}.",
                "values": { "height": { "number": "900123" } },
            },
            "mark": { "words": "This is older than it should be.", "values": {} },
        },
    });
    assert_eq!(document["phrase"], phrase);
    view.sentence = spoken::VERBATIM.with("text", "HODL");
    let reported = &status(&view, 60)["phrase"]["values"];
    assert_eq!(reported, &json!({ "text": "HODL" }));
}

#[test]
fn sources_are_reported_with_claims_and_ages() {
    let mut clock = clock(BOARD);
    let (price, fee) = (
        Price::parse("64000.5").unwrap(),
        FeeRate { micros: 12_000_000 },
    );
    let own = vec![
        Observation::Price(Currency::USD, price),
        Observation::Fee(fee),
    ];
    clock.handle(Input::Observed(SourceId::Relay, own), now(10));
    let document = status(&clock.view(), 20);
    fits(sent::<Status>(), &document);
    let truth = &document["truth"];
    assert_eq!(
        truth["prices"]["USD"]["voices"],
        json!([{ "source": "relay", "value": "64000.50", "ageSec": 10, "verdict": "agrees" }])
    );
}

#[test]
fn values_are_reported_with_their_age() {
    let usd = Currency::parse("USD").unwrap();
    let view = view_after(
        SourceId::Relay,
        vec![
            Observation::Connection(Connection::Up),
            Observation::Block(840_000),
            Observation::Fee(FeeRate { micros: 12_000_000 }),
            Observation::Price(
                usd,
                Price {
                    micros: 65_000_250_000,
                },
            ),
            Observation::Price(Currency::parse("EUR").unwrap(), Price { micros: 123_456 }),
            Observation::Dropped("malformed", 2),
        ],
    );
    let document = status(&view, 70);
    fits(sent::<Status>(), &document);
    let market = json!({
        // The height is below the anchor.
        "height": {
            "value": 840_000, "source": "relay", "ageSec": 60, "state": "disputed",
        },
        "feeRate": { "value": "12.00", "source": "relay", "ageSec": 60, "state": "single" },
        "USD": { "value": "65000.25", "source": "relay", "ageSec": 60, "state": "single" },
        "EUR": { "value": "0.123456", "source": "relay", "ageSec": 60, "state": "single" },
    });
    assert_eq!(document["market"], market);
    let relay = json!({ "up": true, "ageSec": 60, "dropped": { "malformed": 2 } });
    assert_eq!(document["sources"]["relay"], relay);
    assert_eq!(document["timeServer"], json!({ "up": true, "ageSec": 59 }));
    assert_eq!(document["lightLevel"], 12.3);
    assert_eq!(document["disputed"], true);
    assert_eq!(document["espUptime"], 70);
    assert_eq!(document["espFreeHeap"], 3000);
    assert_eq!(document["espMinFreeHeap"], 2000);
}

#[test]
fn the_widget_has_four_public_values() {
    let widget = |view: &View| {
        let document = json!(Widget::of(view));
        fits(sent::<Widget>(), &document);
        let items = document["items"].as_array().unwrap().iter();
        items
            .map(|item| {
                ["title", "text", "subtext"]
                    .map(|name| item[name].as_str().unwrap().to_owned())
                    .join("|")
            })
            .collect::<Vec<_>>()
    };
    let empty = clock(BOARD).view();
    let unknown = [
        "Block|-|height",
        "Price|-|USD",
        "Fee rate|-|sat/vB",
        "Proof|-|0 sources",
    ];
    assert_eq!(widget(&empty), unknown);
    let price = |text| Price::parse(text).unwrap();
    let mut view = view_after(
        SourceId::Relay,
        vec![
            Observation::Block(840_000),
            Observation::Fee(FeeRate { micros: 12_300_000 }),
            Observation::Price(Currency::USD, price("65000.75")),
        ],
    );
    // The block is below the anchor.
    let known = [
        "Block|840,000|height",
        "Price|65,001|USD",
        "Fee rate|12.30|sat/vB",
        "Proof|Disputed|0 sources",
    ];
    assert_eq!(widget(&view), known);
    view.truth.fee = PriceState::Stale;
    view.truth.height = HeightState::Alone;
    view.truth.prices = Arc::default();
    let old = [
        "Block|840,000|height",
        "Price|65,001|USD, stale",
        "Fee rate|12.30|sat/vB, stale",
        "Proof|One source|0 sources",
    ];
    assert_eq!(widget(&view), old);
    // A chosen currency without a price is skipped.
    view.settings.active = Arc::new(Settings {
        act_currencies: ["JPY", "USD"]
            .map(|code| Currency::parse(code).unwrap())
            .to_vec(),
        block_fee_dec: false,
        ..Settings::default()
    });
    assert_eq!(
        widget(&view)[1..3],
        ["Price|65,001|USD, stale", "Fee rate|12|sat/vB, stale"]
    );
}

#[test]
fn figures_of_pool_miner_and_wallet_are_reported_with_their_age() {
    let pairing = format!(
        "nostr+walletconnect://{}?relay=wss://relay.example&secret={}",
        "ab".repeat(32),
        "cd".repeat(32)
    );
    let settings = Settings {
        mining_pool_stats: true,
        mining_pool_name: "braiins".into(),
        mining_pool_user: Secret::new("key"),
        miner_enabled: true,
        miner_hostname: Endpoint::new("miner.lan"),
        nwc_enabled: true,
        nwc_uri: Secret::new(pairing),
        ..Settings::default()
    };
    let identity = |source| figure_identity(&settings, source);
    let pool = PoolStats {
        hashrate: Some(Hashrate(u128::from(u64::MAX) * 10)),
        daily: Some(Sats(1_234)),
        ..PoolStats::default()
    };
    let miner = MinerStats {
        hashrate: Some(Hashrate(512_000_000_000)),
        best_difficulty: Some("1.2G".into()),
    };
    let pool = Observation::Pool(Polled {
        identity: identity(SourceId::Pool),
        value: pool,
    });
    let miner = Observation::Miner(Polled {
        identity: identity(SourceId::Miner),
        value: miner,
    });
    let balance = Observation::Balance(Polled {
        identity: identity(SourceId::Wallet),
        value: Msats(21_000_999),
    });
    let mut device = Device::new(BOARD, settings, Memory::default(), now(0));
    for (source, observation, at) in [
        (SourceId::Pool, pool, 10),
        (SourceId::Miner, miner, 20),
        (SourceId::Wallet, balance, 30),
    ] {
        device.handle(Input::Observed(source, vec![observation]), now(at));
    }
    let view = device.view();
    let document = status(&view, 70);
    fits(sent::<Status>(), &document);
    let figures = json!({
        "poolHashrate": { "value": "184467440737095516150", "source": "pool", "ageSec": 60 },
        "poolEarnings": { "value": 1_234, "source": "pool", "ageSec": 60 },
        "minerHashrate": { "value": "512000000000", "source": "miner", "ageSec": 50 },
        "minerBest": { "value": "1.2G", "source": "miner", "ageSec": 50 },
        "walletBalance": { "value": 21_000, "source": "wallet", "ageSec": 40 },
    });
    assert_eq!(document["figures"], figures);
    assert_eq!(documents::state(&view, &[]).get("figures"), None);

    // Figures of a pool that is not in the settings are dropped.
    let patch = Patch {
        body: Map::from_iter([("miningPoolName".into(), json!("ocean"))]),
        hashes: BTreeMap::new(),
    };
    device.handle(Input::Request(Request::Patch(patch)), now(40));
    let document = status(&device.view(), 70);
    let names: Vec<&String> = document["figures"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["minerHashrate", "minerBest", "walletBalance"]);
}

/// The identity of the figures that a source polls with these settings.
fn figure_identity(settings: &Settings, source: SourceId) -> FigureIdentity {
    let plan = sources::plan(settings, &[], ByHand::default(), None);
    plan[&source].identity
}

#[test]
fn values_of_an_earlier_run_are_reported_without_an_age() {
    fn earlier<T>(source: SourceId, value: T) -> Option<Datum<T>> {
        let seen = Seen::Before(UtcTime::plausible(1_776_999_000_000));
        Some(Datum {
            value,
            source,
            seen,
        })
    }
    let settings = Settings {
        miner_enabled: true,
        miner_hostname: Endpoint::new("miner.lan"),
        ..Settings::default()
    };
    let miner = MinerStats {
        hashrate: None,
        best_difficulty: Some("1.2G".into()),
    };
    let market = Market {
        height: earlier(SourceId::Relay, 900_000),
        miner: earlier(SourceId::Miner, miner).map(|datum| Figure {
            datum,
            identity: figure_identity(&settings, SourceId::Miner),
            failed_polls: 0,
        }),
        ..Market::default()
    };
    let memory = Memory {
        market,
        ..Memory::default()
    };
    let mut device = Device::new(BOARD, settings, memory, now(0));
    let connecting = vec![Observation::Connection(Connection::Connecting)];
    device.handle(Input::Observed(SourceId::Miner, connecting), now(1));
    let view = device.view();
    let document = status(&view, 70);
    fits(sent::<Status>(), &document);
    let height =
        json!({ "value": 900_000, "source": "relay", "earlierRun": true, "state": "stale" });
    let best = json!({ "value": "1.2G", "source": "miner", "earlierRun": true });
    assert_eq!(document["market"], json!({ "height": height }));
    assert_eq!(document["figures"], json!({ "minerBest": best }));
    // Time alone does not change the document.
    let later = status(&view, 80);
    for part in ["market", "figures"] {
        assert_eq!(later[part], document[part], "{part}");
    }
}

#[test]
fn do_not_disturb_is_reported_to_the_minute() {
    for ((hour, minute), (until_hour, until_minute), expected) in [
        ((22, 15), (6, 45), ("22:15", "6:45")),
        ((0, 5), (23, 0), ("0:05", "23:00")),
    ] {
        let settings = Settings {
            dnd_start_hour: hour,
            dnd_start_min: minute,
            dnd_end_hour: until_hour,
            dnd_end_min: until_minute,
            ..Settings::default()
        };
        let clock = Device::new(BOARD, settings, Memory::default(), now(0));
        let dnd = &status(&clock.view(), 0)["dnd"];
        let reported = (dnd["startTime"].as_str(), dnd["endTime"].as_str());
        assert_eq!(reported, (Some(expected.0), Some(expected.1)));
    }
}

#[test]
fn proven_blocks_are_reported_with_their_sources() {
    let mut view = clock(BOARD).view();
    let tip = Tip {
        height: 900_001,
        hash: "00".repeat(32).parse().unwrap(),
        time: 1_776_999_400,
    };
    view.truth.proven = Some(tip);
    for source in [SourceId::Explorer, SourceId::Peers, SourceId::Peers] {
        view.truth.proofs.push((source, tip));
    }
    view.truth.reorganisations = Reorganisations {
        count: 2,
        last_depth: 3,
    };
    view.truth.time.earliest = Some(1_776_995_000);
    let document = status(&view, 60);
    fits(sent::<Status>(), &document);
    assert_eq!(document["truth"]["time"]["earliest"], 1_776_995_000);
    let height = &document["truth"]["height"];
    let proof =
        |source: &str| json!({ "source": source, "value": 900_001, "hash": tip.hash.to_string() });
    for (member, value) in [
        ("proven", json!(900_001)),
        ("tipHash", json!(tip.hash.to_string())),
        (
            "proofs",
            json!([proof("explorer"), proof("peers"), proof("peers")]),
        ),
        ("tipTime", json!(1_776_999_400)),
        ("tipAgeSec", json!(660)),
        ("chainWork", Value::Null),
        ("peers", json!(2)),
        ("agreeing", json!(3)),
        ("reorgs", json!(2)),
        ("lastReorgDepth", json!(3)),
    ] {
        assert_eq!(height[member], value, "{member}");
    }
}

#[test]
fn the_network_is_reported_with_its_last_error() {
    let mut view = clock(BOARD).view();
    view.link = LinkState {
        is_open: false,
        state: "connecting",
        managed: true,
        portal: Some("Papertick-aabbcc".into()),
        ip: "192.0.2.7".into(),
        ssid: "home".into(),
        rssi: -61,
        tx_power: Some(40),
        failure: Some("auth"),
        since: Duration::from_secs(5),
        announced: Some("papertick-aabbcc-2.local".into()),
    };
    let document = status(&view, 60);
    fits(sent::<Status>(), &document);
    assert_eq!(
        document["link"],
        json!({
            "state": "connecting",
            "network": "radio",
            "ssid": "home",
            "ip": "192.0.2.7",
            "rssi": -61,
            "failure": "auth",
            "announced": "papertick-aabbcc-2.local",
        })
    );
    view.link.managed = false;
    assert_eq!(status(&view, 60)["link"]["network"], "host");
}

#[test]
fn the_fee_rate_is_reported_with_source_and_freshness() {
    let mut device = Device::new(BOARD, Settings::default(), Memory::default(), now(0));
    let fee = |device: &Device| status(&device.view(), 70)["truth"]["fee"].clone();
    assert_eq!(fee(&device), json!({ "state": "stale", "source": null }));
    let rate = Observation::PreciseFee(FeeRate::parse("10").unwrap());
    device.handle(Input::Observed(SourceId::Relay, vec![rate]), now(10));
    let fresh = json!({ "state": "single", "source": "relay" });
    assert_eq!(fee(&device), fresh);
    fits(sent::<Status>(), &status(&device.view(), 70));
    device.handle(Input::Tick, now(10 + 60 * 60));
    let stale = json!({ "state": "stale", "source": "relay" });
    assert_eq!(fee(&device), stale);
}

#[test]
fn a_price_is_reported_with_all_quotes() {
    let mut device = Device::new(BOARD, Settings::default(), Memory::default(), now(0));
    let quoted = Observation::Quote {
        currency: Currency::USD,
        price: Price::parse("66000").unwrap(),
        at: None,
    };
    device.handle(Input::Observed(SourceId::Coinbase, vec![quoted]), now(10));
    let relayed = Observation::Price(Currency::USD, Price::parse("60000").unwrap());
    device.handle(Input::Observed(SourceId::Relay, vec![relayed]), now(10));
    let document = status(&device.view(), 70);
    fits(sent::<Status>(), &document);
    let usd = &document["truth"]["prices"]["USD"];
    assert_eq!(
        (&usd["shown"], &usd["source"]),
        (&json!("60000.00"), &json!("relay"))
    );
    let claims = usd["voices"].as_array().unwrap();
    let reported: BTreeMap<&str, &str> = claims
        .iter()
        .map(|claim| {
            (
                claim["source"].as_str().unwrap(),
                claim["value"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [("relay", "60000.00"), ("coinbase", "66000.00")];
    assert_eq!(reported, expected.into());
    assert_eq!(usd["spreadPermille"], 100, "{usd}");
}

#[test]
fn each_flag_has_its_own_member() {
    let mut view = clock(BOARD).view();
    for (stale, disputed) in [(true, false), (false, true)] {
        (view.stale, view.disputed) = (stale, disputed);
        let reported = status(&view, 60);
        assert_eq!(
            (&reported["stale"], &reported["disputed"]),
            (&json!(stale), &json!(disputed))
        );
    }
    for at in 0..3 {
        let [enabled, timed, active] = [0, 1, 2].map(|place| place == at);
        let settings = Arc::make_mut(&mut view.settings.stored);
        (settings.dnd_enabled, settings.dnd_time_enabled) = (enabled, timed);
        view.dnd_active = active;
        let dnd = &status(&view, 60)["dnd"];
        for (member, expected) in [
            ("enabled", enabled),
            ("dndTimeEnabled", timed),
            ("timeBasedEnabled", timed),
            ("active", active),
        ] {
            assert_eq!(dnd[member], expected, "{member}");
        }
    }
}

#[test]
fn a_frontlight_that_is_off_is_reported_with_its_brightness() {
    let mut view = clock(BOARD).view();
    let state = view.frontlight.as_mut().unwrap();
    (state.on, state.target, state.brightness) = (false, 0, 1_024);
    let reported = status(&view, 60)["frontlight"].clone();
    for (member, expected) in [
        ("on", json!(false)),
        ("targetDuty", json!(0)),
        ("configuredBrightness", json!(1_024)),
    ] {
        assert_eq!(reported[member], expected, "{member}");
    }
    view.frontlight.as_mut().unwrap().on = true;
    assert_eq!(status(&view, 60)["frontlight"]["on"], true);
}

#[test]
fn a_disconnected_source_has_an_error_and_a_next_attempt() {
    let down = Connection::Down {
        reason: "refused".into(),
        retry_in: Duration::from_secs(30),
    };
    let view = view_after(SourceId::Relay, vec![Observation::Connection(down)]);
    let document = status(&view, 20);
    fits(sent::<Status>(), &document);
    let relay = json!({ "up": false, "lastError": "refused", "nextTrySec": 20 });
    assert_eq!(document["sources"]["relay"], relay);
}

#[test]
fn errors_of_the_broker_and_a_missing_network_are_reported() {
    let mut clock = mqtt::clock(BOARD);
    #[rustfmt::skip]
    let rows = [
        (Input::Broker(BrokerEvent::Connection(Connection::Up)), json!({ "up": true, "ageSec": 10 })),
        (Input::Broker(BrokerEvent::Error("a subscription is refused".into())), json!({ "up": true, "ageSec": 10, "lastError": "a subscription is refused" })),
        (Input::Linked(LinkEvent::Down(LinkFailure::Lost)), json!({ "up": false, "ageSec": 10, "lastError": "no network" })),
    ];
    for (news, expected) in rows {
        clock.handle(news, now(10));
        let document = status(&clock.view(), 20);
        fits(sent::<Status>(), &document);
        assert_eq!(document["mqtt"], expected);
    }
}

#[test]
fn the_state_of_the_host_has_the_names_of_older_clients() {
    let disk = DiskSpace {
        used: 10,
        total: 100,
    };
    let uptime = Duration::from_secs(42);
    let view = clock(BOARD).view();
    let system = SystemStatus::of(&view, uptime, MEMORY, disk, firmware());
    let expected = json!({
        "espFreeHeap": 3000,
        "espHeapSize": 4000,
        "espMinFreeHeap": 2000,
        "espLargestFreeBlock": 3000,
        "espFreePsram": 400,
        "espPsramSize": 500,
        "fsUsedBytes": 10,
        "fsTotalBytes": 100,
        "rssi": 0,
        "txPower": 78,
        "queueDrops": { "buttons": 0, "led": 0, "frontlight": 0 },
        "uptime": 42,
        "release": null,
        "firmware": {
            "running": "a", "version": "", "trial": false, "lastFailure": null, "signed": true, "keys": 1,
            "managedBy": null,
        },
    });
    assert_eq!(json!(system), expected);
}

fn firmware() -> FirmwareStatus {
    FirmwareStatus {
        running: "a",
        version: String::new(),
        trial: false,
        last_failure: None,
        signed: true,
        keys: 1,
        managed_by: None,
    }
}

#[test]
fn a_release_is_reported_with_the_reason_why_it_is_not_installed() {
    let settings = Settings {
        git_release_url: Endpoint::new("https://me:planted@feed.example/"),
        ..Settings::default()
    };
    let mut clock = Device::new(BOARD, settings, Memory::default(), now(0));
    let identity = LinkEvent::Identity {
        suffix: "aabbcc".into(),
        password: Secret::default(),
    };
    clock.handle(Input::Linked(identity), now(1));
    let reported = |clock: &Device, at: u64| {
        let (memory, disk) = (MEMORY, DiskSpace::default());
        let uptime = Duration::from_secs(at);
        let system = SystemStatus::of(&clock.view(), uptime, memory, disk, firmware());
        let system = json!(system);
        fits(sent::<SystemStatus>(), &system);
        system["release"].clone()
    };
    assert_eq!(reported(&clock, 2), Value::Null);
    let mut saw = |look, at| {
        clock.handle(Input::ReleaseCheck(look), now(at));
        reported(&clock, at + 5)
    };
    let failed = ReleaseCheck::Failed("no list".into());
    let words = |template: &str, values: Value| json!({ "words": template, "values": values });
    let unknown = words(
        "The releases could not be checked: {why}",
        json!({ "why": "no list." }),
    );
    assert_eq!(
        saw(failed.clone(), 2),
        json!({ "lastError": "no list", "says": "The releases could not be checked: no list.", "phrase": unknown })
    );
    for verdict in ReleaseVerdict::ALL {
        let release = Release {
            version: "4.3.0".into(),
            title: "Winter".into(),
            page: "https://example.org/".into(),
            number: 91,
            verdict,
        };
        let why = match verdict {
            ReleaseVerdict::Taken => "the clock takes it.",
            ReleaseVerdict::NotNewer => "it is not newer than what runs.",
            ReleaseVerdict::Channel => "it is a pre-release, which the channel leaves out.",
            ReleaseVerdict::Pin => "another version is pinned.",
            ReleaseVerdict::Share => {
                "its turn has not come: the clock has number 91 for it, and the share ends before that."
            }
            ReleaseVerdict::NoImage => "it has nothing for this board and machine.",
            ReleaseVerdict::Unsigned => "it has no signature by a trusted key.",
            ReleaseVerdict::Failed => "it was tried here and did not work.",
            ReleaseVerdict::Left => "it ran here, and the owner went back to an older version.",
        };
        let reported = saw(ReleaseCheck::Found(release), 3);
        let reason = &reported["phrase"]["values"]["why"];
        let reason = words(&why.replace("91", "{number}"), reason["values"].clone());
        let expected = json!({
            "version": "4.3.0", "title": "Winter", "url": "https://example.org/", "number": 91,
            "taken": verdict == ReleaseVerdict::Taken, "why": verdict.reason(), "lastError": null, "ageSec": 5,
            "says": format!("Release 4.3.0: {why}"),
            "phrase": words("Release {version}: {why}", json!({ "version": "4.3.0", "why": reason })),
        });
        assert_eq!(reported, expected);
    }
    // The results of earlier checks stay.
    let after = saw(failed, 20);
    assert_eq!(
        (&after["version"], &after["lastError"], &after["ageSec"]),
        (&json!("4.3.0"), &json!("no list"), &json!(22))
    );
    let left = "Release 4.3.0: it ran here, and the owner went back to an older version.";
    let sentence = format!("{left} The releases could not be checked: no list.");
    assert_eq!(after["says"], sentence);
    assert_eq!(after["phrase"]["values"]["mark"], unknown);
    // The result does not apply to another list.
    let change = json!({ "gitReleaseUrl": "https://other.example/" });
    let Value::Object(body) = change else {
        panic!()
    };
    let patch = Request::Patch(Patch {
        body,
        ..Patch::default()
    });
    assert_eq!(reply(&mut clock, patch), Ok(Changed::default()));
    assert_eq!(reported(&clock, 30), Value::Null);
}
