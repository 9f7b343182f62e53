//! Release feeds, and checksum files of the images.
//!
//! A feed is JSON as software forges publish it: one release with a tag and a list of files, or a list of releases.

use std::cmp::Ordering;

use hex::FromHex;
use semver::Version;
use serde_json::{Value, json};

use crate::malformed::Malformed;

/// Largest release feed, bytes.
pub const FEED_BODY_MAX: usize = 1024 * 1024;

/// Largest checksum file, bytes.
pub const CHECKSUM_BODY_MAX: usize = 1024;

/// Releases of a feed that are read.
pub const RELEASES_MAX: usize = 32;

/// Longest tag that is a version, bytes.
pub const TAG_MAX: usize = 64;

/// Longest title of a release that is shown, characters.
pub const TITLE_MAX: usize = 100;

/// Longest URL of a page about a release that is shown, bytes.
pub const PAGE_URL_MAX: usize = 300;

/// Suffix of a checksum file, after the name of the image.
pub const CHECKSUM_SUFFIX: &str = ".sha256";

/// File name of the page in a release.
pub const PAGE_ASSET: &str = "papertick-page.img";

/// File name of the firmware for a kind of clock.
pub fn firmware_asset(board: &str, panel: &str, target: &str) -> String {
    format!("papertick-{board}-{panel}-{target}.img")
}

/// Returns whether a version is newer; build metadata is ignored.
pub fn is_newer(version: &Version, than: &Version) -> bool {
    version.cmp_precedence(than) == Ordering::Greater
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedRelease {
    /// Name of the version; empty if the feed has none.
    pub tag: String,
    /// Its title, without control characters; may be empty.
    pub title: String,
    /// URL of a page about it ([`is_page`]); empty if there is none.
    pub page: String,
    pub is_prerelease: bool,
    pub assets: Vec<ReleaseFile>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseFile {
    pub name: String,
    /// Its URL: HTTP, or a path relative to the feed.
    pub url: String,
}

impl ListedRelease {
    /// The version in the tag, with or without a leading `v`. `None` if there is none.
    pub fn version(&self) -> Option<Version> {
        let text = self.tag.strip_prefix(['v', 'V']).unwrap_or(&self.tag);
        let is_short = self.tag.len() <= TAG_MAX;
        is_short.then(|| Version::parse(text).ok())?
    }

    /// URLs of an image and of its checksum file. `None` unless the release has both.
    pub fn image(&self, name: &str) -> Option<(&str, &str)> {
        let url = |wanted: &str| {
            self.assets
                .iter()
                .find(|asset| asset.name == wanted)
                .map(|asset| asset.url.as_str())
        };
        url(name).zip(url(&format!("{name}{CHECKSUM_SUFFIX}")))
    }
}

/// Parses a release feed: one release, or the first [`RELEASES_MAX`] of a list. Drafts are skipped, and so are files
/// without a name or a usable URL.
///
/// # Errors
/// The body is too long or not JSON, or a release has no list of files.
pub fn feed(body: &[u8]) -> Result<Vec<ListedRelease>, Malformed> {
    if body.len() > FEED_BODY_MAX {
        return Err(Malformed("too-long"));
    }
    let feed: Value = serde_json::from_slice(body).map_err(|_| Malformed("json"))?;
    let listed = feed
        .as_array()
        .map_or(core::slice::from_ref(&feed), Vec::as_slice);
    let listed = listed.iter().take(RELEASES_MAX);
    let is_out = |entry: &&Value| entry["draft"] != true;
    listed.filter(is_out).map(release).collect()
}

fn release(entry: &Value) -> Result<ListedRelease, Malformed> {
    let text = |member: &str| entry[member].as_str().unwrap_or_default();
    let assets = entry["assets"].as_array().ok_or(Malformed("assets"))?;
    let title = text("name").chars().filter(|letter| !letter.is_control());
    let page = text("html_url");
    Ok(ListedRelease {
        tag: text("tag_name").to_owned(),
        title: title.take(TITLE_MAX).collect(),
        page: if is_page(page) { page.to_owned() } else { String::new() },
        is_prerelease: entry["prerelease"] == true,
        assets: assets.iter().filter_map(asset).collect(),
    })
}

/// Returns whether a URL may be shown as a release page: HTTP, with a host name, and not too long. A consumer may
/// reject a whole document because of a bad URL.
pub fn is_page(url: &str) -> bool {
    let path = ["https://", "http://"]
        .into_iter()
        .find_map(|scheme| url.strip_prefix(scheme));
    let host = path.and_then(|path| path.split(['/', '?', '#']).next());
    let is_plain =
        |sign: char| sign.is_ascii_alphanumeric() || ['.', '-', '_', ':'].contains(&sign);
    let has_host =
        host.is_some_and(|host| !host.starts_with([':', '.']) && host.chars().all(is_plain));
    let is_clean = !url.contains(|sign: char| sign.is_control() || sign.is_whitespace());
    has_host && host != Some("") && is_clean && url.len() <= PAGE_URL_MAX
}

fn asset(entry: &Value) -> Option<ReleaseFile> {
    let url = entry["browser_download_url"].as_str()?;
    (is_http(url) || is_relative(url)).then_some(ReleaseFile {
        name: entry["name"].as_str()?.to_owned(),
        url: url.to_owned(),
    })
}

fn is_http(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// Returns whether a URL is relative and stays on the server of the feed.
fn is_relative(url: &str) -> bool {
    let before_path = url.split(['/', '?', '#']).next().unwrap_or_default();
    let is_elsewhere = url.starts_with("//") || url.contains("://") || before_path.contains(':');
    !url.is_empty() && !is_elsewhere
}

/// A file to be listed in a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    pub url: String,
    /// Its length, bytes.
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReleaseNotes {
    /// What is new; may be empty.
    pub text: String,
    /// A page about it ([`is_page`]).
    pub page: Option<String>,
}

/// Encodes a release feed. `published` is a time such as `2026-07-01T10:00:00Z`.
pub fn write(version: &Version, published: &str, notes: &ReleaseNotes, files: &[Listed]) -> String {
    let assets: Vec<Value> = files
        .iter()
        .map(|file| {
            json!({
                "name": file.name,
                "size": file.bytes,
                "browser_download_url": file.url,
            })
        })
        .collect();
    let mut feed = json!({
        "tag_name": version.to_string(),
        "name": format!("papertick {version}"),
        "body": notes.text,
        "draft": false,
        "prerelease": !version.pre.is_empty(),
        "published_at": published,
        "assets": assets,
    });
    if let Some(page) = &notes.page {
        feed["html_url"] = page.as_str().into();
    }
    format!("{feed:#}\n")
}

/// Encodes a checksum file in the format of `sha256sum`.
pub fn checksum_file(digest: &[u8; 32], name: &str) -> String {
    format!("{}  {name}\n", hex::encode(digest))
}

/// Parses a checksum file: its first run of hex digits must have 64 of them.
///
/// # Errors
/// The file is too long or holds no SHA-256 digest.
pub fn checksum(body: &[u8]) -> Result<[u8; 32], Malformed> {
    if body.len() > CHECKSUM_BODY_MAX {
        return Err(Malformed("too-long"));
    }
    let run = body
        .split(|byte| !byte.is_ascii_hexdigit())
        .find(|run| !run.is_empty())
        .ok_or(Malformed("digest"))?;
    <[u8; 32]>::from_hex(run).map_err(|_| Malformed("digest"))
}
