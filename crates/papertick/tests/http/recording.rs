//! Records documents for the mock clock of the page's tests.

use std::{sync::Arc, time::Duration};

use board::sim::{self, SimOptions};
use device::{
    refresh::Refresh,
    releases::{Release, ReleaseVerdict, Releases},
    view::SourceState,
};
use market::{
    Datum, Figure, FigureIdentity, PoolStats, Seen,
    source_id::SourceId,
    units::{Currency, Hashrate, Price, Sats},
};
use serde_json::{Map, Value, json};

use crate::{
    following::EventClient,
    support::{Clock, Kind, Setup},
};

/// Members that differ at every run, and their fixed values.
const PASSING: [(&str, Value); 8] = [
    ("espUptime", Value::Null),
    ("espFreeHeap", Value::Null),
    ("espMinFreeHeap", Value::Null),
    ("espLargestFreeBlock", Value::Null),
    ("espHeapSize", Value::Null),
    ("espFreePsram", Value::Null),
    ("espPsramSize", Value::Null),
    ("settingsTag", Value::Null),
];

/// Replaces members that differ at every run.
fn normalised(mut document: Value) -> Value {
    for (name, replacement) in PASSING {
        if let Some(member) = document.get_mut(name) {
            *member = replacement;
        }
    }
    document
}

/// A clock with a working and a failing source, with all members of sources.
async fn clock_with_data() -> Clock {
    let spec = board::spec::find("rev-b").unwrap();
    let clock = Clock::with(Setup {
        bench: Some(sim::board(spec, SimOptions::default()).bench),
        ..Setup::default()
    })
    .await;
    clock.change(|view| {
        let well = SourceState {
            up: true,
            last_success: Some(Duration::ZERO),
            dropped: [("bad-height", 2)].into(),
            ..SourceState::default()
        };
        let ill = SourceState {
            last_success: Some(Duration::ZERO),
            last_error: Some("connection refused".into()),
            next_try: Some(Duration::ZERO),
            ..SourceState::default()
        };
        view.sources = [(SourceId::Relay, well), (SourceId::Pool, ill)].into();
        view.releases = Releases {
            found: Some(Release {
                version: "4.3.0".into(),
                title: "papertick 4.3.0".into(),
                page: "https://example.org/4.3.0".into(),
                number: 91,
                verdict: ReleaseVerdict::Share,
            }),
            ..Releases::default()
        };
        let price = Datum {
            value: Price {
                micros: 98_765_000_000,
            },
            source: SourceId::Relay,
            seen: Seen::At(Duration::ZERO),
        };
        let market = Arc::make_mut(&mut view.market);
        market.prices = Arc::new([(Currency::parse("USD").unwrap(), price)].into());
        market.height = Some(Datum {
            value: 900_123,
            source: SourceId::Relay,
            seen: Seen::At(Duration::ZERO),
        });
        market.pool = Some(Figure {
            datum: Datum {
                value: PoolStats {
                    hashrate: Some(Hashrate(512_340_000_000_000)),
                    daily: Some(Sats(1_234)),
                    workers: Some(2),
                    refusal: None,
                },
                source: SourceId::Pool,
                seen: Seen::At(Duration::ZERO),
            },
            identity: FigureIdentity::default(),
            failed_polls: 0,
        });
    });
    clock
}

/// The headers of a document for a browser that accepts compression; the ETag without its varying part.
async fn compressed(clock: &Clock) -> Value {
    let answer = clock
        .send("GET", "/api/settings", &["Accept-Encoding: gzip, br"], "")
        .await;
    let tag = answer.header("etag").unwrap();
    json!({
        "coding": answer.header("content-encoding"),
        "vary": answer.header("vary"),
        "tagBegins": tag.split('"').next(),
    })
}

