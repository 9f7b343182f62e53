//! The owner's node over all protocols: it is followed from the anchor over reorganisations and reconnections, and
//! paused when it breaks the rules.

use std::time::Duration;

use chain::{HEADER_BYTES, Header, header, network::Network};
use device::sources::{NodeConfig, NodeKind, SourceConfig};
use feeds::p2p;
use market::{Connection, HeightState, Observation, source_id::SourceId};
use net::dialer::Arrival;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream},
    sync::{mpsc, watch},
    task::JoinHandle,
    time::{self, Instant},
};

use sources::peer::REQUEST_EVERY;

use crate::{
    chain_rig::{ChainRig, Miner, START, Seen},
    miner::mined::without_work,
    rig::TLS_HANDSHAKE,
};

/// The chain of a fake node; it can change at any time.
pub type Node = watch::Receiver<Miner>;

fn config(kind: NodeKind) -> SourceConfig {
    SourceConfig::Node(NodeConfig {
        kind,
        network: Network::Regtest,
        host: "node".into(),
        port: 0,
        tls: false,
        precise_fee: true,
    })
}

#[tokio::test(start_paused = true)]
async fn a_node_is_connected_with_tls_if_configured() {
    let SourceConfig::Node(node) = config(NodeKind::Electrum) else {
        panic!("not the configuration of a node");
    };
    let secret = SourceConfig::Node(NodeConfig { tls: true, ..node });
    let (rig, mut arrivals) = ChainRig::in_memory();
    rig.plan(SourceId::Node, secret);
    let mut arrival = arrivals.recv().await.unwrap();
    assert_eq!(arrival.place, "node:60402");
    let first = arrival.stream.read_u8().await.unwrap();
    assert_eq!(first, TLS_HANDSHAKE);
    rig.stop().await;
}

fn hex_of(header: &Header) -> String {
    hex::encode(chain::bytes(header))
}

/// How an Electrum server returns headers.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Text,
    List,
    /// As a list that always has only the genesis block.
    Endless,
}

