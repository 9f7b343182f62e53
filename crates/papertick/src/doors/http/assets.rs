//! Files that are sent as they are, with what a client needs to keep them.

use std::{collections::HashMap, io::Write, sync::OnceLock};

use bytes::Bytes;
use feeds::image::page::{ENTRY, MANIFEST, Page};
use flate2::{Compression, write::GzEncoder};
use http::{
    HeaderMap, HeaderValue,
    header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, VARY},
};

use super::{
    answer::{self, Response},
    etag,
};

/// The files of a page.
pub(crate) struct Assets(HashMap<String, Asset>);

impl Assets {
    /// Those of a page that was installed.
    pub(crate) fn of(page: &Page) -> Assets {
        let files = page.files.iter().filter(|(name, _)| *name != MANIFEST);
        let assets = files.map(|(name, content)| {
            let content_type = content_type(name, guessed(name));
            let asset = Asset::new(content.clone().into(), content_type, name == ENTRY);
            (name.clone(), asset)
        });
        Assets(assets.collect())
    }

    /// The file of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&Asset> {
        self.0.get(name)
    }
}

/// One file, ready to be sent.
pub(crate) struct Asset {
    plain: Bytes,
    gzip: OnceLock<Option<Bytes>>,
    content_type: HeaderValue,
    tag: HeaderValue,
    gzip_tag: HeaderValue,
    cache: HeaderValue,
}

impl Asset {
    /// A file; the entry of a page is always asked for again.
    pub(crate) fn new(plain: Bytes, content_type: HeaderValue, entry: bool) -> Asset {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&plain);
        let version = format!("{:08x}-{}", hasher.finalize(), plain.len());
        Asset {
            gzip_tag: etag::tag(&format!("{version}-gzip")),
            tag: etag::tag(&version),
            plain,
            gzip: OnceLock::new(),
            content_type,
            // The entry names the other files by their content, so that only it must be asked for again.
            cache: HeaderValue::from_static(if entry {
                "no-cache"
            } else {
                "public, max-age=300"
            }),
        }
    }

    /// The compressed form; none if it is not smaller.
    fn gzip(&self) -> Option<Bytes> {
        let compress = || {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&self.plain).ok()?;
            let packed = encoder.finish().ok()?;
            (packed.len() < self.plain.len()).then(|| packed.into())
        };
        self.gzip.get_or_init(compress).clone()
    }

    /// Answers with it.
    pub(crate) fn answer(&self, headers: &HeaderMap, policy: &HeaderValue) -> Response {
        let gzip = accepts_gzip(headers).then(|| self.gzip()).flatten();
        let tag = match gzip {
            Some(_) => self.gzip_tag.clone(),
            None => self.tag.clone(),
        };
        let mut response = if etag::is_known(headers, &tag) {
            etag::not_modified(tag)
        } else {
            let packed = gzip.is_some();
            let body = gzip.unwrap_or_else(|| self.plain.clone());
            let mut response = etag::tagged(answer::bytes(self.content_type.clone(), body), tag);
            if packed {
                response
                    .headers_mut()
                    .insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            }
            response
        };
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, self.cache.clone());
        headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
        headers.insert(CONTENT_SECURITY_POLICY, policy.clone());
        response
    }
}

/// What the ending of a name says of its content.
fn guessed(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    TYPES
        .iter()
        .find(|(known, _)| *known == ending)
        .map_or("application/octet-stream", |(_, guessed)| guessed)
}

/// Endings of names, and the content that they stand for.
const TYPES: [(&str, &str); 14] = [
    ("css", "text/css"),
    ("gif", "image/gif"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("ico", "image/x-icon"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("mjs", "text/javascript"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain"),
    ("wasm", "application/wasm"),
    ("webp", "image/webp"),
    ("woff2", "font/woff2"),
];

/// The content type of a file, by its name and what is guessed of it.
pub(crate) fn content_type(path: &str, guessed: &str) -> HeaderValue {
    let text = guessed.starts_with("text/") && !guessed.contains("charset");
    match path.rsplit('.').next() {
        Some("json" | "map") => answer::JSON,
        Some("webmanifest") => HeaderValue::from_static("application/manifest+json"),
        _ if text => {
            HeaderValue::from_str(&format!("{guessed}; charset=utf-8")).unwrap_or(answer::JSON)
        }
        _ => HeaderValue::from_str(guessed)
            .unwrap_or(HeaderValue::from_static("application/octet-stream")),
    }
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers
        .get(ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    accepted.split(',').any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let refused = |quality: &str| matches!(quality, "q=0" | "q=0.0" | "q=0.00" | "q=0.000");
        parts.next() == Some("gzip") && !parts.any(refused)
    })
}
