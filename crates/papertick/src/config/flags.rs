//! The flags of `run` and `demo`. Each is declared once for the command line, the environment and the configuration
//! file.

use std::{collections::BTreeMap, path::PathBuf};

use board::{sim::PanelTiming, spec::BOARDS, wiring};
use chain::network::Network;
use clap::{
    ArgAction, ArgMatches, Args, FromArgMatches,
    builder::{FalseyValueParser, PossibleValuesParser},
};
use serde::{Deserialize, Deserializer};

use super::{LOG_LEVELS, WIFI, file};
use crate::failure::Failure;

/// The flags of `run` and `demo`, which are also the keys of the configuration file.
#[derive(Debug, Default, Args, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Flags {
    /// Address and port of the page and the control interface [default: 127.0.0.1:8080]
    #[arg(long, env = "PAPERTICK_LISTEN", value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<String>,

    /// Folder of settings and memory [default: $XDG_STATE_HOME/papertick, for a demo papertick-demo]
    #[arg(long, env = "PAPERTICK_DATA_DIR", value_name = "FOLDER")]
    pub(crate) data_dir: Option<PathBuf>,

    /// The board [default: rev-b]
    #[arg(long, env = "PAPERTICK_BOARD", value_parser = boards(), ignore_case = true)]
    pub(crate) board: Option<String>,

    /// The one panel of the clock: a real one, wired as its maker says; for a demo simulated, as slow as the real one
    #[arg(long, env = "PAPERTICK_DISPLAY", value_parser = displays(), ignore_case = true)]
    pub(crate) display: Option<String>,

    /// Wiring file of real parts, instead of a simulated board
    #[arg(long, env = "PAPERTICK_WIRING", value_name = "FILE.toml")]
    pub(crate) wiring: Option<PathBuf>,

    /// Origin of another site that may control the clock from its pages; may be repeated, or separated by commas
    #[arg(
        long,
        env = "PAPERTICK_ALLOW_ORIGIN",
        value_name = "URL",
        value_delimiter = ','
    )]
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) allow_origin: Vec<String>,

    /// Address under which browsers reach the clock, such as https://home.example/clock; may be repeated, or separated by commas
    #[arg(
        long,
        env = "PAPERTICK_PUBLIC_URL",
        value_name = "URL",
        value_delimiter = ','
    )]
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) public_url: Vec<String>,

    /// Reverse proxy with trusted X-Forwarded headers: an address or a range such as 172.16.0.0/12; may be repeated, or separated by commas
    #[arg(
        long,
        env = "PAPERTICK_TRUSTED_PROXY",
        value_name = "CIDR",
        value_delimiter = ','
    )]
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) trusted_proxy: Vec<String>,

    /// Address used instead of a public one: relay, exchange, sntp, seeds, the name of a venue or the id of a pool; may be repeated, or separated by commas
    #[arg(
        long,
        env = "PAPERTICK_UPSTREAM",
        value_name = "NAME=URL",
        value_delimiter = ','
    )]
    #[serde(deserialize_with = "upstream_table")]
    pub(crate) upstream: Vec<String>,

    /// Bitcoin network of the blocks [default: main]
    #[arg(long, env = "PAPERTICK_CHAIN", value_parser = chains())]
    pub(crate) chain: Option<String>,

    /// Trusted block instead of the built-in one: the last block of a difficulty period, and the bits of the next period
    #[arg(long, env = "PAPERTICK_ANCHOR", value_name = "HEIGHT:HASH:BITS")]
    pub(crate) anchor: Option<String>,

    /// CA certificates to trust in addition to the public ones
    #[arg(long, env = "PAPERTICK_CA_FILE", value_name = "FILE.pem")]
    pub(crate) ca_file: Option<PathBuf>,

    /// Speed of the simulated panels [default: real]
    #[arg(long, env = "PAPERTICK_PANEL_TIMING", value_parser = timings())]
    pub(crate) panel_timing: Option<String>,

    /// What manages the network: the host alone, or the clock through NetworkManager of the host [default: host]
    #[arg(long, env = "PAPERTICK_WIFI", value_parser = network_managers())]
    pub(crate) wifi: Option<String>,

    /// Simulate a radio, with the networks of this file in range (JSON)
    #[arg(long, env = "PAPERTICK_SIM_NETWORKS", value_name = "FILE")]
    pub(crate) sim_networks: Option<PathBuf>,

    /// Public key that verifies updates, in addition to the keys in update-keys/ of the data folder; may be repeated, or separated by commas
    #[arg(
        long,
        env = "PAPERTICK_UPDATE_KEY",
        value_name = "FILE.pub",
        value_delimiter = ','
    )]
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) update_key: Vec<PathBuf>,

    /// Accept unsigned updates; everyone who can reach the clock can then replace its program
    #[arg(long, env = "PAPERTICK_UNSIGNED_UPDATES", value_parser = FalseyValueParser::new(), action = ArgAction::SetTrue)]
    pub(crate) unsigned_updates: bool,

    /// Settings for an empty data folder, as JSON: {"nodeKind":1,"nodeHost":"10.0.0.2"}
    #[arg(long, env = "PAPERTICK_DEFAULTS", value_name = "JSON")]
    pub(crate) defaults: Option<String>,

    /// Name of the system that updates the program, such as an app store: the clock then installs no updates
    #[arg(long, env = "PAPERTICK_MANAGED_BY", value_name = "NAME")]
    pub(crate) managed_by: Option<String>,

    /// Messages for the owner, one per line, shown in the status: mistakes that the host found in its configuration
    #[arg(long, env = "PAPERTICK_NOTE", value_delimiter = '\n', hide = true)]
    #[serde(skip)]
    pub(crate) note: Vec<String>,

    /// Trial time of a new program, s; for tests
    #[arg(long, env = "PAPERTICK_TRIAL_SECONDS", hide = true)]
    #[serde(skip)]
    pub(crate) trial_seconds: Option<u64>,

    /// Log level [default: info]
    #[arg(long, env = "PAPERTICK_LOG", value_parser = PossibleValuesParser::new(LOG_LEVELS))]
    pub(crate) log: Option<String>,

    /// Configuration file with the same names: `listen = "0.0.0.0:80"`
    #[arg(long, env = "PAPERTICK_CONFIG", value_name = "FILE.toml")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,
}

