//! Configuration of the clock.
//!
//! `flags` declares the flags and merges the command line, the environment and the configuration file (`file`);
//! `resolve` checks the result and adds the defaults.

mod file;
pub(crate) mod flags;
pub(crate) mod resolve;

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use board::{
    assembly::last_refresh_limit,
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

use crate::{failure::Failure, wiring_file};
use updates::policy::Signatures;
use wifi::chosen_panel;

/// What the page says about a panel that changes slowly.
const SLOW_PANEL: &str = "this panel changes its colours slowly and must rest between two pictures: it shows a new one with each block, at least three minutes apart, in black and white, and no prices or times";

/// Looks for the bus of a chosen panel after the first one.
const BUS_LOOKS: u32 = 10;

/// Time between two of these looks.
const BUS_INTERVAL: Duration = Duration::from_secs(1);

pub const LOG_LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Configuration of `run` and `demo`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunConfig {
    /// Address and port of the page and the control interface.
    pub listen: SocketAddr,
    /// Data folder.
    pub data_dir: PathBuf,
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
    /// Trusted block, `HEIGHT:HASH:BITS`. `None` for the built-in one.
    #[serde(default)]
    pub anchor: Option<String>,
    /// File of CA certificates that are trusted in addition to the public ones.
    pub ca_file: Option<PathBuf>,
    /// Simulated or real parts.
    pub parts: PartsKind,
    /// The start named no panels: the portal offers a list, and the choice in the data folder counts.
    #[serde(default)]
    pub offers_panels: bool,
    /// Simulated panels refresh without delay.
    pub instant_panels: bool,
    /// What manages the network.
    pub network: NetworkConfig,
    /// Log level. `None` for the one in the settings.
    pub log: Option<String>,
    /// Real or simulated market data.
    pub market: MarketSource,
    /// Files of public keys that verify updates, in addition to the keys in the data folder.
    #[serde(default)]
    pub update_keys: Vec<PathBuf>,
    /// Whether updates must be signed.
    #[serde(default)]
    pub signatures: Signatures,
    /// Settings for an empty data folder, as a JSON object.
    #[serde(default)]
    pub defaults: Option<String>,
    /// Name of the system that updates the program, such as an app store. `None` if the clock updates itself.
    #[serde(default)]
    pub managed_by: Option<String>,
    /// Messages from the host for the owner.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Trial time of a new program, s. `None` for the default.
    #[serde(default)]
    pub trial_secs: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PartsKind {
    Simulated,
    /// Real parts; has the text of the wiring file, which was checked.
    Wired(String),
}

/// What manages the network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NetworkConfig {
    Host,
    /// The clock, through NetworkManager of the host.
    NetworkManager,
    /// A simulated radio; has the file of networks in range.
    Simulated(PathBuf),
}

/// Values of `--wifi`.
pub(crate) const WIFI: [(&str, NetworkConfig); 2] = [
    ("host", NetworkConfig::Host),
    ("network-manager", NetworkConfig::NetworkManager),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MarketSource {
    World,
    /// A simulated market in this process.
    Demo,
}

/// Configuration of the device process.
pub type DeviceConfig = supervisor::config::DeviceConfig<RunConfig>;

impl RunConfig {
    /// The chain of the heights. `None` in a demo, which invents them.
    ///
    /// # Errors
    /// The network does not exist, or the anchor does not fit it. Returns a text for people.
    pub fn chain(&self) -> Result<Option<ChainSpec>, String> {
        if self.market == MarketSource::Demo {
            return Ok(None);
        }
        let network = match &self.chain {
            None => ChainNetwork::default(),
            Some(name) => ChainNetwork::named(name).ok_or_else(|| {
                let known = ChainNetwork::ALL.map(ChainNetwork::name).join(", ");
                format!("--chain: unknown network `{name}`; possible values are {known}")
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

    /// The wiring of real parts. `None` for simulated ones.
    pub fn wiring(&self) -> Option<Wiring> {
        match &self.parts {
            PartsKind::Wired(text) => wiring::read(text).ok().map(|file| file.wiring),
            PartsKind::Simulated => None,
        }
    }

    /// Uses the panel that was chosen in the portal. Waits a little for its bus, which may appear after the start of the host.
    pub fn with_chosen_panel(mut self) -> RunConfig {
        let name = match self.chosen_panel() {
            Ok(None) => return self,
            Ok(Some(name)) => name,
            Err(error) => {
                self.note_unused_panel(&error.to_string());
                return self;
            }
        };
        // With a simulated radio the panel is simulated, too.
        if !matches!(self.network, NetworkConfig::Simulated(_)) {
            let load = || wiring_file::load_for_host(Path::new(name));
            let mut loaded = load();
            for _ in 0..BUS_LOOKS {
                if loaded.is_ok() {
                    break;
                }
                thread::sleep(BUS_INTERVAL);
                loaded = load();
            }
            match loaded {
                Ok((text, _)) => self.parts = PartsKind::Wired(text),
                Err(failure) => {
                    self.note_unused_panel(&failure.message);
                    return self;
                }
            }
        }
        self.board = name.into();
        self.note_slow_panel();
        self
    }

    fn chosen_panel(&self) -> io::Result<Option<&'static str>> {
        match self.offers_panels {
            true => chosen_panel::read(&self.data_dir),
            false => Ok(None),
        }
    }

    /// Simulates the panels in place of the one that was chosen.
    pub fn simulate_panels(&mut self, why: &str) {
        self.parts = PartsKind::Simulated;
        self.board = spec::BOARDS[0].id.into();
        self.note_unused_panel(why);
    }

    fn note_unused_panel(&mut self, why: &str) {
        self.notes.push(format!(
            "the panels are simulated, because the one that was chosen in the portal cannot be used: {why}"
        ));
    }

    /// Adds a note if the panel changes slowly.
    fn note_slow_panel(&mut self) {
        if self.board().is_slow {
            self.notes.push(SLOW_PANEL.into());
        }
    }

    /// Longest time to wait for a refresh in progress when the device stops. Simulated panels need no wait.
    pub fn last_refresh(&self) -> Duration {
        let chosen = || wiring::base(self.chosen_panel().ok()??);
        let wiring = self.wiring().or_else(chosen);
        wiring.map_or(Duration::ZERO, |wiring| last_refresh_limit(&wiring))
    }

    /// Returns whether no panel can show the password of a real access point.
    pub fn hides_password(&self) -> bool {
        self.network == NetworkConfig::NetworkManager && self.parts == PartsKind::Simulated
    }

    /// Speed of the simulated panels.
    pub fn panel_timing(&self) -> PanelTiming {
        if self.instant_panels { PanelTiming::Instant } else { PanelTiming::Real }
    }
}

/// The trusted CA certificates.
///
/// # Errors
/// The file cannot be read or holds no usable certificate.
pub(crate) fn roots(ca_file: Option<&Path>) -> Result<Roots, Failure> {
    let Some(path) = ca_file else {
        return Ok(Roots::public());
    };
    let about = |what: String| Failure::usage(format!("--ca-file {}: {what}", path.display()));
    // Rejects a pipe, which would block the reader of the certificates.
    open_file(path).map_err(|error| about(error.to_string()))?;
    Roots::public()
        .and_file(path)
        .map_err(|error| about(error.to_string()))
}
