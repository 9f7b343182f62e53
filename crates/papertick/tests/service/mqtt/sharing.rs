//! A market that one clock shares at the broker and another one takes, in virtual time.

use std::{sync::Arc, time::Duration};

use device::{
    input::Input,
    limits::{SHARED_EVERY, SHARED_SILENCE_MAX},
    market::Observation,
    settings::Settings,
    sources::SourceId,
    units::{Currency, Price},
    view::View,
};
use net::{
    dialer::{Arrival, Dialer},
    tls::Roots,
};
use papertick::{
    sources::Shared, sources::already_reported::AlreadyReported, sources::known_peers::KnownPeers,
    sources::logos::LogoCache, sources::supervisor::supervise, sources::upstreams::Upstreams,
};
use runtime::{clock::Clock, tasks::Stopper, tasks::Tasks, tasks::stop_signal};
use serde_json::{Value, json};
use storage::sim_disk::SharedDisk;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep},
};

use super::{OWN, PATIENCE, Rig, json as read, peer::Peer, settings};

const TOPIC: &str = "papertick/market";

/// 2026-01-01, ms since 1970-01-01 UTC.
pub(super) const START_MS: i64 = 1_767_225_600_000;

/// A clock that shares what it knows, and its broker.
async fn sharing(clock: Clock) -> (Rig, mpsc::Receiver<Arrival>, Peer) {
    let (arrive, mut arrivals) = mpsc::channel(4);
    let shares = Settings {
        mqtt_share_market: true,
        ..settings("broker", 0)
    };
    let dialer = Dialer::in_memory(Roots::public(), arrive);
    let rig = Rig::at(clock, dialer, shares, SharedDisk::default()).await;
    let mut peer = Peer::accept(&mut arrivals).await;
    peer.all_in(Duration::from_secs(15)).await;
    (rig, arrivals, peer)
}

async fn learn(rig: &Rig, dollars: u32) {
    let price = Price::parse(&dollars.to_string()).unwrap();
    let quote = Observation::Price(Currency::USD, price);
    rig.tell(Input::Observed(SourceId::Relay, vec![quote]))
        .await;
}

/// A clock that asks nobody but the broker.
struct Taker {
    rig: Rig,
    arrivals: mpsc::Receiver<Arrival>,
    sources: Tasks,
    _going: Stopper,
}

impl Taker {
    async fn new() -> Taker {
        Taker::at(Clock::unset()).await
    }

    async fn at(clock: Clock) -> Taker {
        let (arrive, arrivals) = mpsc::channel(4);
        let takes = Settings {
            mqtt_market: 2,
            proof_peer_max: 0,
            ..settings("broker", 0)
        };
        let dialer = Dialer::in_memory(Roots::public(), arrive);
        let rig = Rig::at(clock, dialer.clone(), takes, SharedDisk::default()).await;
        let shared = Shared {
            dialer,
            upstreams: Arc::new(Upstreams::default()),
            inbox: rig.inbox.clone(),
            clock: rig.clock.clone(),
            logos: LogoCache::new("unused"),
            already_reported: AlreadyReported::default(),
            known_peers: KnownPeers::default(),
            market: rig.market.clone(),
        };
        let (going, stop) = stop_signal();
        let mut sources = Tasks::new();
        sources.spawn(
            "sources",
            supervise(rig.followed.sources.clone(), shared, stop),
        );
        Taker {
            rig,
            arrivals,
            sources,
            _going: going,
        }
    }

    async fn price(&self, dollars: u64) -> Arc<View> {
        let has = move |view: &View| {
            let price = view.market.prices.get(&Currency::USD);
            price.is_some_and(|price| price.value.rounded() == dollars)
        };
        self.rig.until("a price", has).await
    }

    async fn down(&self, why: &'static str) {
        let is_down = move |view: &View| {
            let state = view.sources.get(&SourceId::Shared);
            let error = state.and_then(|state| state.last_error.as_deref());
            state.is_some_and(|state| !state.up) && error.is_some_and(|it| it.contains(why))
        };
        self.rig.until(why, is_down).await;
    }

