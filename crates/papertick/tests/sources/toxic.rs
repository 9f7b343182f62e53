//! Every socket and poll on a network that cuts, stalls, drips, shuffles and floods: the source reports the fault,
//! waits, and is up again once the network works.

use std::time::Duration;

use device::{
    secret::Secret,
    sources::{ExplorerConfig, PoolConfig, RelayConfig, RelayEndpoint, SourceConfig},
};
use feeds::nostr::{data, zap};
use futures_util::SinkExt;
use market::{Connection, Observation, source_id::SourceId};
use net::dialer::Arrival;
use tokio::{
    io::{AsyncWriteExt, DuplexStream},
    sync::mpsc,
    time::{self, Instant},
};
use tokio_tungstenite::{WebSocketStream, accept_async, tungstenite::Message};

use crate::{
    peers::answer,
    rig::{Rig, currency},
};

const KEY: &str = "c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5";

/// A fault of the network.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Toxin {
    Cut,
    Stall,
    Drip,
    Shuffle,
    Flood,
}

const TOXINS: [Toxin; 5] = [
    Toxin::Cut,
    Toxin::Stall,
    Toxin::Drip,
    Toxin::Shuffle,
    Toxin::Flood,
];

impl Toxin {
    /// Applies the fault to a socket until the client closes it.
    async fn spoil_socket(self, mut raw: DuplexStream) {
        match self {
            Toxin::Cut => raw.write_all(&[0x81, 126, 0, 200, b'[']).await.unwrap(),
            Toxin::Stall => time::sleep(Duration::from_secs(3600)).await,
            Toxin::Drip => {
                raw.write_all(&[0x81, 126, 0x10, 0]).await.unwrap();
                drip(raw).await;
            }
            // The end of a message before its beginning.
            Toxin::Shuffle => raw
                .write_all(&[0x80, 1, b']', 0x01, 1, b'['])
                .await
                .unwrap(),
            Toxin::Flood => {
                let mut piece = vec![0x01, 127, 0, 0, 0, 0, 0, 0, 0x20, 0];
                piece.resize(piece.len() + 0x2000, b' ');
                while raw.write_all(&piece).await.is_ok() {
                    piece[0] = 0x00;
                }
            }
        }
    }

    /// The reasons with which a source ends such a connection.
    fn socket_reasons(self) -> &'static [&'static str] {
        match self {
            Toxin::Cut => &["the connection was lost"],
            Toxin::Stall | Toxin::Drip => &[
                "the server stopped sending",
                "connected, but no valid message came",
            ],
            Toxin::Shuffle => &["the server does not speak this protocol"],
            Toxin::Flood => &["a message is larger than "],
        }
    }

    /// Applies the fault to a response until the client closes the connection.
    async fn spoil_answer(self, mut raw: DuplexStream) {
        match self {
            Toxin::Cut => raw
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{\"hash")
                .await
                .unwrap(),
            Toxin::Stall => time::sleep(Duration::from_secs(3600)).await,
            Toxin::Drip => {
                raw.write_all(b"HTTP/1.1 200 OK\r\nX: ").await.unwrap();
                drip(raw).await;
            }
            Toxin::Shuffle => raw
                .write_all(b"{}\r\n\r\nHTTP/1.1 200 OK\r\n\r\n")
                .await
                .unwrap(),
            Toxin::Flood => {
                raw.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                while raw.write_all(&[b' '; 4096]).await.is_ok() {}
            }
        }
    }

    /// The reason with which such a poll fails.
    fn answer_reason(self) -> &'static str {
        match self {
            Toxin::Cut | Toxin::Shuffle => "the answer is incomplete or not HTTP",
            Toxin::Stall | Toxin::Drip => "no answer in time",
            Toxin::Flood => "the answer is larger than ",
        }
    }
}

async fn drip(mut raw: DuplexStream) {
    while raw.write_all(b"x").await.is_ok() {
        time::sleep(Duration::from_secs(1)).await;
    }
}

