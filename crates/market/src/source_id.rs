//! The names of the sources.

use serde::{Deserialize, Serialize};

macro_rules! source_ids {
    ($($(#[$doc:meta])* $id:ident $name:literal,)*) => {
        /// Names a source; at most one of each runs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum SourceId {
            $($(#[$doc])* #[serde(rename = $name)] $id,)*
        }

        impl SourceId {
            /// All sources.
            pub const ALL: &[SourceId] = &[$(SourceId::$id,)*];

            /// Name of the source in status, logs and metrics.
            pub fn name(self) -> &'static str {
                match self {
                    $(SourceId::$id => $name,)*
                }
            }
        }
    };
}

source_ids! {
    /// The relay service, public or custom.
    Relay "relay",
    /// The block explorer.
    Explorer "explorer",
    /// The exchange.
    Exchange "exchange",
    /// Data events on Nostr relays.
    Nostr "nostr",
    /// Zap receipts on Nostr relays.
    Zaps "zaps",
    /// The wallet.
    Wallet "wallet",
    /// The mining pool.
    Pool "pool",
    /// The miner.
    Miner "miner",
    /// The owner's node.
    Node "node",
    /// Public peers of the Bitcoin network.
    Peers "peers",
    /// Coinbase, a witness of prices.
    Coinbase "coinbase",
    /// Bitstamp, a witness of prices.
    Bitstamp "bitstamp",
    /// Bitfinex, a witness of prices.
    Bitfinex "bitfinex",
    /// Gemini, a witness of prices.
    Gemini "gemini",
}

impl SourceId {
    /// Looks a source up by its name.
    pub fn named(name: &str) -> Option<SourceId> {
        SourceId::ALL.iter().copied().find(|id| id.name() == name)
    }
}