/// A correct Electrum server.
async fn electrum(stream: DuplexStream, mut node: Node, form: Form) {
    let (read, mut write) = tokio::io::split(stream);
    let mut lines = BufReader::new(read).lines();
    let tip = |miner: &Miner| {
        let newest = miner.headers.last().unwrap();
        let height = match form {
            Form::Text | Form::List => miner.height(),
            Form::Endless => 4_000_000_000,
        };
        json!({ "height": height, "hex": hex_of(newest) })
    };
    node.mark_unchanged();
    loop {
        let reply = tokio::select! {
            line = lines.next_line() => {
                let Ok(Some(line)) = line else { return };
                let call: Value = serde_json::from_str(&line).unwrap();
                let result = match call["method"].as_str().unwrap() {
                    "server.version" => json!(["fake", "1.4"]),
                    "server.ping" => Value::Null,
                    "blockchain.headers.subscribe" => tip(&node.borrow_and_update()),
                    "mempool.get_fee_histogram" => json!([[12.5, 600_000], [1, 9_000_000]]),
                    "blockchain.block.headers" => {
                        let (from, most) = (&call["params"][0], &call["params"][1]);
                        let miner = node.borrow().clone();
                        let headers = miner.headers.iter().skip(from.as_u64().unwrap() as usize);
                        let hex: Vec<String> = headers
                            .take(most.as_u64().unwrap() as usize)
                            .map(hex_of)
                            .collect();
                        match form {
                            Form::Text => json!({ "count": hex.len(), "hex": hex.concat(), "max": 2016 }),
                            Form::List => json!({ "count": hex.len(), "headers": hex, "max": 2016 }),
                            Form::Endless => json!({ "count": 1, "headers": [hex_of(&miner.headers[0])], "max": 2016 }),
                        }
                    }
                    other => panic!("{other}"),
                };
                json!({ "id": call["id"], "jsonrpc": "2.0", "result": result })
            }
            changed = node.changed() => {
                if changed.is_err() { return }
                let params = [tip(&node.borrow_and_update())];
                json!({ "jsonrpc": "2.0", "method": "blockchain.headers.subscribe", "params": params })
            }
        };
        let line = format!("{reply}\n");
        if write.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// How a peer announces a new block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Announcement {
    Headers,
    Inv,
    Nothing,
}

pub async fn peer(stream: DuplexStream, mut node: Node, announcement: Announcement) {
    let network = Network::Regtest;
    let (mut read, mut write) = tokio::io::split(stream);
    let (sender, mut messages) = mpsc::channel(16);
    // Reading must not be cancelled within a message.
    tokio::spawn(async move {
        loop {
            let mut head = [0; 24];
            if read.read_exact(&mut head).await.is_err() {
                return;
            }
            let length = u32::from_le_bytes(head[16..20].try_into().unwrap()) as usize;
            let mut payload = vec![0; length];
            read.read_exact(&mut payload).await.unwrap();
            let name: Vec<u8> = head[4..16]
                .iter()
                .copied()
                .take_while(|byte| *byte > 0)
                .collect();
            if sender
                .send((String::from_utf8(name).unwrap(), payload))
                .await
                .is_err()
            {
                return;
            }
        }
    });
    let headers = |headers: &[Header]| {
        let mut payload = vec![0xFD];
        payload.extend((headers.len() as u16).to_le_bytes());
        if headers.len() < 0xFD {
            payload = vec![headers.len() as u8];
        }
        for header in headers {
            payload.extend(chain::bytes(header));
            payload.push(0);
        }
        p2p::encode(network, "headers", &payload)
    };
    node.mark_unchanged();
    loop {
        let reply = tokio::select! {
            message = messages.recv() => {
                let Some((name, payload)) = message else { return };
                match name.as_str() {
                    "version" => {
                        let mut version = payload;
                        // Service bits: all blocks.
                        version[4] = 1;
                        [p2p::encode(network, "version", &version), p2p::encode_verack(network)].concat()
                    }
                    "getheaders" => {
                        let miner = node.borrow_and_update().clone();
                        let locator = payload[5..payload.len() - 32].chunks_exact(32);
                        let fork = locator.filter_map(|hash| {
                            miner.headers.iter().position(|header| {
                                let own = header.block_hash();
                                let own: &[u8] = own.as_ref();
                                own == hash
                            })
                        }).next().unwrap_or(0);
                        let after = &miner.headers[fork + 1..];
                        headers(&after[..after.len().min(2000)])
                    }
                    "verack" | "sendheaders" | "pong" => continue,
                    other => panic!("{other}"),
                }
            }
            changed = node.changed() => {
                if changed.is_err() { return }
                let miner = node.borrow_and_update().clone();
                let newest = *miner.headers.last().unwrap();
                match announcement {
                    Announcement::Headers => headers(&[newest]),
                    Announcement::Inv => {
                        let hash = newest.block_hash();
                        let entry = [&[1, 2, 0, 0, 0][..], hash.as_ref()].concat();
                        p2p::encode(network, "inv", &entry)
                    }
                    Announcement::Nothing => continue,
                }
            }
        };
        if write.write_all(&reply).await.is_err() {
            return;
        }
    }
}

/// Serves every connection to a host.
fn serve(
    mut arrivals: mpsc::Receiver<Arrival>,
    place: &'static str,
    serve: impl Fn(DuplexStream) -> JoinHandle<()> + Send + 'static,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        while let Some(arrival) = arrivals.recv().await {
            assert_eq!(arrival.place, place);
            serve(arrival.stream);
        }
    })
}