    async fn stop(self) {
        self.sources.abort().await;
        self.rig.stop().await;
    }
}

/// What another clock shares that learned a price at a second and told it at another.
fn document(dollars: u32, learned: i64, told: i64) -> Value {
    let start = START_MS / 1000;
    let price =
        json!({ "value": format!("{dollars}"), "source": "relay", "time": start + learned });
    json!({ "from": "other", "chain": "main", "told": start + told, "prices": { "USD": price } })
}

#[tokio::test(start_paused = true)]
async fn what_a_clock_knows_is_shared_and_told_again_every_minute() {
    let (rig, _arrivals, mut peer) = sharing(Clock::unset()).await;
    // Without the time it would have no age.
    learn(&rig, 60_000).await;
    assert_silent(&mut peer).await;
    rig.clock.set(START_MS);
    learn(&rig, 61_000).await;
    let told = peer.on(TOPIC).await;
    assert!(told.is_retained);
    let document = read(&told.payload);
    assert_eq!(document["from"], "papertick-aabbcc");
    assert_eq!(document["prices"]["USD"]["value"], "61000.000000");
    assert_eq!(document["prices"]["USD"]["source"], "relay");
    let begun = Instant::now();
    let again = read(&peer.on(TOPIC).await.payload);
    assert!(begun.elapsed() <= SHARED_EVERY, "{:?}", begun.elapsed());
    assert_eq!(again["prices"], document["prices"]);
    assert!(again["told"].as_i64() > document["told"].as_i64());
    // Many changes are few messages.
    for round in 0..100 {
        learn(&rig, 62_000 + round).await;
        sleep(Duration::from_millis(100)).await;
    }
    let told = peer.all_in(Duration::from_secs(20)).await;
    let told = told.iter().filter(|heard| heard.topic == TOPIC).count();
    assert!((1..=4).contains(&told), "{told}");
    // Who shares no more takes away what stands there.
    rig.set(json!({ "mqttShareMarket": false })).await;
    let left = peer.on(TOPIC).await;
    assert_eq!((left.payload.len(), left.is_retained), (0, true));
    rig.stop().await;
}

async fn assert_silent(peer: &mut Peer) {
    let told = peer.all_in(2 * SHARED_EVERY).await;
    assert!(told.iter().all(|heard| heard.topic != TOPIC));
}

