//! The content of a page image: its files and the manifest.

use std::collections::BTreeMap;

use semver::Version;
use serde_json::Value;

use super::{ImageFault, tar};

pub const MANIFEST: &str = "manifest.json";

/// Name of the start page.
pub const ENTRY: &str = "index.html";

/// Longest commit in a manifest, bytes.
const COMMIT_MAX: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// Commit; `fsRev` of the settings.
    pub commit: String,
    /// Build time, s since 1970-01-01 UTC.
    pub build_time: u64,
    /// The oldest compatible firmware.
    pub min_firmware: Version,
}

impl Manifest {
    /// Parses a manifest. `None` if a field is missing or invalid.
    pub fn parse(bytes: &[u8]) -> Option<Manifest> {
        let manifest: Value = serde_json::from_slice(bytes).ok()?;
        let commit = manifest["commit"].as_str()?;
        let is_word = commit.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_word || !(1..=COMMIT_MAX).contains(&commit.len()) {
            return None;
        }
        Some(Manifest {
            commit: commit.to_owned(),
            build_time: manifest["buildTime"].as_u64()?,
            min_firmware: Version::parse(manifest["minFirmware"].as_str()?).ok()?,
        })
    }
}

/// A page: its files by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub manifest: Manifest,
    /// Its files, including the manifest.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Page {
    /// Parses the content of an image.
    ///
    /// # Errors
    /// It is not an archive of plain files, or lacks the manifest or the start page.
    pub fn parse(content: &[u8]) -> Result<Page, ImageFault> {
        let files: BTreeMap<String, Vec<u8>> = tar::read(content)?
            .into_iter()
            .map(|(name, content)| (name.to_owned(), content.to_owned()))
            .collect();
        if !files.contains_key(ENTRY) {
            return Err(ImageFault::Page("it has no index.html"));
        }
        let manifest = files
            .get(MANIFEST)
            .ok_or(ImageFault::Page("it has no manifest.json"))?;
        let manifest = Manifest::parse(manifest).ok_or(ImageFault::Page(
            "its manifest.json does not say commit, buildTime and minFirmware",
        ))?;
        Ok(Page { manifest, files })
    }

    /// Encodes the content of an image.
    ///
    /// # Errors
    /// There are too many files, or a name is invalid.
    pub fn write(&self) -> Result<Vec<u8>, ImageFault> {
        let files: Vec<_> = self.files.clone().into_iter().collect();
        tar::write(&files, self.manifest.build_time)
    }
}
