//! The sources that the settings require, and their proxies.

use std::collections::BTreeMap;

use chain::network::Network;
use device::{
    secret::{Endpoint, Secret},
    settings::Settings,
    sources::{
        self, ByHand, ExplorerConfig, PeersConfig, PoolConfig, RelayConfig, RelayEndpoint, Route,
        SourceConfig, SourcePlan,
    },
};
use market::source_id::SourceId;
use serde_json::Value;

use crate::bench;

fn settings(body: &str) -> Settings {
    let body = bench::object(body);
    bench::patch(&Settings::default(), &body).unwrap().settings
}

/// The plan for these settings.
fn plan(settings: &Settings) -> BTreeMap<SourceId, SourcePlan> {
    sources::plan(
        settings,
        &settings.currencies(),
        ByHand::default(),
        Some(Network::Main),
    )
}

/// One word per source, with its variant.
fn words(body: &str) -> String {
    let plan = plan(&settings(body));
    let words = plan.values().map(|plan| word(&plan.config));
    // The table of witnesses is separate.
    let words: Vec<String> = words.filter(|word| word != "witness").collect();
    words.join(" ")
}

fn word(config: &SourceConfig) -> String {
    match config {
        SourceConfig::Relay(RelayConfig {
            endpoint, blocks, ..
        }) => {
            let place = match endpoint {
                RelayEndpoint::Public => "public".to_owned(),
                RelayEndpoint::Custom { host, tls: true } => format!("wss:{host}"),
                RelayEndpoint::Custom { host, tls: false } => format!("ws:{host}"),
            };
            let part = if *blocks { "" } else { ":prices" };
            format!("relay:{place}{part}")
        }
        SourceConfig::Explorer(ExplorerConfig { host, tls, .. }) => {
            format!("explorer:{}:{host}", if *tls { "wss" } else { "ws" })
        }
        SourceConfig::Exchange { .. } => "exchange".to_owned(),
        SourceConfig::Witness { .. } => "witness".to_owned(),
        SourceConfig::Nostr { relays, author } => {
            format!("nostr:{}:{}", joined(relays), &author[..4])
        }
        SourceConfig::Zaps { relays, recipients } => {
            let heads = recipients.iter().map(|key| &key[..4]);
            format!("zaps:{}:{}", joined(relays), joined(heads))
        }
        SourceConfig::Wallet { .. } => "wallet".to_owned(),
        SourceConfig::Pool(PoolConfig { pool, .. }) => format!("pool:{pool}"),
        SourceConfig::Miner { host, .. } => format!("miner:{host}"),
        SourceConfig::Node(node) => {
            let (kind, host, port, tls) = (node.kind, &node.host, node.port, node.tls);
            format!("node:{kind:?}:{host}:{port}:{tls}")
        }
        SourceConfig::Peers(PeersConfig { hosts, most, .. }) => {
            format!("peers:{most}:{}", joined(hosts))
        }
    }
}

fn joined(texts: impl IntoIterator<Item = impl ToString>) -> String {
    let texts: Vec<String> = texts.into_iter().map(|text| text.to_string()).collect();
    texts.join("+")
}