pub(crate) fn boards() -> PossibleValuesParser {
    PossibleValuesParser::new(BOARDS.iter().map(|board| board.id))
}

fn displays() -> PossibleValuesParser {
    PossibleValuesParser::new(wiring::displays())
}

fn chains() -> PossibleValuesParser {
    PossibleValuesParser::new(Network::ALL.map(Network::name))
}

fn network_managers() -> PossibleValuesParser {
    PossibleValuesParser::new(WIFI.iter().map(|(name, _)| *name))
}

fn timings() -> PossibleValuesParser {
    PossibleValuesParser::new(PanelTiming::NAMED.iter().map(|(name, _)| *name))
}

/// A value of the configuration file that may be repeated.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a text or a list of texts")]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

/// Parses a text or a list of texts of the configuration file.
fn one_or_many<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    values: D,
) -> Result<Vec<T>, D::Error> {
    Ok(match OneOrMany::deserialize(values)? {
        OneOrMany::One(value) => vec![value],
        OneOrMany::Many(values) => values,
    })
}

/// Parses the table `upstream` of the configuration file.
fn upstream_table<'de, D: Deserializer<'de>>(table: D) -> Result<Vec<String>, D::Error> {
    let table = BTreeMap::<String, String>::deserialize(table)?;
    let assignments = table.iter().map(|(name, url)| format!("{name}={url}"));
    Ok(assignments.collect())
}

impl Flags {
    /// Merges these flags, which are from the command line and the environment, with the configuration file. The command
    /// line overrides the environment, and this overrides the file.
    ///
    /// # Errors
    /// The configuration file cannot be read.
    pub(crate) fn merge_file(self, mut matches: ArgMatches) -> Result<Flags, Failure> {
        let mut flags = match &self.config {
            Some(path) => file::read(path)?,
            None => Flags::default(),
        };
        if keep_highest_source(&mut matches, &["board", "display", "wiring"]) {
            (flags.board, flags.display, flags.wiring) = (None, None, None);
            // The panel timing of the file is for simulated panels, which real ones replace.
            if ["display", "wiring"]
                .iter()
                .any(|flag| matches.contains_id(flag))
            {
                flags.panel_timing = None;
            }
        }
        if keep_highest_source(&mut matches, &["wifi", "sim_networks"]) {
            (flags.wifi, flags.sim_networks) = (None, None);
        }
        // `matches` has a value for this flag even if it is missing.
        let unsigned_updates = flags.unsigned_updates;
        let update = flags.update_from_arg_matches(&matches);
        update.map_err(|error| Failure::usage(error.to_string()))?;
        flags.unsigned_updates |= unsigned_updates;
        Ok(flags)
    }
}

/// Among flags that exclude each other, clears those of the environment if the command line has another one. Returns
/// false if there is none.
fn keep_highest_source(matches: &mut ArgMatches, flags: &[&str]) -> bool {
    let sources = flags.iter().filter_map(|flag| matches.value_source(flag));
    let Some(highest) = sources.max() else {
        return false;
    };
    for flag in flags {
        if matches.value_source(flag) != Some(highest) {
            let _ = matches.try_clear_id(flag);
        }
    }
    true
}
