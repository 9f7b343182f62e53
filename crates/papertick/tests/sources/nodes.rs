//! The owner's node, whatever it speaks: it is followed from the anchor on, over reorganisations and breaks, and left alone
//! when it breaks the rules.

use std::{collections::HashMap, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use chain::{HEADER_BYTES, Header, header, network::Network};
use device::sources::{NodeConfig, NodeKind, RouteSettings, SourceConfig};
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

use sources::peer::ASK_EVERY;

use crate::{
    court::{Court, Miner, START, Seen},
    miner::mined::unworked,
    rig::TLS_HANDSHAKE,
};

/// The chain that a fake node has; what it holds can change at any time.
pub type Node = watch::Receiver<Miner>;

fn config(kind: NodeKind) -> SourceConfig {
    SourceConfig::Node(NodeConfig {
        kind,
        network: Network::Regtest,
        host: "node".into(),
        port: 0,
        tls: false,
        user: "me".into(),
        pass: device::secret::Secret::new("secret"),
        precise_fee: true,
    })
}

#[tokio::test(start_paused = true)]
async fn a_node_is_asked_in_secret_if_it_is_to_be() {
    for (kind, place) in [
        (NodeKind::Electrum, "node:60402"),
        (NodeKind::Rpc, "node:18443"),
    ] {
        let SourceConfig::Node(node) = config(kind) else {
            panic!("it is a node");
        };
        let secret = SourceConfig::Node(NodeConfig { tls: true, ..node });
        let (court, mut arrivals) = Court::in_memory();
        court.plan(SourceId::Node, secret, RouteSettings::default());
        let mut arrival = arrivals.recv().await.unwrap();
        assert_eq!(arrival.place, place, "{kind:?}");
        let first = arrival.stream.read_u8().await.unwrap();
        assert_eq!(first, TLS_HANDSHAKE, "{kind:?}");
        court.stop().await;
    }
}

fn hex_of(header: &Header) -> String {
    hex::encode(chain::bytes(header))
}

/// Which form an Electrum server gives headers.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Text,
    List,
    /// As a list, in which there is never anything but the first block of all.
    Endless,
}