/// A node of each kind is followed to its newest block, to the next one, and over a reorganisation.
async fn is_followed(
    kind: NodeKind,
    place: &'static str,
    serve_protocol: impl Fn(DuplexStream, Node) -> JoinHandle<()> + Send + 'static,
) {
    let (mut rig, arrivals) = ChainRig::in_memory();
    let (node, updates) = watch::channel(Miner::with(2500));
    let server = serve(arrivals, place, move |stream| {
        serve_protocol(stream, updates.clone())
    });
    rig.plan(SourceId::Node, config(kind));
    // The owner's node needs no confirmation.
    let miner = node.borrow().clone();
    rig.until_tip(&miner, HeightState::Proven).await;
    for depth in 0..=6 {
        node.send_modify(|miner| match depth {
            0 => miner.mine(1),
            depth => miner.reorganise(depth),
        });
        let miner = node.borrow().clone();
        rig.until_tip(&miner, HeightState::Proven).await;
    }
    let seen = rig.current();
    assert!(
        seen.observations
            .contains(&Observation::Connection(Connection::Up)),
        "{:?}",
        seen.observations
    );
    assert!(seen.most <= 2000, "{}", seen.most);
    assert!(
        !seen
            .observations
            .iter()
            .any(|observation| matches!(observation, Observation::Dropped(..)))
    );
    let fees = seen
        .observations
        .iter()
        .any(|observation| matches!(observation, Observation::PreciseFee(fee) if fee.micros == 12_500_000));
    assert_eq!(fees, kind == NodeKind::Electrum);
    server.abort();
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_node_of_each_kind_is_followed() {
    is_followed(NodeKind::Electrum, "node:60401", |stream, node| {
        tokio::spawn(electrum(stream, node, Form::Text))
    })
    .await;
    is_followed(NodeKind::Electrum, "node:60401", |stream, node| {
        tokio::spawn(electrum(stream, node, Form::List))
    })
    .await;
    is_followed(NodeKind::Bitcoin, "node:18444", |stream, node| {
        tokio::spawn(peer(stream, node, Announcement::Headers))
    })
    .await;
    is_followed(NodeKind::Bitcoin, "node:18444", |stream, node| {
        tokio::spawn(peer(stream, node, Announcement::Inv))
    })
    .await;
    is_followed(NodeKind::Bitcoin, "node:18444", |stream, node| {
        tokio::spawn(peer(stream, node, Announcement::Nothing))
    })
    .await;
}

/// The reason of an outage after a node has sent these bytes and then nothing.
async fn down_after(kind: NodeKind, words: Vec<u8>) -> (String, Duration) {
    let (mut rig, mut arrivals) = ChainRig::in_memory();
    rig.plan(SourceId::Node, config(kind));
    let mut stream = arrivals.recv().await.unwrap().stream;
    stream.write_all(&words).await.unwrap();
    let down = rig.down().await;
    assert_eq!(rig.current().height, None);
    rig.stop().await;
    down
}

#[tokio::test(start_paused = true)]
async fn a_node_without_usable_responses_is_down_with_a_reason() {
    let verack = p2p::encode_verack(Network::Regtest);
    let main = p2p::encode_verack(Network::Main);
    let long = p2p::encode(Network::Regtest, "verack", &[0]);
    #[rustfmt::skip]
    let rows = [
        (NodeKind::Electrum, Vec::new(), "no answer in time"),
        (NodeKind::Electrum, b"{\"id\":1,\"error\":{\"message\":\"unsupported\"}}\n".to_vec(), "the server refuses: unsupported"),
        (NodeKind::Electrum, b"{\"id\":1,\"result\":[]}\n{\"id\":2,\"result\":{}}\n".to_vec(), "invalid answer (height)"),
        (NodeKind::Electrum, b"nonsense\n".repeat(64), "only invalid frames (json)"),
        (NodeKind::Bitcoin, Vec::new(), "no handshake in time"),
        (NodeKind::Bitcoin, verack, "no handshake in time"),
        (NodeKind::Bitcoin, main, "invalid answer (network)"),
        (NodeKind::Bitcoin, long, "invalid answer (too-long)"),
    ];
    for (kind, words, expected) in rows {
        let (reason, _) = down_after(kind, words).await;
        assert_eq!(reason, expected);
    }
}

/// A node that breaks the rules is reported and paused.
async fn is_paused(
    kind: NodeKind,
    serve_protocol: impl Fn(DuplexStream, Node) -> JoinHandle<()> + Send + 'static,
) {
    let mut miner = Miner::with(30);
    let broken = miner.headers.last_mut().unwrap();
    *broken = without_work(*broken);
    let (mut rig, mut arrivals) = ChainRig::in_memory();
    let (_node, updates) = watch::channel(miner);
    rig.plan(SourceId::Node, config(kind));
    let server = serve_protocol(arrivals.recv().await.unwrap().stream, updates);
    let (reason, retry_in) = rig.down().await;
    assert_eq!(
        reason,
        "a header breaks the rules: it lacks the work that it claims"
    );
    assert!(retry_in >= Duration::from_secs(600), "{retry_in:?}");
    assert_eq!(rig.current().height, None);
    server.abort();
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_node_that_breaks_the_rules_is_paused() {
    is_paused(NodeKind::Electrum, |stream, node| {
        tokio::spawn(electrum(stream, node, Form::Text))
    })
    .await;
    is_paused(NodeKind::Bitcoin, |stream, node| {
        tokio::spawn(peer(stream, node, Announcement::Headers))
    })
    .await;
}

const UNCONNECTED: &str =
    "its blocks do not connect to the known ones: it follows another chain, or is far behind";

#[tokio::test(start_paused = true)]
async fn a_server_with_endless_headers_is_paused() {
    let (mut rig, mut arrivals) = ChainRig::in_memory();
    let (_node, updates) = watch::channel(Miner::with(30));
    rig.plan(SourceId::Node, config(NodeKind::Electrum));
    let stream = arrivals.recv().await.unwrap().stream;
    let server = tokio::spawn(electrum(stream, updates, Form::Endless));
    let (reason, retry_in) = rig.down().await;
    assert_eq!(reason, UNCONNECTED);
    assert!(retry_in >= Duration::from_secs(600), "{retry_in:?}");
    assert!(rig.current().messages < 50);
    server.abort();
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn new_blocks_bring_fee_requests_forward_to_one_in_ten_seconds() {
    let (mut rig, mut arrivals) = ChainRig::in_memory();
    let (node, updates) = watch::channel(Miner::with(30));
    rig.plan(SourceId::Node, config(NodeKind::Electrum));
    let stream = arrivals.recv().await.unwrap().stream;
    let server = tokio::spawn(electrum(stream, updates, Form::List));
    for _ in 0..45 {
        node.send_modify(|miner| miner.mine(1));
        let miner = node.borrow().clone();
        rig.until_tip(&miner, HeightState::Proven).await;
        time::sleep(Duration::from_secs(1)).await;
    }
    let seen = rig.current().observations;
    let is_fee = |seen: &&Observation| matches!(seen, Observation::PreciseFee(_));
    assert_eq!(seen.iter().filter(is_fee).count(), 5);
    server.abort();
    rig.stop().await;
}

/// As on a restarted test network: the owner's node wins, whatever the device had before.
#[tokio::test(start_paused = true)]
async fn a_node_that_was_set_back_is_followed_to_where_it_is() {
    let (mut rig, arrivals) = ChainRig::in_memory();
    let (node, updates) = watch::channel(Miner::with(300));
    rig.plan(SourceId::Node, config(NodeKind::Electrum));
    let server = serve(arrivals, "node:60401", move |stream| {
        tokio::spawn(electrum(stream, updates.clone(), Form::Text))
    });
    let miner = node.borrow().clone();
    rig.until_tip(&miner, HeightState::Proven).await;
    let mut other = Miner::with(150);
    other.reorganise(149);
    let height = Some(other.height());
    node.send_replace(other);
    rig.until(|seen| seen.height == height).await;
    // A branch with more work still wins.
    assert_eq!(rig.current().tip, Some(miner.tip()));
    server.abort();
    rig.stop().await;
}

// A reorganisation longer than one response.
#[tokio::test(start_paused = true)]
async fn a_long_reorganisation_is_followed_piece_by_piece() {
    for depth in [500, 505, 590] {
        let (mut rig, arrivals) = ChainRig::in_memory();
        let (node, updates) = watch::channel(Miner::with(600));
        let server = serve(arrivals, "node:60401", move |stream| {
            tokio::spawn(electrum(stream, updates.clone(), Form::Text))
        });
        rig.plan(SourceId::Node, config(NodeKind::Electrum));
        let miner = node.borrow().clone();
        rig.until_tip(&miner, HeightState::Proven).await;
        node.send_modify(|miner| miner.reorganise(depth));
        let miner = node.borrow().clone();
        rig.until_tip(&miner, HeightState::Proven).await;
        server.abort();
        rig.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_block_from_the_future_is_requested_again_when_the_clock_is_set() {
    for kind in [NodeKind::Bitcoin, NodeKind::Electrum] {
        let (mut rig, mut arrivals) = ChainRig::in_memory();
        let mut miner = Miner::with(30);
        miner.mine_at(START + 3 * 3600);
        let (node, updates) = watch::channel(miner);
        rig.plan(SourceId::Node, config(kind));
        let stream = arrivals.recv().await.unwrap().stream;
        let server = match kind {
            NodeKind::Electrum => tokio::spawn(electrum(stream, updates, Form::Text)),
            NodeKind::Bitcoin => tokio::spawn(peer(stream, updates, Announcement::Nothing)),
        };
        rig.until(|seen| seen.messages > 0).await;
        assert_eq!(rig.current().height, None);
        let began = Instant::now();
        rig.clock.set(i64::from(START + 2 * 3600) * 1000);
        let miner = node.borrow().clone();
        rig.until_tip(&miner, HeightState::Proven).await;
        assert!(began.elapsed() < Duration::from_secs(5), "{began:?}");
        server.abort();
        rig.stop().await;
    }
}

/// Without a change of the clock.
#[tokio::test(start_paused = true)]
async fn a_block_from_the_future_is_requested_again_at_its_time() {
    let (mut rig, mut arrivals) = ChainRig::in_memory();
    let mut miner = Miner::with(30);
    miner.mine_at(START + 2 * 3600 + 180);
    let (node, updates) = watch::channel(miner);
    rig.plan(SourceId::Node, config(NodeKind::Electrum));
    let stream = arrivals.recv().await.unwrap().stream;
    let server = tokio::spawn(electrum(stream, updates, Form::Text));
    let miner = node.borrow().clone();
    rig.until_tip(&miner, HeightState::Proven).await;
    server.abort();
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_reported_problem_ends_when_the_node_works_again() {
    let (mut rig, mut arrivals) = ChainRig::in_memory();
    let (node, updates) = watch::channel(Miner::with(30));
    rig.plan(SourceId::Node, config(NodeKind::Bitcoin));
    let stream = arrivals.recv().await.unwrap().stream;
    let server = tokio::spawn(peer(stream, updates, Announcement::Headers));
    let miner = node.borrow().clone();
    rig.until_tip(&miner, HeightState::Proven).await;
    rig.until(is_well).await;
    node.send_modify(|miner| miner.mine_at(START + 3 * 3600));
    rig.until(|seen| !is_well(seen)).await;
    rig.clock.set(i64::from(START + 2 * 3600) * 1000);
    let seen = rig.until(is_well).await;
    assert_eq!(problems(&seen), ["it is from the future"]);
    server.abort();
    rig.stop().await;
}

fn problems(seen: &Seen) -> Vec<&str> {
    seen.observations
        .iter()
        .filter_map(|observation| match observation {
            Observation::Complaint(reason) => Some(reason.as_str()),
            _ => None,
        })
        .collect()
}

/// The connection is up, and no problem was reported since.
fn is_well(seen: &Seen) -> bool {
    let is_about_it = |observation: &&Observation| {
        matches!(
            observation,
            Observation::Connection(_) | Observation::Complaint(_)
        )
    };
    let last = seen.observations.iter().rev().find(is_about_it);
    last == Some(&Observation::Connection(Connection::Up))
}

/// A node that is still synchronising, or a network with only the genesis block.
#[tokio::test(start_paused = true)]
async fn a_node_without_headers_is_not_up_and_has_a_reason() {
    let (mut rig, arrivals) = ChainRig::in_memory();
    let (node, updates) = watch::channel(Miner::with(0));
    let server = serve(arrivals, "node:18444", move |stream| {
        tokio::spawn(peer(stream, updates.clone(), Announcement::Headers))
    });
    rig.plan(SourceId::Node, config(NodeKind::Bitcoin));
    let seen = rig.until(|seen| !problems(seen).is_empty()).await;
    let reason = "it sends no blocks after the known ones: it may still be synchronising";
    assert_eq!(problems(&seen), [reason]);
    let up = Observation::Connection(Connection::Up);
    assert!(!seen.observations.contains(&up), "{:?}", seen.observations);
    node.send_modify(|miner| miner.mine(1));
    let miner = node.borrow().clone();
    rig.until_tip(&miner, HeightState::Proven).await;
    rig.until(is_well).await;
    server.abort();
    rig.stop().await;
}

/// A node just one block behind has no new headers either.
#[tokio::test(start_paused = true)]
async fn a_node_one_block_behind_is_no_problem() {
    let (mut rig, arrivals) = ChainRig::in_memory();
    let (node, updates) = watch::channel(Miner::with(30));
    let server = serve(arrivals, "node:18444", move |stream| {
        tokio::spawn(peer(stream, updates.clone(), Announcement::Headers))
    });
    rig.plan(SourceId::Node, config(NodeKind::Bitcoin));
    let miner = node.borrow().clone();
    rig.until_tip(&miner, HeightState::Proven).await;
    rig.until(is_well).await;
    node.send_modify(|miner| {
        miner.headers.pop();
    });
    time::sleep(2 * REQUEST_EVERY).await;
    assert_eq!(problems(&rig.current()), [""; 0]);
    server.abort();
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_node_that_was_away_is_followed_again() {
    let (mut rig, mut arrivals) = ChainRig::in_memory();
    let (node, updates) = watch::channel(Miner::with(30));
    rig.plan(SourceId::Node, config(NodeKind::Electrum));
    let first = tokio::spawn(electrum(
        arrivals.recv().await.unwrap().stream,
        updates.clone(),
        Form::Text,
    ));
    let miner = node.borrow().clone();
    rig.until_tip(&miner, HeightState::Proven).await;
    first.abort();
    let (reason, _) = rig.down().await;
    assert_eq!(reason, "the server has closed the connection");
    node.send_modify(|miner| miner.mine(700));
    let again = tokio::spawn(electrum(
        arrivals.recv().await.unwrap().stream,
        updates,
        Form::List,
    ));
    let miner = node.borrow().clone();
    rig.until_tip(&miner, HeightState::Proven).await;
    again.abort();
    rig.stop().await;
}

/// Genuine headers as an Electrum server sends them.
#[test]
fn genuine_headers_are_unchanged() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../chain/tests/headers/mainnet-554390-554408.bin"
    );
    let bytes = std::fs::read(path).unwrap();
    let headers: Vec<Header> = bytes
        .chunks_exact(HEADER_BYTES)
        .filter_map(header)
        .collect();
    let text = json!({ "count": headers.len(), "hex": hex::encode(&bytes), "max": 2016 });
    assert_eq!(feeds::electrum::headers(&text), Ok(headers));
}

/// No time is lost between messages.
#[tokio::test(start_paused = true)]
async fn a_year_of_headers_takes_few_messages() {
    let (mut rig, arrivals) = ChainRig::in_memory();
    let (node, updates) = watch::channel(Miner::with(10_000));
    let server = serve(arrivals, "node:18444", move |stream| {
        tokio::spawn(peer(stream, updates.clone(), Announcement::Headers))
    });
    let began = time::Instant::now();
    rig.plan(SourceId::Node, config(NodeKind::Bitcoin));
    let miner = node.borrow().clone();
    rig.until_tip(&miner, HeightState::Proven).await;
    assert!(rig.current().messages <= 7, "{}", rig.current().messages);
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    server.abort();
    rig.stop().await;
}