#[test]
fn data_sources() {
    #[rustfmt::skip]
    let rows = [
        ("{}", "relay:public"),
        (r#"{"ceEndpoint": "h", "ceDisableSSL": true}"#, "relay:public"),
        (r#"{"dataSource": 3}"#, "relay:wss:ws-staging.btclock.dev"),
        (r#"{"dataSource": 3, "ceEndpoint": "h:81"}"#, "relay:wss:h:81"),
        (r#"{"dataSource": 3, "ceEndpoint": "h", "ceDisableSSL": true}"#, "relay:ws:h"),
        (r#"{"dataSource": 3, "ceEndpoint": "", "ceDisableSSL": true}"#, "relay:public"),
        (r#"{"dataSource": 1}"#, "explorer:wss:mempool.space exchange"),
        (r#"{"dataSource": 1, "explorerInstance": "e:8999", "explorerSecure": false}"#, "explorer:ws:e:8999 exchange"),
        (r#"{"dataSource": 1, "ceEndpoint": ""}"#, "explorer:wss:mempool.space exchange"),
        (r#"{"dataSource": 1, "ceEndpoint": "h"}"#, "relay:wss:h:prices explorer:wss:mempool.space"),
        (r#"{"dataSource": 2}"#, "nostr:wss://relay.primal.net:6423"),
        (r#"{"dataSource": 2, "nostrRelay": "ws://r"}"#, "nostr:ws://r:6423"),
        (r#"{"dataSource": 2, "nostrRelay": ""}"#, ""),
        (r#"{"dataSource": 2, "nostrPubKey": ""}"#, ""),
        (r#"{"dataSource": 2, "nostrRelay": "ws://r", "nostrRelays": ["ws://s", "ws://r", "", "ws://s"]}"#, "nostr:ws://s+ws://r:6423"),
        (r#"{"dataSource": 2, "nostrRelay": "", "nostrRelays": ["ws://s"]}"#, "nostr:ws://s:6423"),
    ];
    for (body, wanted) in rows {
        // The table of features has the sources that are on by default.
        let market: Vec<String> = words(body)
            .split(' ')
            .filter(|word| !word.starts_with("pool:") && !word.starts_with("peers:"))
            .map(str::to_owned)
            .collect();
        assert_eq!(market.join(" "), wanted, "{body}");
    }
}

#[test]
fn features() {
    let key = "B5127A08CF33616274800A4387881A9F98E04B9C37116E92DE5250498635C422";
    #[rustfmt::skip]
    let rows = [
        (r#"{"nostrZapNotify": true}"#, ""),
        (r#"{"nostrZapPubkey": "KEY"}"#, ""),
        (r#"{"nostrZapNotify": true, "nostrZapPubkey": "KEY", "nostrRelay": ""}"#, ""),
        (r#"{"nostrZapNotify": true, "nostrZapPubkey": "KEY", "nostrRelay": "ws://r"}"#, "zaps:ws://r:b512"),
        (
            r#"{"nostrZapNotify": true, "nostrZapPubkey": "KEY", "nostrRelay": "ws://r", "nostrRelays": ["ws://s"],
                "nostrZapPubkeys": ["NPUB", "LOWER", ""]}"#,
            "zaps:ws://r+ws://s:b512+7e7e",
        ),
        (r#"{"nostrZapNotify": true, "nostrZapPubkeys": ["NPUB"], "nostrRelay": "", "nostrRelays": ["ws://s"]}"#, "zaps:ws://s:7e7e"),
        (r#"{"nwcEnabled": true}"#, ""),
        (r#"{"nwcUri": "nostr+walletconnect://x"}"#, ""),
        (r#"{"nwcEnabled": true, "nwcUri": "nostr+walletconnect://x"}"#, "wallet"),
        (r#"{"miningPoolStats": true}"#, "pool:noderunners"),
        (r#"{"minerEnabled": true}"#, "miner:bitaxe1"),
        (r#"{"minerEnabled": true, "minerHostname": ""}"#, ""),
        (r#"{"minerHostname": "m"}"#, ""),
    ];
    for (body, wanted) in rows {
        let npub = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg";
        let body = body.replace("KEY", key).replace("NPUB", npub);
        let words = words(&body.replace("LOWER", &key.to_lowercase()));
        let wanted = format!("relay:public {wanted}");
        let wanted = format!("{} peers:4:", wanted.trim_end());
        assert_eq!(words, wanted, "{body}");
    }
    let mut stored = settings(r#"{"miningPoolStats": true}"#);
    stored.mining_pool_name = "long_gone".to_owned();
    let plan = plan(&stored);
    assert!(
        !plan.contains_key(&SourceId::Pool),
        "an unknown pool has no source"
    );
}

#[test]
fn precision_and_scope_of_figures_follow_the_settings() {
    for wanted in [true, false] {
        for (body, source) in [
            (r#""dataSource": 0"#, SourceId::Relay),
            (r#""dataSource": 1"#, SourceId::Explorer),
            (r#""nodeKind": 2, "nodeHost": "n""#, SourceId::Node),
        ] {
            let body = format!(r#"{{{body}, "blockFeeDec": {wanted}}}"#);
            let plan = plan(&settings(&body));
            let config = format!("{:?}", plan[&source].config);
            assert!(
                config.contains(&format!("precise_fee: {wanted}")),
                "{config}"
            );
        }
        let body = format!(r#"{{"miningPoolStats": true, "poolGlobalStats": {wanted}}}"#);
        let plan = plan(&settings(&body));
        let SourceConfig::Pool(PoolConfig { global, .. }) = plan[&SourceId::Pool].config else {
            panic!("{plan:?}");
        };
        assert_eq!(global, wanted);
    }
}

#[test]
fn pool_miner_and_wallet_are_polled_by_their_settings() {
    let body = r#"{"miningPoolStats": true, "miningPoolName": "local_public_pool", "miningPoolUser": "bc1me",
        "poolWorker": "rig", "poolGlobalStats": false, "localPoolHost": "own:2019", "poolPollSec": 77,
        "poolLogosUrl": "https://logos.example/dir", "minerEnabled": true, "minerHostname": "axe",
        "minerPollSec": 33, "nwcEnabled": true, "nwcUri": "nostr+walletconnect://x", "nwcRefreshSecs": 99}"#;
    let plan = plan(&settings(body));
    let planned = [SourceId::Pool, SourceId::Miner, SourceId::Wallet].map(|id| &plan[&id].config);
    let pool = SourceConfig::Pool(PoolConfig {
        pool: "local_public_pool".into(),
        user: Secret::new("bc1me"),
        worker: "rig".into(),
        global: false,
        local_host: Endpoint::new("own:2019"),
        poll_secs: 77,
        logos_url: Endpoint::new("https://logos.example/dir"),
        logo_fetches: 0,
    });
    let miner = SourceConfig::Miner {
        host: Endpoint::new("axe"),
        poll_secs: 33,
    };
    let wallet = SourceConfig::Wallet {
        uri: Secret::new("nostr+walletconnect://x"),
        refresh_secs: 99,
    };
    assert_eq!(planned, [&pool, &miner, &wallet]);
}

#[test]
fn nodes_and_peers() {
    #[rustfmt::skip]
    let rows = [
        ("{}", "peers:4:"),
        (r#"{"proofPeerMax": 0}"#, ""),
        (r#"{"proofPeerMax": 2, "proofPeers": ["A.onion", "b:7", "a.onion"]}"#, "peers:2:a.onion+b:7"),
        (r#"{"nodeKind": 2}"#, "peers:4:"),
        (r#"{"nodeHost": "n"}"#, "peers:4:"),
        (r#"{"nodeKind": 1, "nodeHost": "n", "nodeTls": true, "proofPeerMax": 0}"#, "node:Bitcoin:n:0:false"),
        (
            r#"{"nodeKind": 2, "nodeHost": "n", "nodeTls": true, "nodePort": 7, "proofPeerMax": 0}"#,
            "node:Electrum:n:7:true",
        ),
    ];
    for (body, wanted) in rows {
        let words = words(body);
        let words = words.strip_prefix("relay:public").unwrap();
        assert_eq!(words.trim_start(), wanted, "{body}");
    }
    let settings = settings(r#"{"nodeKind": 2, "nodeHost": "n"}"#);
    let plan = sources::plan(&settings, &[], ByHand::default(), None);
    assert_eq!(plan.len(), 1, "no source has headers of the demo's chain");
}

#[test]
fn witnesses() {
    #[rustfmt::skip]
    let rows = [
        ("{}", "coinbase:USD+EUR bitstamp:USD+EUR"),
        (r#"{"priceWitnesses": []}"#, ""),
        (r#"{"priceWitnesses": ["gemini", "bitfinex"]}"#, "bitfinex:USD+EUR+JPY gemini:USD+EUR"),
        (r#"{"priceWitnesses": ["bitstamp", "bitfinex"], "actCurrencies": ["GBP", "CHF"]}"#, "bitfinex:GBP"),
        (r#"{"dataSource": 1, "priceWitnesses": ["coinbase"]}"#, "coinbase:USD+EUR"),
    ];
    for (body, wanted) in rows {
        let plan = plan(&settings(body));
        let planned = plan.iter().filter_map(|(id, plan)| {
            let SourceConfig::Witness { currencies } = &plan.config else {
                return None;
            };
            let codes: Vec<&str> = currencies.iter().map(|code| code.code()).collect();
            Some(format!("{}:{}", id.name(), codes.join("+")))
        });
        assert_eq!(planned.collect::<Vec<_>>().join(" "), wanted, "{body}");
    }
}

#[test]
fn proxies() {
    for (change, is_proxied) in [
        ("{}", true),
        (r#"{"proxyEnabled": false}"#, false),
        (r#"{"proxyType": 0}"#, false),
        (r#"{"proxyType": 1}"#, true),
    ] {
        let mut body = bench::object(
            r#"{"proxyEnabled": true, "proxyType": 4, "proxyHost": "10.0.0.1", "proxyPort": 1080}"#,
        );
        body.extend(bench::object(change));
        let body = Value::Object(body).to_string();
        let plan = plan(&settings(&body));
        assert!(!plan.is_empty());
        for plan in plan.values() {
            assert_eq!(plan.route.proxy.is_some(), is_proxied, "{change}");
        }
    }
    assert_eq!(Route::of(&Settings::default()).proxy, None);
    for (host, port) in [("", 1080), ("h", 65_536)] {
        let mut settings = settings(r#"{"proxyType": 4}"#);
        settings.proxy_enabled = true;
        (settings.proxy_host, settings.proxy_port) = (host.into(), port);
        assert_eq!(Route::of(&settings).proxy, None, "{host}:{port}");
    }
}
