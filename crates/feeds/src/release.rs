//! Release feeds and the checksum files beside the images of a release.

use serde_json::Value;

use crate::{hex, malformed::Malformed};

/// Largest release feed, bytes.
pub const FEED_BODY_MAX: usize = 256 * 1024;

/// Largest checksum file, bytes.
pub const CHECKSUM_BODY_MAX: usize = 1024;

/// Ending of the checksum file's name, after that of the image.
pub const CHECKSUM_SUFFIX: &str = ".sha256";

/// The newest release, as the feed lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Name of the version; empty if the feed has none.
    pub tag: String,
    /// Files of the release.
    pub assets: Vec<Asset>,
}

/// A file of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// Its name.
    pub name: String,
    /// Where it can be fetched.
    pub url: String,
}

impl Release {
    /// URLs of an image and of its checksum file; none unless the release has both.
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

/// Reads a release feed; assets without a name and an HTTP address are left out.
///
/// # Errors
/// The body is too long, no JSON, or lists no assets.
pub fn feed(body: &[u8]) -> Result<Release, Malformed> {
    if body.len() > FEED_BODY_MAX {
        return Err(Malformed("too-long"));
    }
    let feed: Value = serde_json::from_slice(body).map_err(|_| Malformed("json"))?;
    let assets = feed["assets"].as_array().ok_or(Malformed("assets"))?;
    Ok(Release {
        tag: feed["tag_name"].as_str().unwrap_or_default().to_owned(),
        assets: assets.iter().filter_map(asset).collect(),
    })
}

fn asset(entry: &Value) -> Option<Asset> {
    let url = entry["browser_download_url"].as_str()?;
    let is_http = url.starts_with("https://") || url.starts_with("http://");
    is_http.then_some(Asset {
        name: entry["name"].as_str()?.to_owned(),
        url: url.to_owned(),
    })
}

/// Reads a checksum file: the first run of hex digits, which must have 64 of them.
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
    hex::bytes(run).ok_or(Malformed("digest"))
}
