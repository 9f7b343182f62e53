//! Who starts first, and who comes back: whatever the order of broker, Home Assistant and clock, in the end everything
//! stands at the broker, and Home Assistant was told of an entity before its state.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use device::request::Request;
use net::{
    backoff::STABLE_AFTER,
    dialer::{Arrival, Dialer},
    tls::Roots,
};
use tokio::{sync::mpsc, time::Instant};

use super::{
    OWN, Rig,
    peer::{Heard, Peer},
    settings,
};

const DISCOVERY: &str = "homeassistant/device/papertick-aabbcc/config";
const BIRTH: &str = "homeassistant/status";

/// Longest time between a birth and the first word after it.
const REBIRTH_MAX: Duration = Duration::from_secs(5);

/// Time in which a clock has told all that it tells at first, and its splash is over.
const TOLD_AFTER: Duration = Duration::from_secs(15);

/// Longest time until a clock is back at a broker that was gone for a moment.
const BACK_AFTER: Duration = Duration::from_secs(60);

/// What stands at a broker that keeps nothing over its own end.
type Standing = BTreeMap<String, String>;

/// A clock that shows the same all the time.
async fn rig() -> (Rig, mpsc::Receiver<Arrival>) {
    let (arrive, arrivals) = mpsc::channel(4);
    let dialer = Dialer::in_memory(Roots::public(), arrive);
    let rig = Rig::new(dialer, settings("broker", 0)).await;
    let text = Request::ShowText("HODL".into());
    rig.inbox.request(text).await.unwrap();
    (rig, arrivals)
}

fn standing(told: &[Heard]) -> Standing {
    let mut standing = Standing::new();
    for heard in told.iter().filter(|heard| heard.is_retained) {
        match heard.payload.is_empty() {
            true => standing.remove(&heard.topic),
            false => {
                let text = String::from_utf8(heard.payload.clone()).unwrap();
                standing.insert(heard.topic.clone(), text)
            }
        };
    }
    // How much memory is free is another matter at every moment, but it is told.
    if let Some(host) = standing.get_mut(&format!("{OWN}/host")) {
        host.clear();
    }
    standing
}

/// Holds what stands there to what stood there before.
fn same(before: &Standing, after: &Standing) {
    let topics: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for topic in topics {
        assert_eq!(before.get(topic), after.get(topic), "{topic}");
    }
}

/// How often Home Assistant is told what the clock is.
fn discoveries(told: &[Heard]) -> usize {
    let is_one = |heard: &&Heard| heard.topic == DISCOVERY;
    told.iter().filter(is_one).count()
}

/// Holds what is told to what Home Assistant needs: all of it, and the discovery first.
fn check(told: &[Heard]) {
    let place = |topic: &str| told.iter().position(|heard| heard.topic == topic);
    let discovery = place(DISCOVERY).expect("nobody is told of the clock");
    for leaf in [
        "status",
        "info",
        "state",
        "host",
        "settings",
        "light/strip",
        "light/front",
        "market",
    ] {
        let topic = format!("{OWN}/{leaf}");
        let place = place(&topic).unwrap_or_else(|| panic!("nothing on {topic}"));
        assert!(discovery < place, "{topic} is told before the discovery");
    }
    let status = standing(told).remove(&format!("{OWN}/status"));
    assert_eq!(status.as_deref(), Some("online"));
}

