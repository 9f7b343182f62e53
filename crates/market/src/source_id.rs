//! The names of the sources.

use serde::{Deserialize, Serialize};

/// Names a source; at most one of each runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceId {
    /// The relay service, public or custom.
    Relay,
    /// The block explorer.
    Explorer,
    /// The exchange.
    Exchange,
    /// Data events on Nostr relays.
    Nostr,
    /// Zap receipts on Nostr relays.
    Zaps,
    /// The wallet.
    Wallet,
    /// The mining pool.
    Pool,
    /// The miner.
    Miner,
    /// The owner's node.
    Node,
    /// Public peers of the Bitcoin network.
    Peers,
    /// Coinbase, a witness of prices.
    Coinbase,
    /// Bitstamp, a witness of prices.
    Bitstamp,
    /// Bitfinex, a witness of prices.
    Bitfinex,
    /// Gemini, a witness of prices.
    Gemini,
}

impl SourceId {
    /// All sources.
    pub const ALL: &[SourceId] = &[
        SourceId::Relay,
        SourceId::Explorer,
        SourceId::Exchange,
        SourceId::Nostr,
        SourceId::Zaps,
        SourceId::Wallet,
        SourceId::Pool,
        SourceId::Miner,
        SourceId::Node,
        SourceId::Peers,
        SourceId::Coinbase,
        SourceId::Bitstamp,
        SourceId::Bitfinex,
        SourceId::Gemini,
    ];

    /// Looks a source up by its name.
    pub fn named(name: &str) -> Option<SourceId> {
        SourceId::ALL.iter().copied().find(|id| id.name() == name)
    }

    /// Name of the source in status, logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            SourceId::Relay => "relay",
            SourceId::Explorer => "explorer",
            SourceId::Exchange => "exchange",
            SourceId::Nostr => "nostr",
            SourceId::Zaps => "zaps",
            SourceId::Wallet => "wallet",
            SourceId::Pool => "pool",
            SourceId::Miner => "miner",
            SourceId::Node => "node",
            SourceId::Peers => "peers",
            SourceId::Coinbase => "coinbase",
            SourceId::Bitstamp => "bitstamp",
            SourceId::Bitfinex => "bitfinex",
            SourceId::Gemini => "gemini",
        }
    }
}
