//! The page and its parts, as built into the program.

use std::{
    collections::HashMap,
    io::Write,
    sync::{LazyLock, OnceLock},
};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::{
    HeaderMap, HeaderValue,
    header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, VARY},
};
use rust_embed::RustEmbed;
use serde_json::{Map, Value};

use super::{
    answer::{self, Response},
    call::Call,
    etag,
    parse::percent_decode,
};

#[derive(RustEmbed)]
#[folder = "../../webui/dist"]
struct Bundle;

/// Views of the page that have an address of their own; what follows is for the page to read.
const VIEWS: [&str; 1] = ["settings"];

/// The document of the page.
const ENTRY: &str = "index.html";

/// The page that describes the interface.
const DOCS: &str = include_str!("docs.html");

/// What that page looks like.
const DOCS_STYLE: &str = include_str!("docs.css");

/// What fills that page.
const DOCS_SCRIPT: &str = include_str!("docs.js");

/// One file, ready to be sent.
struct Asset {
    plain: Bytes,
    gzip: OnceLock<Option<Bytes>>,
    content_type: HeaderValue,
    tag: HeaderValue,
    gzip_tag: HeaderValue,
    cache: HeaderValue,
}

/// File of the page that says which firmware the page works with.
const MANIFEST: &str = "manifest.json";

static ASSETS: LazyLock<HashMap<String, Asset>> = LazyLock::new(|| {
    let files = Bundle::iter().filter(|path| path != MANIFEST);
    let bundled = files.filter_map(|path| {
        let file = Bundle::get(&path)?;
        let content_type = content_type(&path, file.metadata.mimetype());
        let asset = Asset::new(file.data.into_owned().into(), content_type, path == ENTRY);
        Some((path.into_owned(), asset))
    });
    let docs = Asset::new(
        DOCS.into(),
        HeaderValue::from_static("text/html; charset=utf-8"),
        true,
    );
    let script = Asset::new(
        DOCS_SCRIPT.into(),
        HeaderValue::from_static("text/javascript; charset=utf-8"),
        true,
    );
    let style = Asset::new(
        DOCS_STYLE.into(),
        HeaderValue::from_static("text/css; charset=utf-8"),
        true,
    );
    let described = [("docs", docs), ("docs.js", script), ("docs.css", style)];
    let described = described.map(|(name, asset)| (name.to_string(), asset));
    bundled.chain(described).collect()
});

fn content_type(path: &str, guessed: &str) -> HeaderValue {
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

impl Asset {
    fn new(plain: Bytes, content_type: HeaderValue, entry: bool) -> Asset {
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

    fn answer(&self, headers: &HeaderMap, policy: &HeaderValue) -> Response {
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

/// Answers with a file of the page; none if there is no such file.
pub(crate) fn file(path: &str, headers: &HeaderMap, policy: &HeaderValue) -> Option<Response> {
    let decoded = percent_decode(path, false).unwrap_or_else(|| path.to_string());
    if decoded.contains('\0') || decoded.split('/').any(|segment| segment == "..") {
        return Some(answer::bad_request("bad path"));
    }
    let segments: Vec<&str> = decoded
        .split('/')
        .filter(|segment| !matches!(*segment, "" | "."))
        .collect();
    let mut name = segments.join("/");
    if decoded.ends_with('/') {
        name = format!("{name}/{ENTRY}")
            .trim_start_matches('/')
            .to_string();
    }
    if segments.first().is_some_and(|view| VIEWS.contains(view)) {
        name = ENTRY.to_string();
    }
    ASSETS.get(&name).map(|asset| asset.answer(headers, policy))
}

/// Answers with the versions of the page; it is part of the program, so that its version and time are the program's.
pub(crate) fn manifest(call: &Call) -> Response {
    let identity = &call.state.services.identity;
    let bundled = Bundle::get(MANIFEST);
    let mut manifest: Map<String, Value> = bundled
        .and_then(|file| serde_json::from_slice(&file.data).ok())
        .unwrap_or_default();
    manifest.insert("commit".into(), identity.fs_rev.as_str().into());
    if let Some(built) = identity.last_build_time {
        manifest.insert("buildTime".into(), built.into());
    }
    let text = Value::Object(manifest).to_string();
    Asset::new(text.into(), answer::JSON, true).answer(call.headers(), &call.state.policy)
}

/// Answers with the file a route is named after.
pub(crate) fn named(call: &Call) -> Response {
    file(call.parts.uri.path(), call.headers(), &call.state.policy)
        .unwrap_or_else(answer::not_found)
}