#[tokio::test(start_paused = true)]
async fn a_host_that_may_be_hours_off_shares_nothing() {
    let (rig, _arrivals, mut peer) = sharing(Clock::host()).await;
    learn(&rig, 60_000).await;
    assert_silent(&mut peer).await;
    rig.clock.set(START_MS);
    let told = read(&peer.on(TOPIC).await.payload);
    assert_eq!(told["prices"]["USD"]["value"], "60000.000000");
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_clock_without_internet_takes_what_stands_at_the_broker() {
    let mut taker = Taker::new().await;
    taker.rig.clock.set(START_MS);
    let mut peer = Peer::accept(&mut taker.arrivals).await;
    assert!(peer.filters.contains(&TOPIC.to_owned()));
    assert!(!peer.marked.contains(&TOPIC.to_owned()));
    taker.down("no other clock shares its market").await;
    peer.keep(TOPIC, &document(60_000, -100, -20).to_string())
        .await;
    let view = taker.price(60_000).await;
    let price = &view.market.prices[&Currency::USD];
    let age = price.age(taker.rig.clock.now()).unwrap();
    assert_eq!((price.source, age.as_secs()), (SourceId::Shared, 100 + 2));
    taker
        .rig
        .until("up", |view| view.sources[&SourceId::Shared].up)
        .await;
    // It was told 20 s ago, and is told no more.
    let begun = Instant::now();
    tokio::select! {
        () = taker.down("for some time") => {}
        _ = peer.all_in(PATIENCE) => panic!("it is heard for ever"),
    }
    let silence = begun.elapsed() + Duration::from_secs(22);
    assert!(
        silence.abs_diff(SHARED_SILENCE_MAX) < Duration::from_secs(2),
        "{silence:?}"
    );
    peer.say(TOPIC, &document(60_500, 165, 166).to_string())
        .await;
    taker.price(60_500).await;
    // One takes away what stands there; whether another one goes on is seen in time. And then there is no broker.
    peer.keep(TOPIC, "").await;
    peer.all_in(SHARED_SILENCE_MAX - Duration::from_secs(5))
        .await;
    assert!(taker.rig.view().sources[&SourceId::Shared].up);
    peer.all_in(Duration::from_secs(5)).await;
    taker.down("no other clock shares its market").await;
    peer.say(TOPIC, &document(60_600, 170, 171).to_string())
        .await;
    taker.price(60_600).await;
    // What is said and taken back at one moment was not said.
    peer.all_in(Duration::from_secs(1)).await;
    drop(peer);
    taker.down("the broker is not there").await;
    // What is known stays, and grows old.
    taker.price(60_600).await;
    taker.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_makes_no_sense_is_counted_and_changes_nothing() {
    let mut taker = Taker::new().await;
    taker.rig.clock.set(START_MS);
    let mut peer = Peer::accept(&mut taker.arrivals).await;
    peer.say(TOPIC, &document(60_000, -1, 0).to_string()).await;
    taker.price(60_000).await;
    let mut unknown = document(70_000, -1, 0);
    unknown["volume"] = 1.into();
    let mut looped = document(70_000, -1, 0);
    looped["prices"]["USD"]["source"] = "shared".into();
    let large = document(70_000, -1, 0).to_string() + &" ".repeat(16 * 1024);
    for (payload, reason) in [
        ("{", "shared-json"),
        (unknown.to_string().as_str(), "shared-member"),
        (looped.to_string().as_str(), "shared-source"),
        (r#"{"prices": 3}"#, "shared-type"),
        (large.as_str(), "too-large"),
    ] {
        peer.say(TOPIC, payload).await;
        taker.rig.dropped(reason, 1).await;
    }
    // What the clock has told itself.
    let mut own = document(70_000, -1, 0);
    own["from"] = "papertick-aabbcc".into();
    peer.say(TOPIC, &own.to_string()).await;
    // What can be read, and cannot be: of another time, of another chain.
    let dropped = |reason: &'static str| {
        taker.rig.until(reason, move |view: &View| {
            view.sources[&SourceId::Shared].dropped.get(reason) == Some(&1)
        })
    };
    peer.say(TOPIC, &document(70_000, 0, 3600).to_string())
        .await;
    dropped("future").await;
    peer.keep(TOPIC, &document(70_000, -90_000, -90_000).to_string())
        .await;
    dropped("too-old").await;
    let mut demo = document(70_000, 0, 0);
    demo["chain"] = "demo".into();
    peer.say(TOPIC, &demo.to_string()).await;
    dropped("chain").await;
    taker.price(60_000).await;
    taker.rig.up().await;
    taker.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_knows_no_time_takes_only_what_is_told_as_it_listens() {
    let mut taker = Taker::new().await;
    let mut peer = Peer::accept(&mut taker.arrivals).await;
    peer.keep(TOPIC, &document(60_000, -30, 0).to_string())
        .await;
    taker.down("nobody knows the time").await;
    assert!(taker.rig.view().market.prices.is_empty());
    peer.say(TOPIC, &document(60_100, -30, 0).to_string()).await;
    let view = taker.price(60_100).await;
    let price = &view.market.prices[&Currency::USD];
    assert_eq!(price.age(taker.rig.clock.now()).unwrap().as_secs(), 30);
    taker.stop().await;
    // What stands there counts once somebody has said what time it is.
    let mut taker = Taker::new().await;
    let mut peer = Peer::accept(&mut taker.arrivals).await;
    peer.keep(TOPIC, &document(60_000, -30, 0).to_string())
        .await;
    taker.down("nobody knows the time").await;
    taker.rig.clock.set(START_MS + 10_000);
    taker.price(60_000).await;
    taker.stop().await;
}

#[tokio::test(start_paused = true)]
async fn who_is_of_no_use_takes_nothing_away_from_who_is() {
    let mut taker = Taker::new().await;
    taker.rig.clock.set(START_MS);
    let mut peer = Peer::accept(&mut taker.arrivals).await;
    let mut demo = document(70_000, 0, 0);
    demo["chain"] = "demo".into();
    let late = document(70_000, -3600, -3600);
    let early = document(70_000, 3600, 3600);
    let up = taker
        .rig
        .until("up", |view| view.sources[&SourceId::Shared].up);
    peer.say(TOPIC, &document(60_000, -1, 0).to_string()).await;
    up.await;
    let begun = Instant::now();
    for bad in [&demo, &late, &early].into_iter().cycle().take(60) {
        let secs = i64::try_from(begun.elapsed().as_secs()).unwrap();
        if secs % 60 < 2 {
            peer.say(TOPIC, &document(60_000, secs, secs).to_string())
                .await;
        }
        peer.say(TOPIC, &bad.to_string()).await;
        peer.all_in(Duration::from_secs(2)).await;
        assert!(taker.rig.view().sources[&SourceId::Shared].up, "{bad}");
    }
    taker.price(60_000).await;
    // The last good one ended it.
    for _ in 0..100 {
        peer.say(TOPIC, &demo.to_string()).await;
        peer.all_in(Duration::from_secs(2)).await;
    }
    taker.down("of no use here: chain").await;
    taker.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_hours_off_takes_what_is_told_as_it_listens() {
    // The clock of the host says what it says; the documents are of another time.
    let mut taker = Taker::at(Clock::host()).await;
    let mut peer = Peer::accept(&mut taker.arrivals).await;
    peer.say(TOPIC, &document(60_000, -30, 0).to_string()).await;
    let view = taker.price(60_000).await;
    let price = &view.market.prices[&Currency::USD];
    assert_eq!(price.age(taker.rig.clock.now()).unwrap().as_secs(), 30);
    // Once a server has said what time it is that counts.
    taker.rig.clock.set(START_MS + 7_200_000);
    peer.say(TOPIC, &document(61_000, -30, 0).to_string()).await;
    peer.all_in(Duration::from_secs(2)).await;
    taker.price(60_000).await;
    taker.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_host_that_may_be_hours_off_does_not_judge_what_stands_there() {
    let mut taker = Taker::at(Clock::host()).await;
    let mut peer = Peer::accept(&mut taker.arrivals).await;
    // By the time of the host it is a minute old, whatever it is.
    let host = taker.rig.clock.now().utc.unwrap();
    let then = host.unix_secs() - START_MS / 1000 - 60;
    peer.keep(TOPIC, &document(60_000, then, then).to_string())
        .await;
    taker.down("nobody knows the time").await;
    assert!(taker.rig.view().market.prices.is_empty());
    taker.rig.clock.set(host.unix_ms + 3_600_000);
    let view = taker.price(60_000).await;
    let price = &view.market.prices[&Currency::USD];
    let age = price.age(taker.rig.clock.now()).unwrap().as_secs();
    assert!((3660..3670).contains(&age), "{age}");
    taker.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_taken_is_not_shared_again() {
    let mut taker = Taker::new().await;
    taker.rig.clock.set(START_MS);
    let peer = Peer::accept(&mut taker.arrivals).await;
    taker.rig.set(json!({ "mqttShareMarket": true })).await;
    drop(peer);
    let mut peer = Peer::accept(&mut taker.arrivals).await;
    peer.say(TOPIC, &document(60_000, -1, 0).to_string()).await;
    let told = peer.all_in(PATIENCE).await;
    assert!(
        told.iter()
            .any(|heard| heard.topic == format!("{OWN}/market"))
    );
    assert!(told.iter().all(|heard| heard.topic != TOPIC));
    taker.price(60_000).await;
    taker.stop().await;
}
