//! The content of a page's image: its files, and the manifest that says what they are.

use std::collections::BTreeMap;

use semver::Version;
use serde_json::Value;

use super::{ImageFault, tar};

/// Name of the manifest.
pub const MANIFEST: &str = "manifest.json";

/// Name of the file that a browser asks for first.
pub const ENTRY: &str = "index.html";

/// Longest commit in a manifest, bytes.
const COMMIT_MAX: usize = 64;

/// What a page says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// What it was built from; `fsRev` of the settings.
    pub commit: String,
    /// When it was built, s since 1970-01-01 UTC.
    pub build_time: u64,
    /// The oldest firmware it works with.
    pub min_firmware: Version,
}

impl Manifest {
    /// Reads a manifest; none if a member is missing or wrong.
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

/// A page: its files by their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// What it says of itself.
    pub manifest: Manifest,
    /// Its files, the manifest among them.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Page {
    /// Reads the content of an image.
    ///
    /// # Errors
    /// It is no archive of plain files, or lacks its manifest or the file that a browser asks for first.
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

    /// Writes the content of an image.
    ///
    /// # Errors
    /// There are too many files, or one has a name that cannot be.
    pub fn write(&self) -> Result<Vec<u8>, ImageFault> {
        let files: Vec<_> = self.files.clone().into_iter().collect();
        tar::write(&files, self.manifest.build_time)
    }
}
