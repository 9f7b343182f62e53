//! Which data sources should run, and how: computed from the active settings, never switched by hand.

use alloc::{string::String, vec::Vec};

use crate::{secret::Secret, units::Currency};

/// Names a source; at most one of each runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceId {
    /// The relay service, public or custom.
    Relay,
    /// The block explorer.
    Explorer,
    /// The exchange.
    Exchange,
    /// Data events on a Nostr relay.
    Nostr,
    /// Zap receipts on a Nostr relay.
    Zaps,
    /// The wallet.
    Wallet,
    /// The mining pool.
    Pool,
    /// The miner.
    Miner,
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
    ];

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
        }
    }
}

/// A source that should run; any difference restarts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePlan {
    /// What to connect to and what to ask for.
    pub config: SourceConfig,
    /// The way outbound connections take.
    pub route: Route,
    /// Grows with every restart asked for by the owner.
    pub restarts: u64,
}

/// What a source connects to and what it asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceConfig {
    /// The relay service.
    Relay {
        /// Which relay.
        endpoint: RelayEndpoint,
        /// Currencies to subscribe to.
        currencies: Vec<Currency>,
        /// Blocks and fees are wanted too, not only prices.
        blocks: bool,
        /// The fee topic with decimals instead of the whole one.
        precise_fee: bool,
    },
    /// The block explorer: blocks and fees.
    Explorer {
        /// Host, with a port if it is not the default one.
        host: String,
        /// Uses TLS.
        tls: bool,
        /// Reports fees with decimals.
        precise_fee: bool,
    },
    /// The exchange: prices.
    Exchange {
        /// Currencies to subscribe to.
        currencies: Vec<Currency>,
    },
    /// Data events on a Nostr relay.
    Nostr {
        /// Relay URL.
        relay: String,
        /// Author's key, 64 hex digits.
        author: String,
    },
    /// Zap receipts on a Nostr relay.
    Zaps {
        /// Relay URL.
        relay: String,
        /// Recipient's key, 64 hex digits.
        recipient: String,
    },
    /// The wallet.
    Wallet {
        /// Pairing URI.
        uri: Secret,
        /// Time between polls of the balance, s.
        refresh_secs: u32,
    },
    /// The mining pool.
    Pool {
        /// Id of the pool.
        pool: String,
        /// Primary identifier or key.
        user: Secret,
        /// Secondary identifier.
        worker: String,
        /// Figures of the whole pool.
        global: bool,
        /// Host and port of the self-hosted pool.
        local_host: String,
        /// Time between polls, s.
        poll_secs: u32,
        /// Where logos are fetched; empty for none.
        logos_url: String,
        /// Grows whenever cached logos are to be fetched again.
        logo_fetches: u64,
    },
    /// The miner.
    Miner {
        /// Host name or address.
        host: String,
        /// Time between polls, s.
        poll_secs: u32,
    },
}

/// Which relay to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelayEndpoint {
    /// The public relay, always with TLS unless it is replaced on the command line.
    Public,
    /// A relay of the owner's choice.
    Custom {
        /// Host as entered, with or without scheme and port.
        host: String,
        /// Uses TLS.
        tls: bool,
    },
}

/// The way outbound connections take.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Route {
    /// The proxy; none connects directly.
    pub proxy: Option<Proxy>,
}

/// An outbound proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Protocol spoken to it.
    pub kind: ProxyKind,
    /// Its host.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// User name; empty for none.
    pub user: String,
    /// Password.
    pub pass: Secret,
    /// Hosts that are reached directly, as the owner wrote them.
    pub bypass: String,
}

/// Protocol spoken to a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyKind {
    /// HTTP CONNECT.
    HttpConnect,
    /// SOCKS4; names are resolved here.
    Socks4,
    /// SOCKS4a; the proxy resolves names.
    Socks4a,
    /// SOCKS5; the proxy resolves names.
    Socks5,
}
