//! The configuration file.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use storage::disk::read_text;

use crate::failure::Failure;

/// Largest configuration file, bytes.
const FILE_MAX: u64 = 64 * 1024;

/// The configuration file. Its keys are the names of the flags.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct ConfigFile {
    pub(super) listen: Option<String>,
    pub(super) data_dir: Option<PathBuf>,
    pub(super) board: Option<String>,
    pub(super) circuit: Option<String>,
    pub(super) wiring: Option<PathBuf>,
    pub(super) allow_origin: Vec<String>,
    pub(super) upstream: BTreeMap<String, String>,
    pub(super) chain: Option<String>,
    pub(super) anchor: Option<String>,
    pub(super) ca_file: Option<PathBuf>,
    pub(super) panel_timing: Option<String>,
    pub(super) wifi: Option<String>,
    pub(super) sim_networks: Option<PathBuf>,
    pub(super) log: Option<String>,
    pub(super) update_key: Vec<PathBuf>,
    pub(super) unsigned_updates: bool,
}

/// Reads the file.
///
/// # Errors
/// It cannot be read, or a line of it cannot be understood.
pub(super) fn read(path: &Path) -> Result<ConfigFile, Failure> {
    let about =
        |what: String| Failure::usage(format!("configuration file {}: {what}", path.display()));
    let text = read_text(path, FILE_MAX).map_err(|error| about(error.to_string()))?;
    toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| {
            text[..span.start.min(text.len())].matches('\n').count() + 1
        });
        about(format!(
            "line {line}: {}",
            error.message().replace('\n', " ")
        ))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use super::*;

    #[test]
    fn what_the_package_brings_says_nothing_and_proposes_what_there_is() {
        const BROUGHT: &str = include_str!("../../../../packaging/papertick.toml");
        let nothing: ConfigFile = toml::from_str(BROUGHT).unwrap();
        assert!(nothing.board.is_none() && nothing.log.is_none());
        let proposed = BROUGHT
            .lines()
            .filter_map(|line| line.strip_prefix("# "))
            .filter(|line| line.split(' ').nth(1) == Some("="))
            .collect::<Vec<_>>();
        let all: ConfigFile = toml::from_str(&proposed.join("\n")).unwrap();
        assert_eq!(proposed.len(), 6);
        assert!(all.wiring.is_some() && !all.update_key.is_empty());
    }
}
