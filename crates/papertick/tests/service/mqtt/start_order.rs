//! Broker, Home Assistant and clock start and restart in any order: in the end the broker has all retained messages, and
//! Home Assistant gets the discovery of an entity before its state.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use device::request::Request;
use net::{backoff::STABLE_AFTER, dialer::Arrival};
use tokio::{sync::mpsc, time::Instant};

use super::{
    OWN, Rig, in_memory, settings,
    test_broker::{Published, TestBroker},
};

const DISCOVERY: &str = "homeassistant/device/papertick-aabbcc/config";
const BIRTH: &str = "homeassistant/status";

/// Longest time between a birth message and the first message after it.
const REPUBLISH_MAX: Duration = Duration::from_secs(5);

/// Time after which a clock has published everything and its splash screen is over.
const PUBLISHED_AFTER: Duration = Duration::from_secs(15);

/// Longest time until a clock reconnects to a broker that restarted.
const RECONNECT_MAX: Duration = Duration::from_secs(60);

/// Retained messages by topic.
type Retained = BTreeMap<String, String>;

/// A clock whose screen does not change.
async fn clock() -> (Rig, mpsc::Receiver<Arrival>) {
    let (rig, arrivals) = in_memory(settings("broker", 0)).await;
    let text = Request::ShowText("HODL".into());
    rig.inbox.request(text).await.unwrap().unwrap();
    (rig, arrivals)
}

fn retained(messages: &[Published]) -> Retained {
    let mut retained = Retained::new();
    for message in messages.iter().filter(|message| message.retain) {
        if message.payload.is_empty() {
            retained.remove(&message.topic)
        } else {
            let text = String::from_utf8(message.payload.clone()).unwrap();
            retained.insert(message.topic.clone(), text)
        };
    }
    // Free memory changes all the time; only compare whether the message exists.
    if let Some(host) = retained.get_mut(&format!("{OWN}/host")) {
        host.clear();
    }
    retained
}

fn assert_equal(before: &Retained, after: &Retained) {
    let topics: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for topic in topics {
        assert_eq!(before.get(topic), after.get(topic), "{topic}");
    }
}

/// Number of discovery messages.
fn discoveries(messages: &[Published]) -> usize {
    let is_one = |message: &&Published| message.topic == DISCOVERY;
    messages.iter().filter(is_one).count()
}

/// Checks that all topics are published, the discovery first.
fn check(messages: &[Published]) {
    let position = |topic: &str| messages.iter().position(|message| message.topic == topic);
    let discovery = position(DISCOVERY).expect("no discovery");
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
        let position = position(&topic).unwrap_or_else(|| panic!("nothing on {topic}"));
        assert!(discovery < position, "{topic} comes before the discovery");
    }
    let status = retained(messages).remove(&format!("{OWN}/status"));
    assert_eq!(status.as_deref(), Some("online"));
}

