//! Every source connects through the owner's proxy.

use std::collections::BTreeSet;

use chain::network::Network;
use device::{
    secret::Secret,
    sources::{
        ExplorerConfig, NodeConfig, NodeKind, PeersConfig, PoolConfig, Proxy, ProxyKind,
        RelayConfig, RelayEndpoint, Route, SourceConfig,
    },
};
use market::source_id::SourceId;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_tungstenite::accept_async;

use crate::{
    peers::expect,
    rig::{Rig, accept, currency, relay_config},
};

pub(crate) fn through() -> Route {
    let proxy = Proxy {
        kind: ProxyKind::Socks5,
        host: "proxy".into(),
        port: 1080,
        user: String::new(),
        pass: Secret::new(""),
        bypass: String::new(),
    };
    Route { proxy: Some(proxy) }
}

/// Reads the destination that a SOCKS5 client requests, and accepts everything.
pub(crate) async fn requested(client: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> String {
    expect(client, &[5, 1, 0]).await;
    client.write_all(&[5, 0]).await.unwrap();
    expect(client, &[5, 1, 0, 3]).await;
    let length = client.read_u8().await.unwrap();
    let mut host = vec![0; usize::from(length)];
    client.read_exact(&mut host).await.unwrap();
    let port = client.read_u16().await.unwrap();
    client
        .write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        .await
        .unwrap();
    format!("{}:{port}", String::from_utf8(host).unwrap())
}

#[tokio::test(start_paused = true)]
async fn every_source_goes_through_the_proxy() {
    let (rig, mut arrivals) = Rig::in_memory();
    let key = "b889ff5b1513b641e2a139f661a661364979c5beee91842f8f0ef42ab558e9d4";
    let secret = "71a8c14c1407c113601079c4302dab36460f0ccd0ad506f1f2dc73b5100e4f3c";
    #[rustfmt::skip]
    let configs = [
        (SourceId::Relay, relay_config()),
        (SourceId::Explorer, SourceConfig::Explorer(ExplorerConfig { host: "explorer".into(), tls: false, precise_fee: true })),
        (SourceId::Exchange, SourceConfig::Exchange { currencies: vec![currency("USD")] }),
        (SourceId::Nostr, SourceConfig::Nostr { relays: vec!["ws://nostr".into()], author: key.to_owned() }),
        (SourceId::Zaps, SourceConfig::Zaps { relays: vec!["ws://zaps".into()], recipients: vec![key.to_owned()] }),
        (
            SourceId::Wallet,
            SourceConfig::Wallet {
                uri: Secret::new(format!(
                    "nostr+walletconnect://{key}?relay=ws%3A%2F%2Fwallet&secret={secret}"
                )),
                refresh_secs: 60,
            },
        ),
        (
            SourceId::Pool,
            SourceConfig::Pool(PoolConfig {
                pool: "ocean".to_owned(),
                user: Secret::new("me"),
                worker: String::new(),
                global: false,
                local_host: "".into(),
                poll_secs: 60,
                logos_url: "http://logos".into(),
                logo_fetches: 0,
            }),
        ),
        (SourceId::Miner, SourceConfig::Miner { host: "miner".into(), poll_secs: 10 }),
        (
            SourceId::Node,
            SourceConfig::Node(NodeConfig {
                kind: NodeKind::Electrum,
                network: Network::Main,
                host: "node".into(),
                port: 0,
                tls: false,
                precise_fee: true,
            }),
        ),
        (SourceId::Peers, SourceConfig::Peers(PeersConfig { network: Network::Main, hosts: vec!["peer.onion".to_owned()], most: 4 })),
    ];
    let venues = [
        SourceId::Coinbase,
        SourceId::Bitstamp,
        SourceId::Bitfinex,
        SourceId::Gemini,
    ];
    let currencies = vec![currency("USD")];
    let configs = configs
        .into_iter()
        .chain(venues.map(|id| {
            (
                id,
                SourceConfig::Witness {
                    currencies: currencies.clone(),
                },
            )
        }))
        .collect::<Vec<_>>();
    assert_eq!(configs.len(), SourceId::ALL.len());
    let route = through();
    for (id, config) in configs {
        rig.plan_through(id, config, route.clone());
    }
    let expected: BTreeSet<String> = [
        "relay:80",
        "explorer:80",
        "exchange:80",
        "nostr:80",
        "zaps:80",
        "wallet:80",
        "api.ocean.xyz:443",
        "logos:80",
        "miner:80",
        "node:50001",
        "peer.onion:8333",
        "coinbase:80",
        "bitstamp:80",
        "bitfinex:80",
        "gemini:80",
    ]
    .map(str::to_owned)
    .into();
    let mut seen = BTreeSet::new();
    while seen != expected {
        let arrival = arrivals.recv().await.unwrap();
        assert_eq!(arrival.place, "proxy:1080", "nothing goes another way");
        let mut client = arrival.stream;
        let place = requested(&mut client).await;
        assert!(expected.contains(&place), "{place}");
        seen.insert(place);
    }
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_changed_route_moves_open_sockets() {
    let (rig, mut arrivals) = Rig::in_memory();
    let custom = SourceConfig::Relay(RelayConfig {
        endpoint: RelayEndpoint::Custom {
            host: "own.relay".into(),
            tls: false,
        },
        currencies: vec![currency("USD")],
        blocks: true,
        precise_fee: true,
    });
    rig.plan(SourceId::Relay, custom.clone());
    let mut before = accept(&mut arrivals).await;
    let route = through();
    rig.plan_through(SourceId::Relay, custom, route);
    let after = arrivals.recv().await.unwrap();
    assert_eq!(after.place, "proxy:1080");
    let mut client = after.stream;
    assert_eq!(requested(&mut client).await, "own.relay:80");
    accept_async(client).await.unwrap();
    while let Some(Ok(_)) = futures_util::StreamExt::next(&mut before).await {}
    rig.stop().await;
}
