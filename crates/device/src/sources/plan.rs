//! Which sources should run, and how: computed from the active settings and the commands of the owner.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use chain::network::Network;

use crate::{
    limits::PEERS_MAX,
    secret::{Endpoint, Secret},
    settings::pairing::PairingUri,
    settings::{Settings, data_source},
    sources::Route,
};
use market::units::Currency;
use market::{figures::FigureIdentity, source_id::SourceId, venues};

/// A source that should run. Any change restarts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePlan {
    /// What to connect to, and which data to request.
    pub config: SourceConfig,
    /// The route of outbound connections.
    pub route: Route,
    /// Number of restarts by the owner.
    pub restarts: u64,
}

/// What a source connects to, and which data it requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceConfig {
    /// The relay service.
    Relay {
        /// Which relay.
        endpoint: RelayEndpoint,
        /// Currencies to subscribe to.
        currencies: Vec<Currency>,
        /// Also requests blocks and fees, not only prices.
        blocks: bool,
        /// Subscribes to fees with decimals instead of whole ones.
        precise_fee: bool,
    },
    /// The block explorer: blocks and fees.
    Explorer {
        /// Host, with a port if it is not the default one.
        host: Endpoint,
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
        local_host: Endpoint,
        /// Time between polls, s.
        poll_secs: u32,
        /// URL of the logos; empty for none.
        logos_url: Endpoint,
        /// Number of times that cached logos were dropped.
        logo_fetches: u64,
    },
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
    Peers {
        /// The network of the chain.
        network: Network,
        /// Peers that the owner names, with or without a port; empty to find public ones.
        hosts: Vec<String>,
        /// Number of connections.
        most: u32,
    },
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

impl NodeKind {
    /// Converts the value of the setting; `None` for no node.
    fn of(setting: u32) -> Option<NodeKind> {
        match setting {
            1 => Some(NodeKind::Bitcoin),
            2 => Some(NodeKind::Electrum),
            _ => None,
        }
    }
}

impl SourceConfig {
    /// Identity of the polled figures. All sources without figures have the same one.
    pub fn identity(&self) -> FigureIdentity {
        match self {
            SourceConfig::Wallet { uri, .. } => match PairingUri::parse(uri.expose()) {
                Ok(pairing) => pairing.identity(),
                Err(_) => FigureIdentity::default(),
            },
            SourceConfig::Pool {
                pool,
                user,
                worker,
                global,
                local_host,
                ..
            } => {
                let scope = if *global { "pool" } else { "user" };
                FigureIdentity::of(&[pool, user.expose(), worker, scope, local_host.expose()])
            }
            SourceConfig::Miner { host, .. } | SourceConfig::Explorer { host, .. } => {
                FigureIdentity::of(&[host.expose()])
            }
            SourceConfig::Relay { .. }
            | SourceConfig::Exchange { .. }
            | SourceConfig::Witness { .. }
            | SourceConfig::Nostr { .. }
            | SourceConfig::Zaps { .. }
            | SourceConfig::Node(_)
            | SourceConfig::Peers { .. } => FigureIdentity::default(),
        }
    }

    /// Returns whether it is a feed of blocks.
    pub fn feeds_blocks(&self) -> bool {
        match self {
            SourceConfig::Relay { blocks, .. } => *blocks,
            SourceConfig::Explorer { .. } | SourceConfig::Nostr { .. } | SourceConfig::Node(_) => {
                true
            }
            // Peers and witnesses only confirm the data of other sources.
            SourceConfig::Peers { .. }
            | SourceConfig::Exchange { .. }
            | SourceConfig::Witness { .. }
            | SourceConfig::Zaps { .. }
            | SourceConfig::Wallet { .. }
            | SourceConfig::Pool { .. }
            | SourceConfig::Miner { .. } => false,
        }
    }

    /// Returns whether it proves blocks by headers.
    pub fn proves_blocks(&self) -> bool {
        match self {
            SourceConfig::Explorer { .. } | SourceConfig::Node(_) | SourceConfig::Peers { .. } => {
                true
            }
            SourceConfig::Relay { .. }
            | SourceConfig::Exchange { .. }
            | SourceConfig::Witness { .. }
            | SourceConfig::Nostr { .. }
            | SourceConfig::Zaps { .. }
            | SourceConfig::Wallet { .. }
            | SourceConfig::Pool { .. }
            | SourceConfig::Miner { .. } => false,
        }
    }

