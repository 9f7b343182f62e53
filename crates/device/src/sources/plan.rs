//! The table of sources: a row has when a source runs, what it connects to, and what it supplies.
//!
//! Rows are computed from the active settings and the commands of the owner.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use chain::network::Network;
use market::{
    figures::FigureIdentity,
    source_id::SourceId,
    units::Currency,
    venues::{self, VenueSpec},
};

use super::Route;
use crate::{
    limits::PEERS_MAX,
    secret::{Endpoint, Secret},
    settings::{Settings, data_source, pairing::PairingUri},
};

/// A source that should run. Any change restarts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePlan {
    /// What to connect to, and which data to request.
    pub config: SourceConfig,
    /// What it feeds and proves.
    pub supplies: &'static [Supply],
    /// Identity of the polled figures. All sources without figures have the same one.
    pub identity: FigureIdentity,
    /// The route of outbound connections.
    pub route: Route,
    /// Number of restarts by the owner.
    pub restarts: u64,
}

/// What a source feeds or proves, beside figures and notices of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Supply {
    /// Blocks.
    Blocks,
    /// Headers that prove blocks.
    Proofs,
    /// Prices. Quotes of witnesses only confirm those of other sources.
    Prices,
}

/// What a source connects to, and which data it requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceConfig {
    /// The relay service.
    Relay(RelayConfig),
    /// The block explorer: blocks and fees.
    Explorer(ExplorerConfig),
    /// The exchange: prices.
    Exchange {
        /// Currencies to subscribe to.
        currencies: Vec<Currency>,
    },
    /// A venue: quotes as a witness.
    Witness {
        /// Currencies to subscribe to, at least one.
        currencies: Vec<Currency>,
    },
    /// Data events on Nostr relays.
    Nostr {
        /// URLs of the relays, at least one; each once.
        relays: Vec<Endpoint>,
        /// Author's key, 64 hex digits.
        author: String,
    },
    /// Zap receipts on Nostr relays.
    Zaps {
        /// URLs of the relays, at least one; each once.
        relays: Vec<Endpoint>,
        /// Keys of the recipients, at least one, 64 lower-case hex digits each; each once.
        recipients: Vec<String>,
    },
    /// The wallet.
    Wallet {
        /// Pairing URI.
        uri: Secret,
        /// Time between polls of the balance, s.
        refresh_secs: u32,
    },
    /// The mining pool.
    Pool(PoolConfig),
    /// The miner.
    Miner {
        /// Host name or address.
        host: Endpoint,
        /// Time between polls, s.
        poll_secs: u32,
    },
    /// The owner's node: blocks with their headers, and fees if it has them.
    Node(NodeConfig),
    /// Public peers: headers only.
    Peers(PeersConfig),
}

/// A relay and its subscriptions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayConfig {
    /// Which relay.
    pub endpoint: RelayEndpoint,
    /// Currencies to subscribe to.
    pub currencies: Vec<Currency>,
    /// Also requests blocks and fees, not only prices.
    pub blocks: bool,
    /// Subscribes to fees with decimals instead of whole ones.
    pub precise_fee: bool,
}

/// An explorer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplorerConfig {
    /// Host, with a port if it is not the default one.
    pub host: Endpoint,
    /// Uses TLS.
    pub tls: bool,
    /// Reports fees with decimals.
    pub precise_fee: bool,
}

/// A mining pool, the account to query, and the source of logos.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolConfig {
    /// Id of the pool.
    pub pool: String,
    /// Primary identifier or key.
    pub user: Secret,
    /// Secondary identifier.
    pub worker: String,
    /// Figures of the whole pool.
    pub global: bool,
    /// Host and port of the self-hosted pool.
    pub local_host: Endpoint,
    /// Time between polls, s.
    pub poll_secs: u32,
    /// URL of the logos; empty for none.
    pub logos_url: Endpoint,
    /// Number of times that cached logos were dropped.
    pub logo_fetches: u64,
}

/// Which peers to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeersConfig {
    /// The network of the chain.
    pub network: Network,
    /// Peers that the owner names, with or without a port; empty to find public ones.
    pub hosts: Vec<String>,
    /// Number of connections.
    pub most: u32,
}

/// The owner's node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeConfig {
    /// Its protocol.
    pub kind: NodeKind,
    /// The network of the chain.
    pub network: Network,
    /// Host name or address.
    pub host: Endpoint,
    /// Port; 0 for the default one.
    pub port: u16,
    /// Uses TLS.
    pub tls: bool,
    /// Reports fees with decimals.
    pub precise_fee: bool,
}