/// Every source with a socket, and a message that it accepts.
fn sockets() -> Vec<(SourceId, SourceConfig, Message)> {
    let relay = || "ws://nostr.example".to_owned();
    let stored = |name: &str| Message::text(format!(r#"["EOSE","{name}"]"#));
    let pairing = format!(
        "nostr+walletconnect://{KEY}?relay=ws://wallet.example&secret={}",
        "02".repeat(32)
    );
    vec![
        (
            SourceId::Relay,
            SourceConfig::Relay(RelayConfig {
                endpoint: RelayEndpoint::Public,
                currencies: vec![currency("USD")],
                blocks: true,
                precise_fee: false,
            }),
            Message::binary(b"\x81\xa8blockfee\x0d".to_vec()),
        ),
        (
            SourceId::Explorer,
            SourceConfig::Explorer(ExplorerConfig {
                host: "explorer".into(),
                tls: false,
                precise_fee: false,
            }),
            Message::text(r#"{"block":{"height":900000}}"#),
        ),
        (
            SourceId::Exchange,
            SourceConfig::Exchange {
                currencies: vec![currency("USD")],
            },
            Message::text(r#"{"channel":"ticker","data":[{"symbol":"BTC/USD","last":5}]}"#),
        ),
        (
            SourceId::Nostr,
            SourceConfig::Nostr {
                relays: vec![relay().as_str().into()],
                author: KEY.to_owned(),
            },
            stored(data::SUBSCRIPTION),
        ),
        (
            SourceId::Zaps,
            SourceConfig::Zaps {
                relays: vec![relay().as_str().into()],
                recipients: vec![KEY.to_owned()],
            },
            stored(zap::SUBSCRIPTION),
        ),
        (
            SourceId::Wallet,
            SourceConfig::Wallet {
                uri: Secret::new(pairing),
                refresh_secs: 60,
            },
            stored("nwci-c6047f94"),
        ),
    ]
}

/// The next WebSocket; other requests get no response.
async fn socket(arrivals: &mut mpsc::Receiver<Arrival>) -> WebSocketStream<DuplexStream> {
    loop {
        if let Ok(socket) = accept_async(arrivals.recv().await.unwrap().stream).await {
            return socket;
        }
    }
}

/// The reason why a connection is down, and the counts reported before it.
async fn down(rig: &mut Rig) -> (String, Vec<Observation>) {
    let mut counts = Vec::new();
    loop {
        for observation in rig.next().await.1 {
            if let Observation::Connection(Connection::Down { reason, .. }) = observation {
                return (reason, counts);
            }
            if let Observation::Dropped(..) = observation {
                counts.push(observation);
            }
        }
    }
}

fn counts_of(toxin: Toxin) -> Vec<Observation> {
    let flood = (toxin == Toxin::Flood).then_some(Observation::Dropped("too-long", 1));
    flood.into_iter().collect()
}

#[tokio::test(start_paused = true)]
async fn sockets_survive_every_network() {
    for (id, config, good) in sockets() {
        for toxin in TOXINS {
            for was_up in [false, true] {
                let (mut rig, mut arrivals) = Rig::in_memory();
                rig.plan(id, config.clone());
                let mut first = socket(&mut arrivals).await;
                if was_up {
                    first.send(good.clone()).await.unwrap();
                    rig.up().await;
                }
                let spoiled = tokio::spawn(toxin.spoil_socket(first.into_inner()));
                let (reason, counts) = down(&mut rig).await;
                let expected = toxin.socket_reasons();
                assert!(
                    expected.iter().any(|expected| reason.starts_with(expected)),
                    "{id:?} {toxin:?}: {reason}"
                );
                assert_eq!(counts, counts_of(toxin), "{id:?} {toxin:?}");
                let left = Instant::now();
                let mut second = socket(&mut arrivals).await;
                assert!(left.elapsed() >= Duration::from_secs(4), "{id:?} {toxin:?}");
                second.send(good.clone()).await.unwrap();
                rig.up().await;
                spoiled.abort();
                rig.stop().await;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn polls_survive_every_network() {
    let pool = SourceConfig::Pool(PoolConfig {
        pool: "local_public_pool".to_owned(),
        user: Secret::new("me"),
        worker: String::new(),
        global: false,
        local_host: "umbrel:2019".into(),
        poll_secs: 60,
        logos_url: "".into(),
        logo_fetches: 0,
    });
    let miner = SourceConfig::Miner {
        host: "miner1".into(),
        poll_secs: 5,
    };
    for (id, config, good) in [
        (SourceId::Pool, pool, r#"{"workers":[{"hashRate":5}]}"#),
        (SourceId::Miner, miner, r#"{"hashRate":5}"#),
    ] {
        for toxin in TOXINS {
            let (mut rig, mut arrivals) = Rig::in_memory();
            rig.plan(id, config.clone());
            let first = arrivals.recv().await.unwrap().stream;
            let spoiled = tokio::spawn(toxin.spoil_answer(first));
            let (reason, counts) = down(&mut rig).await;
            assert!(
                reason.starts_with(toxin.answer_reason()),
                "{id:?} {toxin:?}: {reason}"
            );
            assert_eq!(counts, counts_of(toxin), "{id:?} {toxin:?}");
            let left = Instant::now();
            let (_, ()) = tokio::join!(answer(&mut arrivals, "200 OK", good), rig.up());
            assert!(left.elapsed() >= Duration::from_secs(4), "{id:?} {toxin:?}");
            spoiled.abort();
            rig.stop().await;
        }
    }
}