    /// Returns whether it is a witness of prices in a currency.
    pub fn is_witness_of(&self, currency: Currency) -> bool {
        match self {
            SourceConfig::Witness { currencies } => currencies.contains(&currency),
            SourceConfig::Relay { .. }
            | SourceConfig::Explorer { .. }
            | SourceConfig::Exchange { .. }
            | SourceConfig::Nostr { .. }
            | SourceConfig::Zaps { .. }
            | SourceConfig::Wallet { .. }
            | SourceConfig::Pool { .. }
            | SourceConfig::Miner { .. }
            | SourceConfig::Node(_)
            | SourceConfig::Peers { .. } => false,
        }
    }

    /// Returns whether it is a feed of prices.
    pub fn feeds_prices(&self) -> bool {
        match self {
            SourceConfig::Relay { .. }
            | SourceConfig::Exchange { .. }
            | SourceConfig::Nostr { .. } => true,
            SourceConfig::Explorer { .. }
            | SourceConfig::Witness { .. }
            | SourceConfig::Zaps { .. }
            | SourceConfig::Wallet { .. }
            | SourceConfig::Pool { .. }
            | SourceConfig::Miner { .. }
            | SourceConfig::Node(_)
            | SourceConfig::Peers { .. } => false,
        }
    }
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
    /// Stopped until they are restarted.
    pub stopped: bool,
    /// Number of restarts of all sources.
    pub restarts: u64,
    /// Number of restarts of each single source, in the order of [`SourceId::ALL`].
    pub restarts_of: [u64; SourceId::ALL.len()],
    /// Number of times that the logo cache was cleared.
    pub logo_fetches: u64,
}

/// The sources that should run.
pub type Plan = BTreeMap<SourceId, SourcePlan>;

/// Returns whether a source that can prove a height is planned.
pub fn has_prover(plan: &Plan) -> bool {
    plan.values().any(|plan| plan.config.proves_blocks())
}

/// The sources that should run, for prices in these currencies and blocks of this network. `None` if the blocks are invented:
/// no source has headers of them.
pub fn plan(
    settings: &Settings,
    currencies: &[Currency],
    by_hand: ByHand,
    network: Option<Network>,
) -> Plan {
    if by_hand.stopped {
        return BTreeMap::new();
    }
    let route = Route::of(settings);
    market_sources(settings, currencies)
        .into_iter()
        .chain(witnesses(settings, currencies))
        .chain(zaps(settings))
        .chain(wallet(settings))
        .chain(pool(settings, by_hand))
        .chain(miner(settings))
        .chain(network.and_then(|network| node(settings, network)))
        .chain(network.and_then(|network| peers(settings, network)))
        .map(|(id, config)| {
            let plan = SourcePlan {
                config,
                route: route.clone(),
                restarts: by_hand.restarts + by_hand.restarts_of[id as usize],
            };
            (id, plan)
        })
        .collect()
}

fn market_sources(settings: &Settings, currencies: &[Currency]) -> Vec<(SourceId, SourceConfig)> {
    let relay = |endpoint, blocks| {
        let config = SourceConfig::Relay {
            endpoint,
            currencies: currencies.to_vec(),
            blocks,
            precise_fee: settings.block_fee_dec,
        };
        (SourceId::Relay, config)
    };
    let custom = || RelayEndpoint::Custom {
        host: settings.ce_endpoint.clone(),
        tls: !settings.ce_disable_ssl,
    };
    match settings.data_source {
        data_source::EXPLORER => {
            let explorer = SourceConfig::Explorer {
                host: settings.explorer_instance.clone(),
                tls: settings.explorer_secure,
                precise_fee: settings.block_fee_dec,
            };
            let is_custom = !settings.ce_endpoint.is_empty()
                && settings.ce_endpoint != Settings::default().ce_endpoint;
            let prices = if is_custom {
                relay(custom(), false)
            } else {
                let currencies = currencies.to_vec();
                (SourceId::Exchange, SourceConfig::Exchange { currencies })
            };
            alloc::vec![(SourceId::Explorer, explorer), prices]
        }
        data_source::NOSTR if settings.relays().is_empty() || settings.nostr_pub_key.is_empty() => {
            Vec::new()
        }
        data_source::NOSTR => {
            let config = SourceConfig::Nostr {
                relays: settings.relays(),
                author: settings.nostr_pub_key.clone(),
            };
            alloc::vec![(SourceId::Nostr, config)]
        }
        data_source::CUSTOM_RELAY if !settings.ce_endpoint.is_empty() => {
            alloc::vec![relay(custom(), true)]
        }
        data_source::PUBLIC_RELAY | data_source::CUSTOM_RELAY | 4.. => {
            alloc::vec![relay(RelayEndpoint::Public, true)]
        }
    }
}