#[tokio::test(start_paused = true)]
async fn home_assistant_before_the_clock_hears_all_of_it_live() {
    let (rig, mut arrivals) = rig().await;
    let mut peer = Peer::accept(&mut arrivals).await;
    // Some brokers keep what Home Assistant said when it started.
    peer.keep(BIRTH, "online").await;
    let told = peer.all_in(TOLD_AFTER).await;
    check(&told);
    // Once, for it heard that as it was told.
    assert_eq!(discoveries(&told), 1);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn home_assistant_after_the_clock_is_told_all_of_it_again() {
    let (rig, mut arrivals) = rig().await;
    let mut peer = Peer::accept(&mut arrivals).await;
    let before = standing(&peer.all_in(TOLD_AFTER).await);
    peer.say(BIRTH, "online").await;
    let begun = Instant::now();
    let first = peer.next().await.unwrap();
    assert_eq!(first.topic, DISCOVERY);
    assert!(begun.elapsed() <= REBIRTH_MAX, "{:?}", begun.elapsed());
    let mut told = vec![first];
    told.extend(peer.all_in(TOLD_AFTER).await);
    check(&told);
    same(&before, &standing(&told));
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_clock_before_its_broker_finds_it() {
    let (rig, mut arrivals) = rig().await;
    // Somebody takes the connection and is no broker yet.
    for _ in 0..3 {
        drop(arrivals.recv().await);
    }
    let is_up = |rig: &Rig| rig.view().mqtt.as_ref().is_some_and(|state| state.up);
    assert!(!is_up(&rig));
    let mut peer = Peer::accept(&mut arrivals).await;
    check(&peer.all_in(TOLD_AFTER).await);
    assert!(is_up(&rig));
    // Home Assistant is the last.
    peer.say(BIRTH, "online").await;
    check(&peer.all_in(TOLD_AFTER).await);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_has_forgotten_everything_is_told_everything() {
    let (rig, mut arrivals) = rig().await;
    let mut peer = Peer::accept(&mut arrivals).await;
    let before = standing(&peer.all_in(TOLD_AFTER).await);
    for is_home_assistant_first in [true, false] {
        drop(peer);
        let begun = Instant::now();
        peer = Peer::accept(&mut arrivals).await;
        assert!(begun.elapsed() <= BACK_AFTER, "{:?}", begun.elapsed());
        if !is_home_assistant_first {
            // It comes while the clock still tells, and to a broker that keeps nothing it must be told again: what is,
            // and then how it is.
            let told = peer.all_in(Duration::from_millis(500)).await;
            assert_eq!(discoveries(&told), 1);
            peer.say(BIRTH, "online").await;
        }
        let told = peer.all_in(TOLD_AFTER).await;
        check(&told);
        same(&before, &standing(&told));
        assert_eq!(discoveries(&told), 1);
    }
    rig.stop().await;
}

/// A broker that lets everybody in and drops them again must not be asked every few seconds by all clocks.
#[tokio::test(start_paused = true)]
async fn only_a_broker_that_stayed_for_long_is_asked_again_soon() {
    let (rig, mut arrivals) = rig().await;
    let short = STABLE_AFTER - Duration::from_secs(1);
    let long = STABLE_AFTER + Duration::from_secs(1);
    // How long each connection lasts, and the wait after it, s, but for a fifth of chance.
    let rows = [
        (Duration::ZERO, 5),
        (short, 10),
        (short, 20),
        (short, 40),
        (short, 60),
        (long, 5),
        (short, 10),
    ];
    let mut peer = Peer::accept(&mut arrivals).await;
    for (number, (lasts, wait)) in rows.into_iter().enumerate() {
        peer.all_in(lasts).await;
        drop(peer);
        let begun = Instant::now();
        peer = Peer::accept(&mut arrivals).await;
        let waited = begun.elapsed();
        let wait = Duration::from_secs(wait);
        let expected = wait - wait / 5..=wait + wait / 5;
        assert!(expected.contains(&waited), "{number}: {waited:?}");
    }
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn clocks_do_not_all_speak_at_once_when_home_assistant_starts() {
    let (rig, mut arrivals) = rig().await;
    let mut peer = Peer::accept(&mut arrivals).await;
    peer.all_in(TOLD_AFTER).await;
    let mut delays = Vec::new();
    for _ in 0..20 {
        peer.say(BIRTH, "online").await;
        // A second birth within that time is no second telling.
        peer.say(BIRTH, "online").await;
        let begun = Instant::now();
        assert_eq!(peer.next().await.unwrap().topic, DISCOVERY);
        delays.push(begun.elapsed());
        assert_eq!(discoveries(&peer.all_in(TOLD_AFTER).await), 0);
    }
    let (first, last) = (delays.iter().min().unwrap(), delays.iter().max().unwrap());
    assert!(*last <= REBIRTH_MAX, "{delays:?}");
    // Drawn twenty times they are not all within a tenth of the time.
    assert!(*last - *first > REBIRTH_MAX / 10, "{delays:?}");
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn home_assistant_that_starts_again_and_again_is_told_in_time() {
    let (rig, mut arrivals) = rig().await;
    let mut peer = Peer::accept(&mut arrivals).await;
    peer.all_in(TOLD_AFTER).await;
    let pause = Duration::from_millis(100);
    let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
    for _ in 0..600 {
        peer.say(BIRTH, "online").await;
        if discoveries(&peer.all_in(pause).await) > 0 {
            last = Instant::now();
        }
        longest = longest.max(last.elapsed());
    }
    assert!(longest <= REBIRTH_MAX + 2 * pause, "{longest:?}");
    rig.stop().await;
}