/// The protocol of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// The protocol of the Bitcoin network.
    Bitcoin,
    /// The protocol of Electrum servers.
    Electrum,
}

/// Which relay to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelayEndpoint {
    /// The public relay, with TLS unless it is replaced on the command line.
    Public,
    /// A relay of the owner.
    Custom {
        /// Host as entered, with or without scheme and port.
        host: Endpoint,
        /// Uses TLS.
        tls: bool,
    },
}

/// Commands of the owner to the sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ByHand {
    /// Number of restarts of all sources.
    pub restarts: u64,
    /// Number of restarts of each single source, in the order of [`SourceId::ALL`].
    pub restarts_of: [u64; SourceId::ALL.len()],
    /// Number of times that the logo cache was cleared.
    pub logo_fetches: u64,
}

/// The sources that should run.
pub type Plan = BTreeMap<SourceId, SourcePlan>;

/// A row of the table.
struct SourceRow {
    id: SourceId,
    supplies: &'static [Supply],
    /// The default for a source without figures.
    identity: FigureIdentity,
    config: SourceConfig,
}

/// The sources that should run, for prices in these currencies and blocks of this network. `None` if blocks and prices are
/// invented.
pub fn plan(
    settings: &Settings,
    currencies: &[Currency],
    by_hand: ByHand,
    network: Option<Network>,
) -> Plan {
    let rows = [
        relay(settings, currencies),
        explorer(settings),
        exchange(settings, currencies),
        nostr(settings),
        zaps(settings),
        wallet(settings),
        pool(settings, by_hand),
        miner(settings),
        network.and_then(|network| node(settings, network)),
        network.and_then(|network| peers(settings, network)),
    ];
    // Invented prices have no witnesses.
    let witnesses = venues::VENUES.iter().filter(|_| network.is_some());
    let witnesses = witnesses.map(|venue| witness(venue, settings, currencies));
    let route = Route::of(settings);
    let rows = rows.into_iter().chain(witnesses).flatten();
    rows.map(|row| {
        let plan = SourcePlan {
            config: row.config,
            supplies: row.supplies,
            identity: row.identity,
            route: route.clone(),
            restarts: by_hand.restarts + by_hand.restarts_of[row.id as usize],
        };
        (row.id, plan)
    })
    .collect()
}

fn relay(settings: &Settings, currencies: &[Currency]) -> Option<SourceRow> {
    let custom = RelayEndpoint::Custom {
        host: settings.ce_endpoint.clone(),
        tls: !settings.ce_disable_ssl,
    };
    let (endpoint, blocks) = match settings.data_source {
        data_source::EXPLORER if has_own_relay(settings) => (custom, false),
        data_source::EXPLORER | data_source::NOSTR => return None,
        data_source::CUSTOM_RELAY if !settings.ce_endpoint.is_empty() => (custom, true),
        _ => (RelayEndpoint::Public, true),
    };
    Some(SourceRow {
        id: SourceId::Relay,
        supplies: if blocks { &[Supply::Blocks, Supply::Prices] } else { &[Supply::Prices] },
        identity: FigureIdentity::default(),
        config: SourceConfig::Relay(RelayConfig {
            endpoint,
            currencies: currencies.to_vec(),
            blocks,
            precise_fee: settings.block_fee_dec,
        }),
    })
}

/// Returns whether prices come from a relay of the owner instead of the exchange.
fn has_own_relay(settings: &Settings) -> bool {
    !settings.ce_endpoint.is_empty() && settings.ce_endpoint != Settings::default().ce_endpoint
}

fn explorer(settings: &Settings) -> Option<SourceRow> {
    let wanted = settings.data_source == data_source::EXPLORER;
    wanted.then(|| SourceRow {
        id: SourceId::Explorer,
        supplies: &[Supply::Blocks, Supply::Proofs],
        identity: FigureIdentity::of(&[settings.explorer_instance.expose()]),
        config: SourceConfig::Explorer(ExplorerConfig {
            host: settings.explorer_instance.clone(),
            tls: settings.explorer_secure,
            precise_fee: settings.block_fee_dec,
        }),
    })
}

fn exchange(settings: &Settings, currencies: &[Currency]) -> Option<SourceRow> {
    let wanted = settings.data_source == data_source::EXPLORER && !has_own_relay(settings);
    wanted.then(|| SourceRow {
        id: SourceId::Exchange,
        supplies: &[Supply::Prices],
        identity: FigureIdentity::default(),
        config: SourceConfig::Exchange {
            currencies: currencies.to_vec(),
        },
    })
}