/// The chosen venues with a market in one of the currencies.
fn witnesses(settings: &Settings, currencies: &[Currency]) -> Vec<(SourceId, SourceConfig)> {
    let chosen = settings.price_witnesses.iter();
    let venues = chosen.filter_map(|name| venues::named(name));
    let served = venues.map(|venue| {
        let currencies = venues::served(venue, currencies);
        (venue.source, currencies)
    });
    served
        .filter(|(_, currencies)| !currencies.is_empty())
        .map(|(source, currencies)| (source, SourceConfig::Witness { currencies }))
        .collect()
}

fn zaps(settings: &Settings) -> Option<(SourceId, SourceConfig)> {
    let (relays, recipients) = (settings.relays(), settings.zap_recipients());
    let wanted = settings.nostr_zap_notify && !relays.is_empty() && !recipients.is_empty();
    wanted.then_some((SourceId::Zaps, SourceConfig::Zaps { relays, recipients }))
}

fn wallet(settings: &Settings) -> Option<(SourceId, SourceConfig)> {
    let wanted = settings.nwc_enabled && !settings.nwc_uri.is_empty();
    wanted.then(|| {
        let config = SourceConfig::Wallet {
            uri: settings.nwc_uri.clone(),
            refresh_secs: settings.nwc_refresh_secs,
        };
        (SourceId::Wallet, config)
    })
}

fn pool(settings: &Settings, by_hand: ByHand) -> Option<(SourceId, SourceConfig)> {
    let pool = settings.pool().filter(|_| settings.mining_pool_stats)?;
    let config = SourceConfig::Pool {
        pool: pool.id.into(),
        user: settings.mining_pool_user.clone(),
        worker: settings.pool_worker.clone(),
        global: settings.pool_global_stats,
        local_host: settings.local_pool_host.clone(),
        poll_secs: settings.pool_poll_sec,
        logos_url: settings.pool_logos_url.clone(),
        logo_fetches: by_hand.logo_fetches,
    };
    Some((SourceId::Pool, config))
}

fn miner(settings: &Settings) -> Option<(SourceId, SourceConfig)> {
    let wanted = settings.miner_enabled && !settings.miner_hostname.is_empty();
    wanted.then(|| {
        let config = SourceConfig::Miner {
            host: settings.miner_hostname.clone(),
            poll_secs: settings.miner_poll_sec,
        };
        (SourceId::Miner, config)
    })
}

fn node(settings: &Settings, network: Network) -> Option<(SourceId, SourceConfig)> {
    let kind = NodeKind::of(settings.node_kind).filter(|_| !settings.node_host.is_empty())?;
    let config = SourceConfig::Node(NodeConfig {
        kind,
        network,
        host: settings.node_host.clone(),
        port: u16::try_from(settings.node_port).unwrap_or_default(),
        tls: settings.node_tls && kind == NodeKind::Electrum,
        precise_fee: settings.block_fee_dec,
    });
    Some((SourceId::Node, config))
}

fn peers(settings: &Settings, network: Network) -> Option<(SourceId, SourceConfig)> {
    let most = settings.proof_peer_max.min(PEERS_MAX);
    let config = SourceConfig::Peers {
        network,
        hosts: settings.proof_peers.clone(),
        most,
    };
    (most > 0).then_some((SourceId::Peers, config))
}
