//! Public peers: a few at a time, of different networks, and rotated.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use chain::{Header, network::Network};
use device::sources::{PeersConfig, SourceConfig};
use feeds::p2p;
use market::{Connection, HeightState, Observation, source_id::SourceId};
use net::dialer::Arrival;
use sources::peers::{
    CHECK_EVERY, EXTRA_PEERS, FAILED_PAUSE, FAULTY_PAUSE, ROTATE_EVERY, SEEDS_EVERY, SILENCE,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream},
    sync::{mpsc, watch},
    task::JoinHandle,
    time::{self, Instant},
};

use crate::{
    chain_rig::{ChainRig, Miner},
    greeting::{announced, greeting},
    miner::mined::without_work,
    nodes::{Announcement, Node, peer},
    proxy::{requested, through},
};

fn peers(hosts: &[&str], most: u32) -> SourceConfig {
    SourceConfig::Peers(PeersConfig {
        network: Network::Regtest,
        hosts: hosts.iter().map(ToString::to_string).collect(),
        most,
    })
}

/// Times and destinations of all connections.
#[derive(Debug, Clone)]
struct Places(watch::Receiver<Vec<(String, Instant)>>);

impl Places {
    fn all(&self) -> Vec<String> {
        let places = self.0.borrow();
        places.iter().map(|(place, _)| place.clone()).collect()
    }

    fn distinct(&self) -> BTreeSet<String> {
        self.all().into_iter().collect()
    }

    fn times(&self, wanted: &str) -> Vec<Instant> {
        let places = self.0.borrow();
        let same = places.iter().filter(|(place, _)| place == wanted);
        same.map(|(_, at)| *at).collect()
    }
}

/// Serves every connection by its destination; also returns the number of open ones.
fn serve(
    mut arrivals: mpsc::Receiver<Arrival>,
    serve_peer: impl Fn(&str, DuplexStream) -> JoinHandle<()> + Send + 'static,
) -> (Places, watch::Receiver<usize>, JoinHandle<()>) {
    let (sender, places) = watch::channel(Vec::new());
    let (open, opened) = watch::channel(0);
    let server = tokio::spawn(async move {
        while let Some(arrival) = arrivals.recv().await {
            let place = (arrival.place.clone(), Instant::now());
            sender.send_modify(|places| places.push(place));
            let serving = serve_peer(&arrival.place, arrival.stream);
            open.send_modify(|open| *open += 1);
            let open = open.clone();
            tokio::spawn(async move {
                let _ = serving.await;
                open.send_modify(|open| *open -= 1);
            });
        }
    });
    (Places(places), opened, server)
}

fn honest(node: &Node) -> impl Fn(&str, DuplexStream) -> JoinHandle<()> + Send + use<> {
    let node = node.clone();
    move |_, stream| tokio::spawn(peer(stream, node.clone(), Announcement::Headers))
}