#[tokio::test(start_paused = true)]
async fn home_assistant_starts_before_the_clock() {
    let (rig, mut arrivals) = clock().await;
    let mut broker = TestBroker::accept(&mut arrivals).await;
    // Home Assistant may be configured to retain its birth message.
    broker.publish_retained(BIRTH, "online").await;
    let messages = broker.all_within(PUBLISHED_AFTER).await;
    check(&messages);
    // The retained birth message does not cause a second one.
    assert_eq!(discoveries(&messages), 1);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn home_assistant_starts_after_the_clock() {
    let (rig, mut arrivals) = clock().await;
    let mut broker = TestBroker::accept(&mut arrivals).await;
    let before = retained(&broker.all_within(PUBLISHED_AFTER).await);
    broker.publish(BIRTH, "online").await;
    let start = Instant::now();
    let first = broker.next().await.unwrap();
    assert_eq!(first.topic, DISCOVERY);
    assert!(start.elapsed() <= REPUBLISH_MAX, "{:?}", start.elapsed());
    let mut messages = vec![first];
    messages.extend(broker.all_within(PUBLISHED_AFTER).await);
    check(&messages);
    assert_equal(&before, &retained(&messages));
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_clock_starts_before_the_broker() {
    let (rig, mut arrivals) = clock().await;
    // The port is open before the broker answers.
    for _ in 0..3 {
        drop(arrivals.recv().await);
    }
    let is_up = |rig: &Rig| rig.view().mqtt.as_ref().is_some_and(|state| state.up);
    assert!(!is_up(&rig));
    let mut broker = TestBroker::accept(&mut arrivals).await;
    check(&broker.all_within(PUBLISHED_AFTER).await);
    assert!(is_up(&rig));
    // Home Assistant starts last.
    broker.publish(BIRTH, "online").await;
    check(&broker.all_within(PUBLISHED_AFTER).await);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_broker_restarts_without_its_retained_messages() {
    let (rig, mut arrivals) = clock().await;
    let mut broker = TestBroker::accept(&mut arrivals).await;
    let before = retained(&broker.all_within(PUBLISHED_AFTER).await);
    for is_home_assistant_first in [true, false] {
        drop(broker);
        let start = Instant::now();
        broker = TestBroker::accept(&mut arrivals).await;
        assert!(start.elapsed() <= RECONNECT_MAX, "{:?}", start.elapsed());
        if !is_home_assistant_first {
            // Home Assistant starts while the clock publishes, so everything must be published again, discovery first.
            let messages = broker.all_within(Duration::from_millis(500)).await;
            assert_eq!(discoveries(&messages), 1);
            broker.publish(BIRTH, "online").await;
        }
        let messages = broker.all_within(PUBLISHED_AFTER).await;
        check(&messages);
        assert_equal(&before, &retained(&messages));
        assert_eq!(discoveries(&messages), 1);
    }
    rig.stop().await;
}

/// A broker that accepts connections and closes them must not get one every few seconds from every clock.
#[tokio::test(start_paused = true)]
async fn the_backoff_starts_again_only_after_a_stable_connection() {
    let (rig, mut arrivals) = clock().await;
    let short = STABLE_AFTER - Duration::from_secs(1);
    let long = STABLE_AFTER + Duration::from_secs(1);
    // Duration of the connection, and the delay after it, s, within a fifth.
    let rows = [
        (Duration::ZERO, 5),
        (short, 10),
        (short, 20),
        (short, 40),
        (short, 60),
        (long, 5),
        (short, 10),
    ];
    let mut broker = TestBroker::accept(&mut arrivals).await;
    for (number, (duration, delay)) in rows.into_iter().enumerate() {
        broker.all_within(duration).await;
        drop(broker);
        let start = Instant::now();
        broker = TestBroker::accept(&mut arrivals).await;
        let waited = start.elapsed();
        let delay = Duration::from_secs(delay);
        let expected = delay - delay / 5..=delay + delay / 5;
        assert!(expected.contains(&waited), "{number}: {waited:?}");
    }
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_delay_after_a_birth_message_is_random() {
    let (rig, mut arrivals) = clock().await;
    let mut broker = TestBroker::accept(&mut arrivals).await;
    broker.all_within(PUBLISHED_AFTER).await;
    let mut delays = Vec::new();
    for _ in 0..20 {
        broker.publish(BIRTH, "online").await;
        // A second birth message within the delay changes nothing.
        broker.publish(BIRTH, "online").await;
        let start = Instant::now();
        assert_eq!(broker.next().await.unwrap().topic, DISCOVERY);
        delays.push(start.elapsed());
        assert_eq!(discoveries(&broker.all_within(PUBLISHED_AFTER).await), 0);
    }
    let (first, last) = (delays.iter().min().unwrap(), delays.iter().max().unwrap());
    assert!(*last <= REPUBLISH_MAX, "{delays:?}");
    // Of twenty random delays not all are within a tenth of the range.
    assert!(*last - *first > REPUBLISH_MAX / 10, "{delays:?}");
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn repeated_birth_messages_do_not_extend_the_delay() {
    let (rig, mut arrivals) = clock().await;
    let mut broker = TestBroker::accept(&mut arrivals).await;
    broker.all_within(PUBLISHED_AFTER).await;
    let pause = Duration::from_millis(100);
    let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
    for _ in 0..600 {
        broker.publish(BIRTH, "online").await;
        if discoveries(&broker.all_within(pause).await) > 0 {
            last = Instant::now();
        }
        longest = longest.max(last.elapsed());
    }
    assert!(longest <= REPUBLISH_MAX + 2 * pause, "{longest:?}");
    rig.stop().await;
}
