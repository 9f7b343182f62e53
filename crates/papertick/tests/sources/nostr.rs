//! Nostr data and zaps: a real relay, and relays that send false events.

use std::{collections::BTreeMap, time::Duration};

use device::{secret::Secret, sources::SourceConfig};
use feeds::nostr::{
    data,
    event::{NostrEvent, Signer},
    frame, zap,
};
use futures_util::{SinkExt, StreamExt};
use market::{Connection, Observation, Zap, source_id::SourceId, units::Sats};
use net::dialer::Arrival;
use nostr_relay_builder::MockRelay;
use tokio::{io::DuplexStream, sync::mpsc, time};
use tokio_tungstenite::{WebSocketStream, accept_async, tungstenite::Message};

use crate::rig::{Rig, accept, precise_fee, price};

const AUTHOR_SECRET: &str = "b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfef";
const OTHER_SECRET: &str = "0000000000000000000000000000000000000000000000000000000000000002";

fn signer(secret: &str) -> Signer {
    Signer::new(&Secret::new(secret)).unwrap()
}

fn data_event(slot: &str, content: &str, created_at: u64) -> NostrEvent {
    signer(AUTHOR_SECRET).sign(
        created_at,
        data::KIND,
        &[&["d", slot]],
        content.to_owned(),
        &[7; 32],
    )
}

fn receipt(recipient: &str, message: &str, created_at: u64) -> NostrEvent {
    let tags: &[&[&str]] = &[&["p", recipient], &["amount", "21000"]];
    signer(OTHER_SECRET).sign(created_at, zap::KIND, tags, message.to_owned(), &[7; 32])
}

fn data_config(relay: &str) -> SourceConfig {
    SourceConfig::Nostr {
        relays: vec![relay.into()],
        author: signer(AUTHOR_SECRET).author(),
    }
}

fn zap_config(relay: &str) -> SourceConfig {
    SourceConfig::Zaps {
        relays: vec![relay.into()],
        recipients: vec![signer(AUTHOR_SECRET).author()],
    }
}

/// An event of a relay for a subscription.
fn event_message(subscription: &str, event: &NostrEvent) -> Message {
    Message::text(serde_json::to_string(&("EVENT", subscription, event)).unwrap())
}

fn unix_secs() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

/// Publishes on a real relay.
struct Publisher(WebSocketStream<tokio::net::TcpStream>);

impl Publisher {
    async fn connect(url: &str) -> Publisher {
        let place = url.trim_start_matches("ws://").trim_end_matches('/');
        let tcp = tokio::net::TcpStream::connect(place).await.unwrap();
        Publisher(tokio_tungstenite::client_async(url, tcp).await.unwrap().0)
    }

    async fn publish(&mut self, event: &NostrEvent) {
        self.0
            .send(Message::text(frame::publish(event)))
            .await
            .unwrap();
        let answer = self.0.next().await.unwrap().unwrap().into_text().unwrap();
        assert!(answer.contains("true"), "{answer}");
    }
}