#[tokio::test(start_paused = true)]
async fn two_peers_prove_a_height_and_no_more_are_connected() {
    let (mut rig, arrivals) = ChainRig::in_memory();
    let (node, updates) = watch::channel(Miner::with(4100));
    let (places, opened, server) = serve(arrivals, honest(&updates));
    let hosts = ["a.onion", "b:7", "c", "d"];
    rig.plan(SourceId::Peers, peers(&hosts, 2));
    let miner = node.borrow().clone();
    rig.until_tip(&miner, HeightState::Proven).await;
    node.send_modify(|miner| miner.mine(1));
    let miner = node.borrow().clone();
    rig.until_tip(&miner, HeightState::Proven).await;
    assert_eq!(places.all(), ["a.onion:18444", "b:7"]);
    assert_eq!(*opened.borrow(), 2);
    let seen = rig.current();
    let up = Observation::Connection(Connection::Up);
    assert_eq!(
        seen.observations
            .iter()
            .filter(|observation| **observation == up)
            .count(),
        1
    );
    // Configured peers are not remembered.
    assert!(rig.known.list().is_empty());
    // Headers from one peer are not requested from the other.
    assert!(seen.messages <= 8, "{}", seen.messages);
    server.abort();
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_has_left_does_not_count_until_it_is_back() {
    let (mut rig, arrivals) = ChainRig::in_memory();
    let (node, updates) = watch::channel(Miner::with(30));
    let (end, ended) = watch::channel(());
    let serve_peer = honest(&updates);
    let (places, _, server) = serve(arrivals, move |place, stream| {
        let (near, far) = tokio::io::duplex(1 << 16);
        let (serving, mut ended) = (serve_peer(place, far), ended.clone());
        let leaves = place == "b:7";
        ended.mark_unchanged();
        tokio::spawn(async move {
            let (mut near, mut stream) = (near, stream);
            tokio::select! {
                _ = tokio::io::copy_bidirectional(&mut near, &mut stream) => {}
                _ = ended.changed(), if leaves => {}
            }
            serving.abort();
        })
    });
    rig.plan(SourceId::Peers, peers(&["a", "b:7"], 2));
    let miner = node.borrow().clone();
    rig.until_tip(&miner, HeightState::Proven).await;
    end.send_replace(());
    rig.until_tip(&miner, HeightState::Alone).await;
    rig.until_tip(&miner, HeightState::Proven).await;
    let times = places.times("b:7");
    assert!(times[1] - times[0] >= FAILED_PAUSE, "{times:?}");
    server.abort();
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_breaks_the_rules_is_paused_for_a_day() {
    let (mut rig, arrivals) = ChainRig::in_memory();
    let mut liar = Miner::with(30);
    let broken = liar.headers.last_mut().unwrap();
    *broken = without_work(*broken);
    let (_lies, lies) = watch::channel(liar);
    let (truth, updates) = watch::channel(Miner::with(40));
    let (places, _, server) = serve(arrivals, move |place, stream| {
        let node = if place.starts_with("liar") { &lies } else { &updates };
        tokio::spawn(peer(stream, node.clone(), Announcement::Headers))
    });
    rig.plan(SourceId::Peers, peers(&["liar", "honest"], 2));
    let miner = truth.borrow().clone();
    rig.until_tip(&miner, HeightState::Alone).await;
    time::sleep(FAULTY_PAUSE + 2 * CHECK_EVERY).await;
    let times = places.times("liar:18444");
    assert_eq!(times.len(), 2, "{:?}", places.all());
    assert!(times[1] - times[0] >= FAULTY_PAUSE);
    assert_eq!(places.times("honest:18444").len(), 1);
    assert_eq!(rig.current().tip, Some(miner.tip()));
    server.abort();
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_silent_peer_is_retried_later() {
    let (mut rig, arrivals) = ChainRig::in_memory();
    let (places, _, server) = serve(arrivals, |_, stream| {
        tokio::spawn(async move {
            let mut stream = stream;
            let _ = stream.read_to_end(&mut Vec::new()).await;
        })
    });
    rig.plan(SourceId::Peers, peers(&["mute"], 4));
    let (reason, _) = rig.down().await;
    assert_eq!(reason, "mute:18444: no handshake in time");
    // If no peer responds, the cause may be the network, so the pauses are short at first and then grow.
    time::sleep(4 * FAILED_PAUSE).await;
    let times = places.times("mute:18444");
    let pauses = times.windows(2).map(|two| two[1] - two[0]);
    let pauses: Vec<Duration> = pauses.collect();
    assert!(pauses[0] <= 3 * CHECK_EVERY, "{pauses:?}");
    assert!(pauses.is_sorted(), "{pauses:?}");
    assert!(pauses.len() < 10, "{pauses:?}");
    assert!(pauses.last() >= Some(&FAILED_PAUSE), "{pauses:?}");
    server.abort();
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn known_peers_are_connected_first_and_one_per_network() {
    let known = [
        "192.0.2.7:18444",
        "192.0.9.9:18444",
        "[2001:db8:1:2::1]:18444",
        "[2001:db8:1:3::1]:18444",
        "198.51.100.7:18444",
    ];
    let (mut rig, arrivals) = ChainRig::knowing(&known);
    let (node, updates) = watch::channel(Miner::with(10));
    let (places, _, server) = serve(arrivals, honest(&updates));
    rig.plan(SourceId::Peers, peers(&[], 5));
    let miner = node.borrow().clone();
    rig.until_tip(&miner, HeightState::Proven).await;
    time::sleep(Duration::from_secs(60)).await;
    let one_of_each = [
        "192.0.2.7:18444",
        "[2001:db8:1:2::1]:18444",
        "198.51.100.7:18444",
    ];
    assert_eq!(places.distinct(), one_of_each.map(str::to_owned).into());
    assert_eq!(rig.known.list(), known);
    server.abort();
    rig.stop().await;
}

/// An outage of our own network ends all connections, one after the other, and no new one succeeds.
#[tokio::test(start_paused = true)]
async fn peers_are_remembered_through_an_outage_of_our_own_network() {
    let known: Vec<String> = (1..=4).map(|net| format!("10.{net}.0.1:18444")).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let (mut rig, arrivals) = ChainRig::knowing(&known);
    let (node, updates) = watch::channel(Miner::with(10));
    let (outage, is_out) = watch::channel(false);
    let serve_peer = honest(&updates);
    let (places, _, server) = serve(arrivals, move |place, stream| {
        let mut is_out = is_out.clone();
        // This connection notices the outage later than the others.
        let is_late = place.starts_with("10.2.") && !*is_out.borrow();
        let (mut near, far) = tokio::io::duplex(1 << 16);
        let serving = serve_peer(place, far);
        tokio::spawn(async move {
            let mut stream = stream;
            let cut = async {
                let _ = is_out.wait_for(|is_out| *is_out).await;
                if is_late {
                    time::sleep(FAILED_PAUSE / 2).await;
                }
            };
            tokio::select! {
                biased;
                () = cut => {}
                _ = tokio::io::copy_bidirectional(&mut near, &mut stream) => {}
            }
            serving.abort();
        })
    });
    rig.plan(SourceId::Peers, peers(&[], 2));
    let miner = node.borrow().clone();
    rig.until_tip(&miner, HeightState::Proven).await;
    outage.send_replace(true);
    rig.down().await;
    time::sleep(4 * FAILED_PAUSE).await;
    assert_eq!(places.distinct().len(), 4, "all peers were tried");
    outage.send_replace(false);
    node.send_modify(|miner| miner.mine(1));
    let tip = node.borrow().tip();
    rig.until(|seen| seen.tip == Some(tip)).await;
    time::sleep(2 * FAILED_PAUSE).await;
    assert_eq!(rig.known.list(), known);
    server.abort();
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_fails_while_others_work_is_removed() {
    let known = ["10.1.0.1:18444", "10.2.0.1:18444", "10.3.0.1:18444"];
    let (mut rig, arrivals) = ChainRig::knowing(&known);
    let (node, updates) = watch::channel(Miner::with(10));
    let serve_peer = honest(&updates);
    let (_, _, server) = serve(arrivals, move |place, stream| match place {
        "10.2.0.1:18444" => tokio::spawn(async move { drop(stream) }),
        _ => serve_peer(place, stream),
    });
    rig.plan(SourceId::Peers, peers(&[], 2));
    let miner = node.borrow().clone();
    rig.until_tip(&miner, HeightState::Proven).await;
    time::sleep(2 * FAILED_PAUSE).await;
    assert_eq!(rig.known.list(), [known[0], known[2]]);
    server.abort();
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn more_peers_are_connected_while_no_block_arrives() {
    let known: Vec<String> = (1..=9).map(|net| format!("10.{net}.0.1:18444")).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let (mut rig, arrivals) = ChainRig::knowing(&known);
    let (node, updates) = watch::channel(Miner::with(10));
    let (places, mut opened, server) = serve(arrivals, honest(&updates));
    rig.plan(SourceId::Peers, peers(&[], 2));
    let miner = node.borrow().clone();
    rig.until_tip(&miner, HeightState::Proven).await;
    time::sleep(SILENCE - 2 * CHECK_EVERY).await;
    assert_eq!(places.all().len(), 2);
    time::sleep(4 * CHECK_EVERY).await;
    assert_eq!(places.all().len(), 2 + EXTRA_PEERS);
    node.send_modify(|miner| miner.mine(1));
    let fewer = opened.wait_for(|open| *open == 2);
    time::timeout(SILENCE, fewer).await.unwrap().unwrap();
    server.abort();
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn peers_rotate_except_the_anchor() {
    let known: Vec<String> = (1..=4).map(|net| format!("10.{net}.0.1:18444")).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let (mut rig, arrivals) = ChainRig::knowing(&known);
    let (node, updates) = watch::channel(Miner::with(10));
    let (places, opened, server) = serve(arrivals, honest(&updates));
    rig.plan(SourceId::Peers, peers(&[], 2));
    let miner = node.borrow().clone();
    rig.until_tip(&miner, HeightState::Proven).await;
    // Blocks arrive, so no additional peers are connected.
    let began = Instant::now();
    while began.elapsed() < ROTATE_EVERY + Duration::from_secs(900) {
        time::sleep(Duration::from_secs(600)).await;
        node.send_modify(|miner| miner.mine(1));
    }
    assert_eq!(
        places.all(),
        ["10.1.0.1:18444", "10.2.0.1:18444", "10.3.0.1:18444"]
    );
    assert_eq!(*opened.borrow(), 2);
    server.abort();
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_stays_behind_is_disconnected() {
    let (mut rig, arrivals) = ChainRig::in_memory();
    let mut miner = Miner::with(10);
    let (_old, old) = watch::channel(miner.clone());
    miner.mine(5);
    let (node, updates) = watch::channel(miner);
    let (places, _, server) = serve(arrivals, move |place, stream| {
        let node = if place.starts_with("behind") { &old } else { &updates };
        tokio::spawn(peer(stream, node.clone(), Announcement::Nothing))
    });
    rig.plan(SourceId::Peers, peers(&["ahead", "behind"], 2));
    let miner = node.borrow().clone();
    rig.until_tip(&miner, HeightState::Alone).await;
    time::sleep(Duration::from_secs(45 * 60)).await;
    assert_eq!(places.times("ahead:18444").len(), 1);
    assert!(places.times("behind:18444").len() > 1, "{:?}", places.all());
    server.abort();
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_headers_or_invalid_messages_ends_a_connection() {
    let header = chain::bytes(&chain::anchor::genesis(Network::Regtest));
    let entry = [&header[..], &[0]].concat();
    let flood = p2p::encode(
        Network::Regtest,
        "headers",
        &[&[17][..], &entry.repeat(17)].concat(),
    );
    let nonsense = p2p::encode(Network::Regtest, "headers", &[7]);
    #[rustfmt::skip]
    let rows = [
        (flood, "it sends headers that were not requested", None),
        (nonsense, "it sends invalid messages (headers)", Some("headers")),
        (p2p::encode(Network::Main, "ping", &[0; 8]), "it sends invalid messages (network)", Some("network")),
    ];
    for (words, reason, dropped) in rows {
        let (mut rig, arrivals) = ChainRig::in_memory();
        let (_, _, server) = serve(arrivals, move |_, mut stream| {
            let words = words.clone();
            tokio::spawn(async move {
                let mut version = vec![0; 24];
                stream.read_exact(&mut version).await.unwrap();
                let length = u32::from_le_bytes(version[16..20].try_into().unwrap());
                let mut payload = vec![0; length as usize];
                stream.read_exact(&mut payload).await.unwrap();
                payload[4] = 1;
                let network = Network::Regtest;
                let version = p2p::encode(network, "version", &payload);
                let greeting = [version, p2p::encode_verack(network)].concat();
                stream.write_all(&greeting).await.unwrap();
                // There are no headers after the requested ones.
                let nothing = p2p::encode(network, "headers", &[0]);
                let _ = stream.write_all(&[nothing, words].concat()).await;
                let _ = stream.read_to_end(&mut Vec::new()).await;
            })
        });
        rig.plan(SourceId::Peers, peers(&["odd"], 1));
        let (down_reason, _) = rig.down().await;
        let counted = rig
            .current()
            .observations
            .iter()
            .find_map(|observation| match observation {
                Observation::Dropped(reason, _) => Some(*reason),
                _ => None,
            });
        assert_eq!(
            (down_reason, counted),
            (format!("odd:18444: {reason}"), dropped)
        );
        assert_eq!(rig.current().height, None);
        server.abort();
        rig.stop().await;
    }
}

/// Reads the next message from a client.
async fn message(stream: &mut DuplexStream) -> Option<(String, Vec<u8>)> {
    let mut head = [0; p2p::HEAD_BYTES];
    stream.read_exact(&mut head).await.ok()?;
    let (name, length) = announced(&head);
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload).await.ok()?;
    Some((name, payload))
}

async fn handshake(stream: &mut DuplexStream, network: Network) {
    let (_, version) = message(stream).await.unwrap();
    let greeting = greeting(network, version);
    stream.write_all(&greeting).await.unwrap();
}

/// A `headers` message.
fn headers_of(headers: &[Header]) -> Vec<u8> {
    let mut payload = match u8::try_from(headers.len()) {
        Ok(short) if short < 0xFD => vec![short],
        _ => [&[0xFD][..], &(headers.len() as u16).to_le_bytes()].concat(),
    };
    for header in headers {
        payload.extend(chain::bytes(header));
        payload.push(0);
    }
    p2p::encode(Network::Regtest, "headers", &payload)
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_sends_useless_messages_is_disconnected() {
    let miner = Miner::with(300);
    let hash = miner.tip();
    let inv = |kind: u8| [&[1, kind, 0, 0, 0][..], hash.as_ref()].concat();
    let network = Network::Regtest;
    for (words, expected) in [
        (headers_of(&miner.headers[..0]), "it sends nothing new"),
        (p2p::encode(network, "inv", &inv(2)), "it sends nothing new"),
        // A transaction.
        (p2p::encode(network, "inv", &inv(1)), "it sends nothing new"),
        (
            p2p::encode(network, "ping", &[0; 8]),
            "it sends too many messages",
        ),
        (
            p2p::encode(network, "feefilter", &[0; 8]),
            "it sends too many messages",
        ),
    ] {
        let (mut rig, arrivals) = ChainRig::in_memory();
        let (_, _, server) = serve(arrivals, move |_, mut stream| {
            let words = words.clone();
            tokio::spawn(async move {
                handshake(&mut stream, Network::Regtest).await;
                for _ in 0..1000 {
                    if stream.write_all(&words).await.is_err() {
                        return;
                    }
                }
                let _ = stream.read_to_end(&mut Vec::new()).await;
            })
        });
        rig.plan(SourceId::Peers, peers(&["idle"], 1));
        let (reason, _) = rig.down().await;
        assert_eq!(reason, format!("idle:18444: {expected}"));
        server.abort();
        rig.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn known_headers_are_not_requested_endlessly() {
    let (mut rig, arrivals) = ChainRig::in_memory();
    let miner = Miner::with(2000);
    let answer = headers_of(&miner.headers[1..]);
    let (counter, requests) = watch::channel(0);
    let (_, _, server) = serve(arrivals, move |_, mut stream| {
        let (answer, counter) = (answer.clone(), counter.clone());
        tokio::spawn(async move {
            handshake(&mut stream, Network::Regtest).await;
            while let Some((name, _)) = message(&mut stream).await {
                if name == "getheaders" {
                    counter.send_modify(|requests| *requests += 1);
                    // Limits the test itself.
                    if *counter.borrow() < 50 {
                        stream.write_all(&answer).await.unwrap();
                    }
                }
            }
        })
    });
    rig.plan(SourceId::Peers, peers(&["full"], 1));
    rig.until(|seen| seen.tip == Some(miner.tip())).await;
    time::sleep(Duration::from_secs(60)).await;
    assert!(*requests.borrow() <= 2, "{}", *requests.borrow());
    server.abort();
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_announcement_is_not_taken_for_the_response() {
    let (mut rig, arrivals) = ChainRig::in_memory();
    let miner = Miner::with(30);
    let headers = miner.headers.clone();
    let (places, _, server) = serve(arrivals, move |_, mut stream| {
        let headers = headers.clone();
        tokio::spawn(async move {
            handshake(&mut stream, Network::Regtest).await;
            while let Some((name, _)) = message(&mut stream).await {
                if name == "getheaders" {
                    let newest = headers_of(&headers[30..]);
                    let answer = headers_of(&headers[1..30]);
                    stream.write_all(&[newest, answer].concat()).await.unwrap();
                }
            }
        })
    });
    rig.plan(SourceId::Peers, peers(&["busy"], 1));
    rig.until(|seen| seen.height == Some(29)).await;
    assert_eq!(places.all().len(), 1);
    server.abort();
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_waits_for_its_turn_answers_pings() {
    let (rig, arrivals) = ChainRig::in_memory();
    let (counter, mut pongs) = watch::channel(0);
    let (_, _, server) = serve(arrivals, move |_, mut stream| {
        let counter = counter.clone();
        tokio::spawn(async move {
            handshake(&mut stream, Network::Regtest).await;
            let ping = p2p::encode(Network::Regtest, "ping", &[7; 8]);
            while let Some((name, _)) = message(&mut stream).await {
                match name.as_str() {
                    // No request is answered, so the other connection waits for its turn.
                    "sendheaders" => {
                        time::sleep(Duration::from_secs(1)).await;
                        stream.write_all(&ping).await.unwrap();
                    }
                    "pong" => counter.send_modify(|pongs| *pongs += 1),
                    _ => {}
                }
            }
        })
    });
    let began = Instant::now();
    rig.plan(SourceId::Peers, peers(&["a", "b"], 2));
    pongs.wait_for(|pongs| *pongs == 2).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(5), "{began:?}");
    server.abort();
    rig.stop().await;
}

/// If the proxy resolves names, the addresses of the seeds are not looked up here.
#[tokio::test(start_paused = true)]
async fn seeds_are_connected_by_name_through_a_proxy() {
    let (mut rig, mut arrivals) = ChainRig::in_memory();
    let config = SourceConfig::Peers(PeersConfig {
        network: Network::Main,
        hosts: Vec::new(),
        most: 3,
    });
    rig.plan_through(SourceId::Peers, config, through());
    let seeds = p2p::seeds(Network::Main);
    let mut times = BTreeSet::new();
    let mut streams = Vec::new();
    for _ in 0..3 {
        let arrival = arrivals.recv().await.unwrap();
        assert_eq!(arrival.place, "proxy:1080");
        let mut stream = arrival.stream;
        let place = requested(&mut stream).await;
        assert!(
            seeds.iter().any(|seed| place == format!("{seed}:8333")),
            "{place}"
        );
        times.insert(place);
        streams.push(stream);
    }
    assert_eq!(times.len(), 3, "each seed is connected once");
    drop(streams);
    let (reason, _) = rig.down().await;
    assert!(reason.contains("it has closed the connection"), "{reason}");
    // A seed leads to another peer each time, so there is none to remember.
    assert!(rig.known.list().is_empty());
    rig.stop().await;
}

/// The cause may be a network that is not ready yet.
#[tokio::test(start_paused = true)]
async fn seeds_are_retried_soon_and_then_less_often() {
    let (rig, mut arrivals) = ChainRig::in_memory();
    let config = SourceConfig::Peers(PeersConfig {
        network: Network::Main,
        hosts: Vec::new(),
        most: 3,
    });
    rig.plan_through(SourceId::Peers, config, through());
    let began = Instant::now();
    let mut times: BTreeMap<String, Vec<Duration>> = BTreeMap::new();
    while began.elapsed() < 12 * SEEDS_EVERY {
        let arrival = time::timeout(2 * SEEDS_EVERY, arrivals.recv()).await;
        let mut stream = arrival.expect("a seed is connected").unwrap().stream;
        let place = requested(&mut stream).await;
        times.entry(place).or_default().push(began.elapsed());
    }
    let soonest = times.values().filter_map(|at| at.get(1)).min();
    assert!(soonest < Some(&(SEEDS_EVERY / 4)), "{times:?}");
    assert!(times.values().all(|at| at.len() <= 20), "{times:?}");
    rig.stop().await;
}

/// A seed leads to another peer each time: a bad peer is no reason to pause the seed.
#[tokio::test(start_paused = true)]
async fn a_seed_is_used_again_after_a_bad_peer() {
    let (rig, mut arrivals) = ChainRig::in_memory();
    let config = SourceConfig::Peers(PeersConfig {
        network: Network::Main,
        hosts: Vec::new(),
        most: 1,
    });
    rig.plan_through(SourceId::Peers, config, through());
    let mut times = BTreeSet::new();
    loop {
        let arrival = time::timeout(FAULTY_PAUSE / 4, arrivals.recv()).await;
        let mut stream = arrival.expect("a seed is connected").unwrap().stream;
        let place = requested(&mut stream).await;
        if !times.insert(place) {
            break;
        }
        let other = p2p::encode(Network::Regtest, "ping", &[0; 8]);
        stream.write_all(&other).await.unwrap();
        let _ = stream.read_to_end(&mut Vec::new()).await;
    }
    assert!(times.len() > 1);
    rig.stop().await;
}