/// A chosen venue with a market in one of the currencies.
fn witness(venue: &VenueSpec, settings: &Settings, currencies: &[Currency]) -> Option<SourceRow> {
    let mut chosen = settings.price_witnesses.iter();
    let currencies = venues::served(venue, currencies);
    let wanted = chosen.any(|name| name == venue.source.name()) && !currencies.is_empty();
    wanted.then(|| SourceRow {
        id: venue.source,
        supplies: &[],
        identity: FigureIdentity::default(),
        config: SourceConfig::Witness { currencies },
    })
}

fn nostr(settings: &Settings) -> Option<SourceRow> {
    let (relays, author) = (settings.relays(), settings.nostr_pub_key.clone());
    let wanted =
        settings.data_source == data_source::NOSTR && !relays.is_empty() && !author.is_empty();
    wanted.then(|| SourceRow {
        id: SourceId::Nostr,
        supplies: &[Supply::Blocks, Supply::Prices],
        identity: FigureIdentity::default(),
        config: SourceConfig::Nostr { relays, author },
    })
}

fn zaps(settings: &Settings) -> Option<SourceRow> {
    let (relays, recipients) = (settings.relays(), settings.zap_recipients());
    let wanted = settings.nostr_zap_notify && !relays.is_empty() && !recipients.is_empty();
    wanted.then(|| SourceRow {
        id: SourceId::Zaps,
        supplies: &[],
        identity: FigureIdentity::default(),
        config: SourceConfig::Zaps { relays, recipients },
    })
}

fn wallet(settings: &Settings) -> Option<SourceRow> {
    let uri = &settings.nwc_uri;
    let pairing = || PairingUri::parse(uri.expose());
    let wanted = settings.nwc_enabled && !uri.is_empty();
    wanted.then(|| SourceRow {
        id: SourceId::Wallet,
        supplies: &[],
        identity: pairing()
            .map_or_else(|_| FigureIdentity::default(), |pairing| pairing.identity()),
        config: SourceConfig::Wallet {
            uri: uri.clone(),
            refresh_secs: settings.nwc_refresh_secs,
        },
    })
}

fn pool(settings: &Settings, by_hand: ByHand) -> Option<SourceRow> {
    let pool = settings.pool().filter(|_| settings.mining_pool_stats)?;
    let (user, worker, host) = (
        &settings.mining_pool_user,
        &settings.pool_worker,
        &settings.local_pool_host,
    );
    let global = settings.pool_global_stats;
    let scope = if global { "pool" } else { "user" };
    Some(SourceRow {
        id: SourceId::Pool,
        supplies: &[],
        identity: FigureIdentity::of(&[pool.id, user.expose(), worker, scope, host.expose()]),
        config: SourceConfig::Pool(PoolConfig {
            pool: pool.id.into(),
            user: user.clone(),
            worker: worker.clone(),
            global,
            local_host: host.clone(),
            poll_secs: settings.pool_poll_sec,
            logos_url: settings.pool_logos_url.clone(),
            logo_fetches: by_hand.logo_fetches,
        }),
    })
}

fn miner(settings: &Settings) -> Option<SourceRow> {
    let host = &settings.miner_hostname;
    let wanted = settings.miner_enabled && !host.is_empty();
    wanted.then(|| SourceRow {
        id: SourceId::Miner,
        supplies: &[],
        identity: FigureIdentity::of(&[host.expose()]),
        config: SourceConfig::Miner {
            host: host.clone(),
            poll_secs: settings.miner_poll_sec,
        },
    })
}

fn node(settings: &Settings, network: Network) -> Option<SourceRow> {
    let kind = match settings.node_kind {
        1 => NodeKind::Bitcoin,
        2 => NodeKind::Electrum,
        _ => return None,
    };
    (!settings.node_host.is_empty()).then(|| SourceRow {
        id: SourceId::Node,
        supplies: &[Supply::Blocks, Supply::Proofs],
        identity: FigureIdentity::default(),
        config: SourceConfig::Node(NodeConfig {
            kind,
            network,
            host: settings.node_host.clone(),
            port: u16::try_from(settings.node_port).unwrap_or_default(),
            tls: settings.node_tls && kind == NodeKind::Electrum,
            precise_fee: settings.block_fee_dec,
        }),
    })
}

fn peers(settings: &Settings, network: Network) -> Option<SourceRow> {
    let most = settings.proof_peer_max.min(PEERS_MAX);
    (most > 0).then(|| SourceRow {
        id: SourceId::Peers,
        supplies: &[Supply::Proofs],
        identity: FigureIdentity::default(),
        config: SourceConfig::Peers(PeersConfig {
            network,
            hosts: settings.proof_peers.clone(),
            most,
        }),
    })
}
