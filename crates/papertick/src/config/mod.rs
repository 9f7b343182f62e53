//! What the clock is run with.
//!
//! `flags` declares the flags and merges the command line, the environment and the configuration file (`file`);
//! `resolve` checks the result and adds the defaults.

mod file;
pub(crate) mod flags;
pub(crate) mod resolve;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use board::{
    assembly::LAST_REFRESH_LIMIT,
    sim::PanelTiming,
    spec,
    wiring::{self, Wiring},
};
use chain::{anchor::Anchor, network::Network as ChainNetwork};
use device::board::BoardSpec;
use market::ChainSpec;
use net::tls::Roots;
use serde::{Deserialize, Serialize};
use storage::disk::open_file;

use crate::failure::Failure;
use updates::policy::Signatures;

/// Words for how much is logged.
pub const LOG_LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// What the clock is run with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunConfig {
    /// Where the page and the control interface are.
    pub listen: SocketAddr,
    /// Folder of settings and memory.
    pub data_dir: PathBuf,
    /// Word for the board.
    pub board: String,
    /// Origins of other sites that may control the clock from their pages.
    pub allow_origins: Vec<String>,
    /// Addresses under which browsers reach the clock.
    #[serde(default)]
    pub public_urls: Vec<String>,
    /// Address ranges of trusted proxies.
    #[serde(default)]
    pub trusted_proxies: Vec<String>,
    /// Addresses used instead of public ones, `NAME=URL`.
    pub upstreams: Vec<String>,
    /// Name of the Bitcoin network. `None` for the main network.
    #[serde(default)]
    pub chain: Option<String>,
    /// Block that is taken for granted, `HEIGHT:HASH:BITS`; none for the one that each release brings.
    #[serde(default)]
    pub anchor: Option<String>,
    /// File of certificates of authorities that are trusted beside the public ones.
    pub ca_file: Option<PathBuf>,
    /// What its parts are.
    pub parts: PartsKind,
    /// The simulated panels paint at once.
    pub instant_panels: bool,
    /// Which network the clock is on.
    pub network: NetworkConfig,
    /// Word for how much is logged; none leaves it to the settings.
    pub log: Option<String>,
    /// Which market the clock shows.
    pub market: MarketSource,
    /// Files of public keys that verify updates, beside the keys in the data folder.
    #[serde(default)]
    pub update_keys: Vec<PathBuf>,
    /// Whether updates must be signed.
    #[serde(default)]
    pub signatures: Signatures,
    /// Settings of a clock that has stored none, as a JSON object.
    #[serde(default)]
    pub defaults: Option<String>,
    /// What updates the clock instead of the clock itself, such as an app store.
    #[serde(default)]
    pub managed_by: Option<String>,
    /// Notes of the host for the owner.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Time for which a new program must answer before it is trusted, s; none for the usual one.
    #[serde(default)]
    pub trial_secs: Option<u64>,
}

/// What the parts of the board are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PartsKind {
    /// Simulated ones.
    Simulated,
    /// Real ones, as this wiring file says, which has no mistakes.
    Wired(String),
}

/// Which network the clock is on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NetworkConfig {
    /// The host's, as it is.
    Host,
    /// That of a radio which the host's NetworkManager drives for the clock.
    NetworkManager,
    /// A simulated radio among the networks of a file.
    Simulated(PathBuf),
}

/// Words for the manager of the network.
pub(crate) const WIFI: [(&str, NetworkConfig); 2] = [
    ("host", NetworkConfig::Host),
    ("network-manager", NetworkConfig::NetworkManager),
];

/// Which market the clock shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MarketSource {
    /// The real one.
    World,
    /// One of its own, in the same process.
    Demo,
}

/// What a device process is started with.
pub type DeviceConfig = supervisor::config::DeviceConfig<RunConfig>;

impl RunConfig {
    /// The chain of the heights. `None` in a demo, which invents them.
    ///
    /// # Errors
    /// There is no such network, or the anchor is none of it; in words for people.
    pub fn chain(&self) -> Result<Option<ChainSpec>, String> {
        if self.market == MarketSource::Demo {
            return Ok(None);
        }
        let network = match &self.chain {
            None => ChainNetwork::default(),
            Some(name) => ChainNetwork::named(name).ok_or_else(|| {
                let known = ChainNetwork::ALL.map(ChainNetwork::name).join(", ");
                format!("--chain: there is no network `{name}`; there are {known}")
            })?,
        };
        let anchor = match &self.anchor {
            None => Anchor::built_in(network),
            Some(text) => {
                Anchor::parse(text, network).map_err(|error| format!("--anchor {text}: {error}"))?
            }
        };
        Ok(Some(ChainSpec { network, anchor }))
    }

    /// The board.
    pub fn board(&self) -> BoardSpec {
        let wired = match &self.parts {
            PartsKind::Wired(_) => self.wiring(),
            PartsKind::Simulated => None,
        };
        match wired.map(|wiring| spec::wired(&wiring)) {
            Some(Ok(board)) => board,
            Some(Err(_)) | None => *spec::find(&self.board).unwrap_or(&spec::BOARDS[0]),
        }
    }

    /// Wiring of its parts; none if they are simulated.
    pub fn wiring(&self) -> Option<Wiring> {
        match &self.parts {
            PartsKind::Wired(text) => wiring::read(text).ok().map(|file| file.wiring),
            PartsKind::Simulated => None,
        }
    }

    /// Time that ink which moves has to come to rest at the end; simulated ink needs none.
    pub fn last_refresh(&self) -> Duration {
        match &self.parts {
            PartsKind::Simulated => Duration::ZERO,
            PartsKind::Wired(_) => LAST_REFRESH_LIMIT,
        }
    }

    /// Speed of the simulated panels.
    pub fn panel_timing(&self) -> PanelTiming {
        if self.instant_panels {
            PanelTiming::Instant
        } else {
            PanelTiming::Real
        }
    }
}

/// The authorities that are trusted.
///
/// # Errors
/// The file cannot be read or holds no usable certificate.
pub(crate) fn roots(ca_file: Option<&Path>) -> Result<Roots, Failure> {
    let Some(path) = ca_file else {
        return Ok(Roots::public());
    };
    let about = |what: String| Failure::usage(format!("--ca-file {}: {what}", path.display()));
    // Who reads the certificates would wait at a pipe for ever.
    open_file(path).map_err(|error| about(error.to_string()))?;
    Roots::public()
        .and_file(path)
        .map_err(|error| about(error.to_string()))
}