#[tokio::test]
async fn data_and_zaps_come_from_a_real_relay() {
    let relay = MockRelay::run().await.unwrap();
    let url = relay.url().await.to_string();
    let mut publisher = Publisher::connect(&url).await;
    let now = unix_secs();
    publisher
        .publish(&data_event("blockheight", "870124", now - 60))
        .await;
    let mut rig = Rig::on_loopback(&[]);
    rig.plan(SourceId::Nostr, data_config(&url));
    let seen = rig.until(|seen| *seen == Observation::Block(870_124)).await;
    assert!(
        seen.iter()
            .any(|seen| matches!(seen, Observation::Connection(_)))
    );
    publisher
        .publish(&data_event("price:USD", "64321.50", now))
        .await;
    rig.until(|seen| *seen == price("USD", "64321.50")).await;
    publisher
        .publish(&data_event("medianFee", "12.75", now))
        .await;
    rig.until(|seen| *seen == precise_fee("12.75")).await;

    rig.plan(SourceId::Zaps, zap_config(&url));
    rig.up().await;
    publisher
        .publish(&receipt(&signer(AUTHOR_SECRET).author(), "thanks!", now))
        .await;
    let zap = Zap {
        amount: Sats(21),
        message: "thanks!".to_owned(),
    };
    rig.until(|seen| *seen == Observation::Zap(zap.clone()))
        .await;
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn false_events_have_no_effect() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Nostr, data_config("ws://nostr.example"));
    let mut server = accept(&mut arrivals).await;
    let request = server.next().await.unwrap().unwrap().into_text().unwrap();
    let author = signer(AUTHOR_SECRET).author();
    assert_eq!(
        request.as_str(),
        format!(
            r#"["REQ","{}",{{"kinds":[30078],"authors":["{author}"]}}]"#,
            data::SUBSCRIPTION
        )
    );
    rig.next().await;
    let good = data_event("blockheight", "870124", 1_714_000_000);
    #[rustfmt::skip]
    let false_events = [
        NostrEvent { content: "999999".to_owned(),..good.clone() },
        NostrEvent { sig: good.sig.replace('a', "b"),..good.clone() },
        NostrEvent { id: good.id.replace('a', "b"),..good.clone() },
        signer(OTHER_SECRET).sign(1_714_000_000, data::KIND, &[&["d", "blockheight"]], "999999".to_owned(), &[7; 32]),
    ];
    for event in &false_events {
        server
            .send(event_message(data::SUBSCRIPTION, event))
            .await
            .unwrap();
    }
    server.send(event_message("another", &good)).await.unwrap();
    server.send(Message::text("[\"EVENT\"]")).await.unwrap();
    server
        .send(Message::text("[\"NOTICE\",\"rate-limited\"]"))
        .await
        .unwrap();
    let (_, seen) = rig.next().await;
    let [Observation::Complaint(_), Observation::Dropped(_, 1)] = seen[..] else {
        panic!("{seen:?}");
    };
    assert!(
        rig.is_quiet(Duration::from_secs(1)).await,
        "nothing was accepted"
    );
    server
        .send(event_message(data::SUBSCRIPTION, &good))
        .await
        .unwrap();
    rig.until(|seen| *seen == Observation::Block(870_124)).await;
    server
        .send(Message::text(format!(
            r#"["CLOSED","{}","no more"]"#,
            data::SUBSCRIPTION
        )))
        .await
        .unwrap();
    assert_eq!(
        rig.down().await.0,
        "the relay ended the subscription: no more"
    );
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn recent_zaps_are_requested_and_shown_once() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    let now = 1_767_225_600;
    rig.clock.set(1_767_225_600_000);
    rig.plan(SourceId::Zaps, zap_config("ws://nostr.example"));
    let mut server = accept(&mut arrivals).await;
    let request = server.next().await.unwrap().unwrap().into_text().unwrap();
    let recipient = signer(AUTHOR_SECRET).author();
    let filter = format!(
        r##"{{"kinds":[9735],"#p":["{recipient}"],"since":{},"limit":1}}"##,
        now - 900
    );
    assert_eq!(
        request.as_str(),
        format!(r#"["REQ","{}",{filter}]"#, zap::SUBSCRIPTION)
    );
    let old = receipt(&recipient, "old", now - 901);
    let fresh = receipt(&recipient, "fresh", now - 900);
    let other_recipient = receipt(&signer(OTHER_SECRET).author(), "other", now);
    for event in [&old, &other_recipient, &fresh, &fresh] {
        server
            .send(event_message(zap::SUBSCRIPTION, event))
            .await
            .unwrap();
    }
    let zap = |message: &str| {
        Observation::Zap(Zap {
            amount: Sats(21),
            message: message.to_owned(),
        })
    };
    rig.until(|seen| *seen == zap("fresh")).await;

    // Shown zaps are remembered over a lost connection.
    drop(server);
    let mut server = accept(&mut arrivals).await;
    server
        .send(event_message(zap::SUBSCRIPTION, &fresh))
        .await
        .unwrap();
    server
        .send(event_message(
            zap::SUBSCRIPTION,
            &receipt(&recipient, "next", now),
        ))
        .await
        .unwrap();
    let seen = rig.until(|seen| *seen == zap("next")).await;
    assert!(!seen.contains(&zap("fresh")), "{seen:?}");

    // Neither are they repeated by a source that was restarted with other settings.
    let mut moved = zap_config("ws://nostr.example");
    if let SourceConfig::Zaps { relays, .. } = &mut moved {
        *relays = vec!["ws://another.example".into()];
    }
    rig.plan(SourceId::Zaps, moved);
    let mut server = accept(&mut arrivals).await;
    for message in ["next", "last"] {
        let event = receipt(&recipient, message, now);
        server
            .send(event_message(zap::SUBSCRIPTION, &event))
            .await
            .unwrap();
    }
    let seen = rig.until(|seen| *seen == zap("last")).await;
    assert!(!seen.contains(&zap("next")), "{seen:?}");
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_relay_url_without_a_web_socket_scheme_is_reported() {
    let (mut rig, _arrivals) = Rig::in_memory();
    rig.plan(SourceId::Nostr, data_config("https://nostr.example"));
    assert_eq!(rig.down().await.0, "the address has no supported scheme");
    rig.stop().await;
}

/// The relays of a plan, in the order of their connections.
async fn relays<const N: usize>(
    arrivals: &mut mpsc::Receiver<Arrival>,
) -> BTreeMap<String, WebSocketStream<DuplexStream>> {
    let mut relays = BTreeMap::new();
    while relays.len() < N {
        let Arrival { place, stream } = arrivals.recv().await.unwrap();
        let mut socket = accept_async(stream).await.unwrap();
        let request = socket.next().await.unwrap().unwrap();
        assert!(request.to_text().unwrap().starts_with("[\"REQ\""));
        relays.insert(place, socket);
    }
    relays
}

fn two_relays(mut config: SourceConfig) -> SourceConfig {
    let (SourceConfig::Nostr { relays, .. } | SourceConfig::Zaps { relays, .. }) = &mut config
    else {
        panic!("{config:?}");
    };
    *relays = vec!["ws://a.example".into(), "ws://b.example".into()];
    config
}

#[tokio::test(start_paused = true)]
async fn events_of_two_relays_count_once_and_the_newest_wins() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Nostr, two_relays(data_config("")));
    let mut relays = relays::<2>(&mut arrivals).await;
    let [old, new, newest] = [(100, "7"), (200, "8"), (300, "9")]
        .map(|(made, height)| data_event("blockheight", height, made));
    for (place, event) in [
        ("a.example:80", &new),
        ("b.example:80", &new),
        ("b.example:80", &old),
        ("a.example:80", &new),
        ("b.example:80", &newest),
    ] {
        let relay = relays.get_mut(place).unwrap();
        relay
            .send(event_message(data::SUBSCRIPTION, event))
            .await
            .unwrap();
        // Each is handled before the next is sent.
        time::sleep(Duration::from_secs(1)).await;
    }
    let seen = rig.until(|seen| *seen == Observation::Block(9)).await;
    let blocks: Vec<&Observation> = seen
        .iter()
        .filter(|seen| matches!(seen, Observation::Block(_)))
        .collect();
    assert_eq!(blocks, [&Observation::Block(8), &Observation::Block(9)]);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn zaps_of_all_keys_come_from_all_relays_and_once() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    let now = 1_767_225_600;
    rig.clock.set(1_767_225_600_000);
    let [first, second] = [AUTHOR_SECRET, OTHER_SECRET].map(|secret| signer(secret).author());
    let mut config = two_relays(zap_config(""));
    if let SourceConfig::Zaps { recipients, .. } = &mut config {
        recipients.push(second.clone());
    }
    rig.plan(SourceId::Zaps, config);
    let mut relays = relays::<2>(&mut arrivals).await;
    let to_first = receipt(&first, "first", now);
    let to_second = receipt(&second, "second", now - 1);
    let last = receipt(&second, "last", now);
    for (place, event) in [
        ("b.example:80", &to_first),
        ("a.example:80", &to_first),
        ("a.example:80", &to_second),
        ("b.example:80", &to_second),
        ("b.example:80", &last),
    ] {
        let relay = relays.get_mut(place).unwrap();
        relay
            .send(event_message(zap::SUBSCRIPTION, event))
            .await
            .unwrap();
        time::sleep(Duration::from_secs(1)).await;
    }
    let is_last =
        |seen: &Observation| matches!(seen, Observation::Zap(zap) if zap.message == "last");
    let mut zaps = Vec::new();
    for seen in rig.until(is_last).await {
        if let Observation::Zap(zap) = seen {
            zaps.push(zap.message);
        }
    }
    assert_eq!(zaps, ["first", "second", "last"]);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_relay_that_is_down_does_not_stop_the_others() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Nostr, two_relays(data_config("")));
    let mut relays = relays::<2>(&mut arrivals).await;
    let event = data_event("blockheight", "7", 100);
    let b = relays.get_mut("b.example:80").unwrap();
    b.send(event_message(data::SUBSCRIPTION, &event))
        .await
        .unwrap();
    rig.until(|seen| *seen == Observation::Block(7)).await;

    // One relay goes away: the source is up, and reports the problem.
    drop(relays.remove("a.example:80"));
    let seen = rig
        .until(|seen| matches!(seen, Observation::Complaint(_)))
        .await;
    let expected = "ws://a.example: the connection was lost";
    assert_eq!(
        seen,
        [
            Observation::Connection(Connection::Up),
            Observation::Complaint(expected.to_owned())
        ]
    );
    let event = data_event("blockheight", "8", 200);
    let b = relays.get_mut("b.example:80").unwrap();
    b.send(event_message(data::SUBSCRIPTION, &event))
        .await
        .unwrap();
    rig.until(|seen| *seen == Observation::Block(8)).await;

    // No relay is left: the source is down, with the reasons of all.
    drop(arrivals);
    drop(relays);
    let reason = loop {
        let (reason, _) = rig.down().await;
        if reason.matches("refused").count() == 2 {
            break reason;
        }
    };
    assert_eq!(
        reason,
        "ws://a.example: connecting to a.example:80: connection refused; \
         ws://b.example: connecting to b.example:80: connection refused"
    );
    rig.stop().await;
}