/// A display that waits for approval, and the response to adding another, with the token for its owner.
async fn displays(clock: &Clock) -> Value {
    let introduction = [
        "ID: AB:CD:EF:12:34:56",
        "Model: og",
        "FW-Version: 1.8.14",
        "RSSI: -69",
        "Battery-Voltage: 4.10",
    ];
    let setup = clock.send("GET", "/api/setup", &introduction, "").await;
    let token = format!(
        "Access-Token: {}",
        setup.json()["api_key"].as_str().unwrap()
    );
    let request = [&introduction[..], &[token.as_str()]].concat();
    let polled = clock.send("GET", "/api/display", &request, "").await;
    assert_eq!(polled.json()["status"], 0);
    let lines = r#"{"logs":[{"created_at":1764120000,"level":"error","message":"no answer"}]}"#;
    let length = format!("Content-Length: {}", lines.len());
    let request = [&request[..], &[length.as_str()]].concat();
    clock.send("POST", "/api/log", &request, lines).await;
    let mut waiting = clock.get("/api/displays").await.json()["displays"][0].take();
    let mut added = clock
        .json("POST", "/api/displays", r#"{"name":"Kindle"}"#)
        .await
        .json();
    // These values differ in every run.
    for (display, id) in [(&mut waiting, "917F0B"), (&mut added, "917F0C")] {
        display["id"] = id.into();
    }
    waiting["lastContactSec"] = 12.into();
    waiting["nextContactSec"] = 60.into();
    added["token"] = "kept-by-its-owner".into();
    json!({ "waiting": waiting, "added": added })
}

async fn recording() -> Value {
    let clock = clock_with_data().await;
    let mut follower = EventClient::at(&clock, "/events?bench").await;
    let mut events = Map::new();
    let mut record_until = async |last| {
        while !events.contains_key(last) {
            let (name, data) = follower.frame().await;
            let data = serde_json::from_str(&data).unwrap();
            events.insert(name, normalised(data));
        }
    };
    record_until("bench").await;
    clock.glass.send_modify(|glass| {
        let glass = Arc::make_mut(glass);
        glass.generation = 2;
        for (panel, refresh) in [(0, Refresh::Full), (6, Refresh::Partial)] {
            glass.panels[panel].painted = 2;
            glass.panels[panel].refresh = refresh;
        }
    });
    record_until("panels").await;

    let real = Clock::with(Setup {
        device: Kind::Real,
        ..Setup::default()
    })
    .await;
    let refused = |body: &'static str| real.json("PATCH", "/api/settings", body);
    let mut exported = real.get("/api/settings/export").await.json();
    exported["time"] = Value::Null;
    exported["firmware"] = "4.0.0".into();
    let import = json!({
        "dryRun": true,
        "file": {
            "format": exported["format"],
            "version": exported["version"],
            "clock": "kitchen",
            "settings": {
                "ledBrightness": 64,
                "invertedColor": true,
                "disableLeds": true,
                "dataSource": 3,
                "blockFlashColor": 255,
                "timerSeconds": 600,
                "screensHidden": [0, 3],
                "dndStartHour": 1,
                "priceWitnesses": ["gemini"],
                "flMaxBrightness": 1000,
                "proxyPass": "planted",
                "moonPhase": 1,
            },
        },
    });
    let import = import.to_string();
    let imported = real.json("POST", "/api/settings/import", &import);
    let open = json!({ "file": {} }).to_string();
    json!({
        "settings": clock.get("/api/settings").await.json(),
        "compressed": compressed(&clock).await,
        "bench": clock.get("/sim/state").await.json(),
        "events": events,
        "patch": {
            "restart": refused(r#"{"ledTestOnPower":false}"#).await.json(),
            "range": refused(r#"{"digitFontPx":1}"#).await.json(),
            "key": refused(r#"{"nostrZapPubkey":"npub1"}"#).await.json(),
            "zone": refused(r#"{"tzString":"Mars/Olympus"}"#).await.json(),
        },
        "care": {
            "exported": exported,
            "imported": imported.await.json(),
            "notImported": real.json("POST", "/api/settings/import", &open).await.json(),
            "log": real.get("/api/log").await.json(),
            "firmware": real.get("/api/system/status").await.json()["firmware"],
            "release": clock.get("/api/system/status").await.json()["release"],
        },
        "displays": displays(&real).await,
        "manifest": clock.get("/manifest.json").await.json(),
        "policy": clock.get("/").await.header("content-security-policy"),
    })
}

/// The page is tested with real documents of the clock.
#[tokio::test]
async fn the_recording_for_tests_of_the_page_is_fresh() {
    let fresh = format!("{:#}\n", recording().await);
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../webui/tests/mock/recorded.json"
    );
    if std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1") {
        std::fs::write(path, &fresh).unwrap();
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        stored == fresh,
        "webui/tests/mock/recorded.json is stale: run the tests with UPDATE_EXPECT=1 and commit it"
    );
}