/// An Electrum server that is honest.
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
        let said = tokio::select! {
            line = lines.next_line() => {
                let Ok(Some(line)) = line else { return };
                let asked: Value = serde_json::from_str(&line).unwrap();
                let result = match asked["method"].as_str().unwrap() {
                    "server.version" => json!(["fake", "1.4"]),
                    "server.ping" => Value::Null,
                    "blockchain.headers.subscribe" => tip(&node.borrow_and_update()),
                    "mempool.get_fee_histogram" => json!([[12.5, 600_000], [1, 9_000_000]]),
                    "blockchain.block.headers" => {
                        let (from, most) = (&asked["params"][0], &asked["params"][1]);
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
                json!({ "id": asked["id"], "jsonrpc": "2.0", "result": result })
            }
            changed = node.changed() => {
                if changed.is_err() { return }
                let params = [tip(&node.borrow_and_update())];
                json!({ "jsonrpc": "2.0", "method": "blockchain.headers.subscribe", "params": params })
            }
        };
        let line = format!("{said}\n");
        if write.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// How a peer tells of a new block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tells {
    Headers,
    Inv,
    Nothing,
}

/// A peer that is honest.
pub async fn peer(stream: DuplexStream, mut node: Node, tells: Tells) {
    let network = Network::Regtest;
    let (mut read, mut write) = tokio::io::split(stream);
    let (heard, mut messages) = mpsc::channel(16);
    // Reading is not to be cut off in the middle of a message.
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
            if heard
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
        p2p::told(network, "headers", &payload)
    };
    node.mark_unchanged();
    loop {
        let said = tokio::select! {
            message = messages.recv() => {
                let Some((name, payload)) = message else { return };
                match name.as_str() {
                    "version" => {
                        let mut version = payload;
                        // All blocks, which are its services.
                        version[4] = 1;
                        [p2p::told(network, "version", &version), p2p::say_verack(network)].concat()
                    }
                    "getheaders" => {
                        let miner = node.borrow_and_update().clone();
                        let known = payload[5..payload.len() - 32].chunks_exact(32);
                        let fork = known.filter_map(|hash| {
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
                match tells {
                    Tells::Headers => headers(&[newest]),
                    Tells::Inv => {
                        let hash = newest.block_hash();
                        let entry = [&[1, 2, 0, 0, 0][..], hash.as_ref()].concat();
                        p2p::told(network, "inv", &entry)
                    }
                    Tells::Nothing => continue,
                }
            }
        };
        if write.write_all(&said).await.is_err() {
            return;
        }
    }
}

/// One answer of a node that speaks HTTP.
async fn http(mut stream: DuplexStream, node: Node) {
    let mut read = Vec::new();
    let (end, length) = loop {
        if stream.read_buf(&mut read).await.unwrap_or(0) == 0 {
            return;
        }
        let text = String::from_utf8_lossy(&read).to_lowercase();
        if let Some(end) = text.find("\r\n\r\n") {
            let length = text.split("content-length: ").nth(1);
            let length = length.and_then(|rest| rest.split("\r\n").next());
            let length: usize = length.map_or(0, |length| length.parse().unwrap());
            if read.len() >= end + 4 + length {
                break (end, length);
            }
        }
    };
    let head = String::from_utf8(read[..end].to_vec()).unwrap();
    let miner = node.borrow().clone();
    let info = json!({ "chain": "regtest", "blocks": miner.height(), "bestblockhash": miner.tip().to_string() });
    let path = head.split(' ').nth(1).unwrap();
    let body = if path == "/rest/chaininfo.json" {
        info.to_string().into_bytes()
    } else if let Some(rest) = path.strip_prefix("/rest/headers/") {
        let (hash, count) = rest.split_once(".bin?count=").unwrap();
        let from = miner
            .headers
            .iter()
            .position(|header| header.block_hash().to_string() == hash);
        let found = from.map_or(&[][..], |from| &miner.headers[from..]);
        let count: usize = count.parse().unwrap();
        found.iter().take(count).flat_map(chain::bytes).collect()
    } else {
        let login = format!("authorization: basic {}", STANDARD.encode("me:secret"));
        assert!(
            head.to_lowercase().contains(&login.to_lowercase()),
            "{head}"
        );
        let asked: Value = serde_json::from_slice(&read[end + 4..end + 4 + length]).unwrap();
        let headers = miner.headers.iter();
        let by_hash: HashMap<String, &Header> = headers
            .map(|header| (header.block_hash().to_string(), header))
            .collect();
        let answers = asked.as_array().unwrap().iter().map(|asked| {
            let param = &asked["params"][0];
            let result = match asked["method"].as_str().unwrap() {
                "getblockchaininfo" => info.clone(),
                "getblockhash" => {
                    let header = &miner.headers[param.as_u64().unwrap() as usize];
                    json!(header.block_hash().to_string())
                }
                "getblockheader" => {
                    json!(hex_of(by_hash[param.as_str().unwrap()]))
                }
                "estimatesmartfee" => json!({ "feerate": 0.000125, "blocks": 2 }),
                other => panic!("{other}"),
            };
            json!({ "id": asked["id"], "result": result, "error": null })
        });
        Value::from(answers.collect::<Vec<_>>())
            .to_string()
            .into_bytes()
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(&[head.into_bytes(), body].concat()).await;
    let _ = stream.shutdown().await;
}

/// Serves every connection; tells whom they were for.
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

/// A node of each kind is followed up to its newest block, to the next one, and over a reorganisation.
async fn is_followed(
    kind: NodeKind,
    place: &'static str,
    speak: impl Fn(DuplexStream, Node) -> JoinHandle<()> + Send + 'static,
) {
    let (mut court, arrivals) = Court::in_memory();
    let (node, told) = watch::channel(Miner::with(2500));
    let server = serve(arrivals, place, move |stream| speak(stream, told.clone()));
    court.plan(SourceId::Node, config(kind), RouteSettings::default());
    // The owner's node needs nobody else.
    let miner = node.borrow().clone();
    court.until_tip(&miner, HeightState::Proven).await;
    for depth in 0..=6 {
        node.send_modify(|miner| match depth {
            0 => miner.mine(1),
            depth => miner.reorganise(depth),
        });
        let miner = node.borrow().clone();
        court.until_tip(&miner, HeightState::Proven).await;
    }
    let seen = court.look();
    assert!(
        seen.said.contains(&Observation::Connection(Connection::Up)),
        "{:?}",
        seen.said
    );
    assert!(seen.most <= 2000, "{}", seen.most);
    assert!(
        !seen
            .said
            .iter()
            .any(|said| matches!(said, Observation::Dropped(..)))
    );
    let fees = seen
        .said
        .iter()
        .any(|said| matches!(said, Observation::PreciseFee(fee) if fee.micros == 12_500_000));
    assert_eq!(fees, matches!(kind, NodeKind::Electrum | NodeKind::Rpc));
    server.abort();
    court.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_electrum_server_is_followed_that_tells_headers_as_a_text() {
    is_followed(NodeKind::Electrum, "node:60401", |stream, node| {
        tokio::spawn(electrum(stream, node, Form::Text))
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_electrum_server_is_followed_that_tells_headers_as_a_list() {
    is_followed(NodeKind::Electrum, "node:60401", |stream, node| {
        tokio::spawn(electrum(stream, node, Form::List))
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_node_is_followed_that_announces_headers() {
    is_followed(NodeKind::Bitcoin, "node:18444", |stream, node| {
        tokio::spawn(peer(stream, node, Tells::Headers))
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_node_is_followed_that_announces_blocks() {
    is_followed(NodeKind::Bitcoin, "node:18444", |stream, node| {
        tokio::spawn(peer(stream, node, Tells::Inv))
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_node_is_followed_that_announces_nothing() {
    is_followed(NodeKind::Bitcoin, "node:18444", |stream, node| {
        tokio::spawn(peer(stream, node, Tells::Nothing))
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_node_is_followed_by_the_interface_without_a_password() {
    is_followed(NodeKind::Rest, "node:18443", |stream, node| {
        tokio::spawn(http(stream, node))
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_node_is_followed_by_the_interface_with_a_password() {
    is_followed(NodeKind::Rpc, "node:18443", |stream, node| {
        tokio::spawn(http(stream, node))
    })
    .await;
}

/// A node that says one thing to everybody, and then nothing more.
async fn says(kind: NodeKind, words: Vec<u8>) -> (String, Duration) {
    let (mut court, mut arrivals) = Court::in_memory();
    court.plan(SourceId::Node, config(kind), RouteSettings::default());
    let mut stream = arrivals.recv().await.unwrap().stream;
    stream.write_all(&words).await.unwrap();
    let down = court.down().await;
    assert_eq!(court.look().height, None);
    court.stop().await;
    down
}

#[tokio::test(start_paused = true)]
async fn a_node_that_says_nothing_of_use_is_down_for_a_reason() {
    let verack = p2p::say_verack(Network::Regtest);
    let main = p2p::say_verack(Network::Main);
    let long = p2p::told(Network::Regtest, "verack", &[0]);
    for (kind, words, expected) in [
        (NodeKind::Electrum, Vec::new(), "no answer in time"),
        (
            NodeKind::Electrum,
            b"{\"id\":1,\"error\":{\"message\":\"unsupported\"}}\n".to_vec(),
            "the server refuses: unsupported",
        ),
        (
            NodeKind::Electrum,
            b"{\"id\":1,\"result\":[]}\n{\"id\":2,\"result\":{}}\n".to_vec(),
            "the answer makes no sense (height)",
        ),
        (
            NodeKind::Electrum,
            b"nonsense\n".repeat(64),
            "only frames that make no sense (json)",
        ),
        (NodeKind::Bitcoin, Vec::new(), "it does not say who it is"),
        (NodeKind::Bitcoin, verack, "it does not say who it is"),
        (
            NodeKind::Bitcoin,
            main,
            "the answer makes no sense (network)",
        ),
        (
            NodeKind::Bitcoin,
            long,
            "the answer makes no sense (too-long)",
        ),
    ] {
        let (reason, _) = says(kind, words).await;
        assert_eq!(reason, expected);
    }
}

/// What breaks the rules of the chain is told, and whoever sent it is left alone for a while.
async fn is_left_alone(
    kind: NodeKind,
    speak: impl Fn(DuplexStream, Node) -> JoinHandle<()> + Send + 'static,
) {
    let mut miner = Miner::with(30);
    let broken = miner.headers.last_mut().unwrap();
    *broken = unworked(*broken);
    let (mut court, mut arrivals) = Court::in_memory();
    let (_node, told) = watch::channel(miner);
    court.plan(SourceId::Node, config(kind), RouteSettings::default());
    let polls = matches!(kind, NodeKind::Rest | NodeKind::Rpc);
    let accept = tokio::spawn(async move {
        while let Some(arrival) = arrivals.recv().await {
            speak(arrival.stream, told.clone());
            if !polls {
                break;
            }
        }
        arrivals
    });
    let (reason, retry_in) = court.down().await;
    assert_eq!(
        reason,
        "a header breaks the rules: it lacks the work that it claims"
    );
    assert!(retry_in >= Duration::from_secs(600), "{retry_in:?}");
    assert_eq!(court.look().height, None);
    accept.abort();
    court.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_node_that_breaks_the_rules_is_left_alone() {
    is_left_alone(NodeKind::Electrum, |stream, node| {
        tokio::spawn(electrum(stream, node, Form::Text))
    })
    .await;
    is_left_alone(NodeKind::Bitcoin, |stream, node| {
        tokio::spawn(peer(stream, node, Tells::Headers))
    })
    .await;
    is_left_alone(NodeKind::Rest, |stream, node| {
        tokio::spawn(http(stream, node))
    })
    .await;
    is_left_alone(NodeKind::Rpc, |stream, node| {
        tokio::spawn(http(stream, node))
    })
    .await;
}

const ELSEWHERE: &str =
    "its blocks follow none that is known here: it is of another chain, or far behind";

#[tokio::test(start_paused = true)]
async fn a_server_without_end_is_left_alone() {
    let (mut court, mut arrivals) = Court::in_memory();
    let (_node, told) = watch::channel(Miner::with(30));
    court.plan(
        SourceId::Node,
        config(NodeKind::Electrum),
        RouteSettings::default(),
    );
    let stream = arrivals.recv().await.unwrap().stream;
    let server = tokio::spawn(electrum(stream, told, Form::Endless));
    let (reason, retry_in) = court.down().await;
    assert_eq!(reason, ELSEWHERE);
    assert!(retry_in >= Duration::from_secs(600), "{retry_in:?}");
    assert!(court.look().messages < 50);
    server.abort();
    court.stop().await;
}

/// As on a network for tests that was begun anew: it is the owner's node, whatever it had before.
#[tokio::test(start_paused = true)]
async fn a_node_that_was_set_back_is_followed_to_where_it_is() {
    let (mut court, mut arrivals) = Court::in_memory();
    let (node, told) = watch::channel(Miner::with(300));
    court.plan(
        SourceId::Node,
        config(NodeKind::Rpc),
        RouteSettings::default(),
    );
    let server = tokio::spawn(async move {
        while let Some(arrival) = arrivals.recv().await {
            tokio::spawn(http(arrival.stream, told.clone()));
        }
    });
    let miner = node.borrow().clone();
    court.until_tip(&miner, HeightState::Proven).await;
    let mut other = Miner::with(150);
    other.reorganise(149);
    let height = Some(other.height());
    node.send_replace(other);
    court.until(|seen| seen.height == height).await;
    // What is more work is kept all the same.
    assert_eq!(court.look().tip, Some(miner.tip()));
    server.abort();
    court.stop().await;
}

/// More blocks than such a node tells of at once take the place of others.
#[tokio::test(start_paused = true)]
async fn a_long_reorganisation_is_followed_piece_by_piece() {
    for depth in [99, 101, 350] {
        let (mut court, arrivals) = Court::in_memory();
        let (node, told) = watch::channel(Miner::with(600));
        let server = serve(arrivals, "node:18443", move |stream| {
            tokio::spawn(http(stream, told.clone()))
        });
        court.plan(
            SourceId::Node,
            config(NodeKind::Rpc),
            RouteSettings::default(),
        );
        let miner = node.borrow().clone();
        court.until_tip(&miner, HeightState::Proven).await;
        node.send_modify(|miner| miner.reorganise(depth));
        let miner = node.borrow().clone();
        court.until_tip(&miner, HeightState::Proven).await;
        server.abort();
        court.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_block_from_the_future_is_asked_for_again_when_the_clock_is_set() {
    for kind in [NodeKind::Bitcoin, NodeKind::Electrum] {
        let (mut court, mut arrivals) = Court::in_memory();
        let mut miner = Miner::with(30);
        miner.mine_at(START + 3 * 3600);
        let (node, told) = watch::channel(miner);
        court.plan(SourceId::Node, config(kind), RouteSettings::default());
        let stream = arrivals.recv().await.unwrap().stream;
        let server = match kind {
            NodeKind::Electrum => tokio::spawn(electrum(stream, told, Form::Text)),
            NodeKind::Bitcoin | NodeKind::Rest | NodeKind::Rpc => {
                tokio::spawn(peer(stream, told, Tells::Nothing))
            }
        };
        court.until(|seen| seen.messages > 0).await;
        assert_eq!(court.look().height, None);
        let began = Instant::now();
        court.clock.set(i64::from(START + 2 * 3600) * 1000);
        let miner = node.borrow().clone();
        court.until_tip(&miner, HeightState::Proven).await;
        assert!(began.elapsed() < Duration::from_secs(5), "{began:?}");
        server.abort();
        court.stop().await;
    }
}

/// Nobody sets a clock that is right.
#[tokio::test(start_paused = true)]
async fn a_server_is_asked_again_when_the_time_of_its_block_has_come() {
    let (mut court, mut arrivals) = Court::in_memory();
    let mut miner = Miner::with(30);
    miner.mine_at(START + 2 * 3600 + 180);
    let (node, told) = watch::channel(miner);
    court.plan(
        SourceId::Node,
        config(NodeKind::Electrum),
        RouteSettings::default(),
    );
    let stream = arrivals.recv().await.unwrap().stream;
    let server = tokio::spawn(electrum(stream, told, Form::Text));
    let miner = node.borrow().clone();
    court.until_tip(&miner, HeightState::Proven).await;
    server.abort();
    court.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_complained_about_is_over_when_the_node_does_well() {
    let (mut court, mut arrivals) = Court::in_memory();
    let (node, told) = watch::channel(Miner::with(30));
    court.plan(
        SourceId::Node,
        config(NodeKind::Bitcoin),
        RouteSettings::default(),
    );
    let stream = arrivals.recv().await.unwrap().stream;
    let server = tokio::spawn(peer(stream, told, Tells::Headers));
    let miner = node.borrow().clone();
    court.until_tip(&miner, HeightState::Proven).await;
    court.until(is_well).await;
    node.send_modify(|miner| miner.mine_at(START + 3 * 3600));
    court.until(|seen| !is_well(seen)).await;
    court.clock.set(i64::from(START + 2 * 3600) * 1000);
    let seen = court.until(is_well).await;
    assert_eq!(complaints(&seen), ["it is from the future"]);
    server.abort();
    court.stop().await;
}

fn complaints(seen: &Seen) -> Vec<&str> {
    let said = seen.said.iter();
    said.filter_map(|said| match said {
        Observation::Complaint(reason) => Some(reason.as_str()),
        _ => None,
    })
    .collect()
}

/// A connection is up, and nothing was complained about since.
fn is_well(seen: &Seen) -> bool {
    let is_about_it = |said: &&Observation| {
        matches!(said, Observation::Connection(_) | Observation::Complaint(_))
    };
    let last = seen.said.iter().rev().find(is_about_it);
    last == Some(&Observation::Connection(Connection::Up))
}

/// As one that is still catching up, or one of a network without any block but the first.
#[tokio::test(start_paused = true)]
async fn a_node_that_has_no_headers_to_tell_is_down_for_a_reason() {
    let (mut court, arrivals) = Court::in_memory();
    let (node, told) = watch::channel(Miner::with(0));
    let server = serve(arrivals, "node:18444", move |stream| {
        tokio::spawn(peer(stream, told.clone(), Tells::Headers))
    });
    court.plan(
        SourceId::Node,
        config(NodeKind::Bitcoin),
        RouteSettings::default(),
    );
    let seen = court.until(|seen| !complaints(seen).is_empty()).await;
    let reason = "it tells no blocks after those that are known: it may still be catching up";
    assert_eq!(complaints(&seen), [reason]);
    let up = Observation::Connection(Connection::Up);
    assert!(!seen.said.contains(&up), "{:?}", seen.said);
    node.send_modify(|miner| miner.mine(1));
    let miner = node.borrow().clone();
    court.until_tip(&miner, HeightState::Proven).await;
    court.until(is_well).await;
    server.abort();
    court.stop().await;
}

/// Who is just a block behind has none to tell either.
#[tokio::test(start_paused = true)]
async fn a_node_that_is_a_block_behind_is_not_complained_about() {
    let (mut court, arrivals) = Court::in_memory();
    let (node, told) = watch::channel(Miner::with(30));
    let server = serve(arrivals, "node:18444", move |stream| {
        tokio::spawn(peer(stream, told.clone(), Tells::Headers))
    });
    court.plan(
        SourceId::Node,
        config(NodeKind::Bitcoin),
        RouteSettings::default(),
    );
    let miner = node.borrow().clone();
    court.until_tip(&miner, HeightState::Proven).await;
    court.until(is_well).await;
    node.send_modify(|miner| {
        miner.headers.pop();
    });
    time::sleep(2 * ASK_EVERY).await;
    assert_eq!(complaints(&court.look()), [""; 0]);
    server.abort();
    court.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_node_that_was_away_is_followed_again() {
    let (mut court, mut arrivals) = Court::in_memory();
    let (node, told) = watch::channel(Miner::with(30));
    court.plan(
        SourceId::Node,
        config(NodeKind::Electrum),
        RouteSettings::default(),
    );
    let first = tokio::spawn(electrum(
        arrivals.recv().await.unwrap().stream,
        told.clone(),
        Form::Text,
    ));
    let miner = node.borrow().clone();
    court.until_tip(&miner, HeightState::Proven).await;
    first.abort();
    let (reason, _) = court.down().await;
    assert_eq!(reason, "the server has closed the connection");
    node.send_modify(|miner| miner.mine(700));
    let again = tokio::spawn(electrum(
        arrivals.recv().await.unwrap().stream,
        told,
        Form::List,
    ));
    let miner = node.borrow().clone();
    court.until_tip(&miner, HeightState::Proven).await;
    again.abort();
    court.stop().await;
}

/// Headers that were mined for real, as an Electrum server sends them.
#[test]
fn genuine_headers_come_through_unchanged() {
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
    assert_eq!(feeds::electrum::headers(&text), Ok(headers.clone()));
    assert_eq!(feeds::core_node::headers_body(&bytes), Ok(headers));
}

/// Time is not spent on a wait that nobody needs.
#[tokio::test(start_paused = true)]
async fn a_year_of_headers_takes_few_messages() {
    let (mut court, arrivals) = Court::in_memory();
    let (node, told) = watch::channel(Miner::with(10_000));
    let server = serve(arrivals, "node:18444", move |stream| {
        tokio::spawn(peer(stream, told.clone(), Tells::Headers))
    });
    let began = time::Instant::now();
    court.plan(
        SourceId::Node,
        config(NodeKind::Bitcoin),
        RouteSettings::default(),
    );
    let miner = node.borrow().clone();
    court.until_tip(&miner, HeightState::Proven).await;
    assert!(court.look().messages <= 7, "{}", court.look().messages);
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    server.abort();
    court.stop().await;
}
