//! Static files with their cache headers, entity tags and compressed forms.

use std::{collections::HashMap, sync::OnceLock};

use bytes::Bytes;
use feeds::image::page::{MANIFEST, Page};
use flate2::Compression;
use http::{
    HeaderMap, HeaderValue,
    header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, VARY},
};

use super::{
    coding,
    embedded::EmbeddedFile,
    etag,
    response::{self, Response},
    unsent::Uncounted,
};

/// For files with a hash of the content in their name: the content under this name never changes.
const CACHE_FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// For all other files: clients revalidate them at each use.
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");

/// Folder of the files with a hash in their name.
const HASHED_FOLDER: &str = "assets/";

/// Characters of the hash at the end of the name.
const HASH_LEN: usize = 8;

/// The files of a page.
pub struct Assets(HashMap<String, Asset>);

impl Assets {
    /// The files of an installed page.
    pub fn of_page(page: &Page) -> Assets {
        let files = page.files.iter().filter(|(name, _)| *name != MANIFEST);
        let files = files
            .map(|(name, content)| (name.clone(), Asset::of_file(name, content.clone().into())));
        Assets(files.collect())
    }

    /// The files of the page that is built into the program, and more files of the program.
    pub fn of_program(page: &'static [EmbeddedFile], more: &[(&str, &'static str)]) -> Assets {
        let page = page.iter().filter(|file| file.name != MANIFEST);
        let page = page.map(|file| (file.name.to_string(), Asset::embedded(file)));
        let more = more
            .iter()
            .map(|(name, text)| (name.to_string(), Asset::of_file(name, (*text).into())));
        Assets(page.chain(more).collect())
    }

    /// The file of a name.
    pub fn get(&self, name: &str) -> Option<&Asset> {
        self.0.get(name)
    }
}

/// Returns whether a name contains a hash of the content, such as `assets/index-BfN287rg.js`.
fn is_hashed(name: &str) -> bool {
    let stem = name
        .strip_prefix(HASHED_FOLDER)
        .and_then(|name| name.split('.').next());
    let hash = stem.and_then(|stem| {
        stem.len()
            .checked_sub(HASH_LEN + 1)
            .map(|at| stem.split_at(at))
    });
    hash.is_some_and(|(_, hash)| {
        let is_base64 =
            |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        hash.strip_prefix('-')
            .is_some_and(|hash| hash.chars().all(is_base64))
    })
}

/// One file, ready to be sent.
pub struct Asset {
    /// Decompressed at the first request that needs it, if the program holds the file compressed.
    plain: OnceLock<Representation>,
    /// Compressed at the first request that accepts gzip. The inner value is `None` if compression saves nothing.
    gzip: OnceLock<Option<Representation>>,
    content_type: HeaderValue,
    cache: HeaderValue,
}

/// The bytes of a response and their entity tag.
struct Representation {
    bytes: Bytes,
    tag: HeaderValue,
}

impl Representation {
    fn new(bytes: Bytes) -> Representation {
        let version = format!("{:08x}-{}", crc32fast::hash(&bytes), bytes.len());
        Representation {
            tag: etag::tag(&version),
            bytes,
        }
    }
}

impl Asset {
    /// A file that is generated for one response. It is not compressed.
    pub fn new(plain: Bytes, content_type: HeaderValue) -> Asset {
        Asset {
            plain: OnceLock::from(Representation::new(plain)),
            gzip: OnceLock::from(None),
            content_type,
            cache: REVALIDATE,
        }
    }

    fn of_file(name: &str, plain: Bytes) -> Asset {
        let cache = if is_hashed(name) { CACHE_FOREVER } else { REVALIDATE };
        Asset {
            cache,
            gzip: OnceLock::new(),
            ..Asset::new(plain, content_type(name))
        }
    }

    /// A file that is built into the program.
    pub fn embedded(file: &'static EmbeddedFile) -> Asset {
        let bytes = Bytes::from_static(file.bytes);
        if !file.is_gzip {
            return Asset {
                gzip: OnceLock::from(None),
                ..Asset::of_file(file.name, bytes)
            };
        }
        Asset {
            plain: OnceLock::new(),
            gzip: OnceLock::from(Some(Representation::new(bytes))),
            ..Asset::of_file(file.name, Bytes::new())
        }
    }

    /// The page with another base address for relative links.
    pub fn with_root(&self, root: &str) -> Asset {
        let page = self.replaced("<base href=\"./\"", &format!("<base href=\"{root}\""));
        Asset::new(page, self.content_type.clone())
    }

    /// The text of the file with its first `from` replaced.
    pub fn replaced(&self, from: &str, to: &str) -> Bytes {
        let text = String::from_utf8_lossy(&self.plain().bytes);
        text.replacen(from, to, 1).into()
    }

    fn plain(&self) -> &Representation {
        let gunzip = || {
            let gzip = self.gzip.get().and_then(Option::as_ref);
            let plain = gzip.map(|gzip| coding::gunzip(&gzip.bytes));
            Representation::new(plain.unwrap_or_default())
        };
        self.plain.get_or_init(gunzip)
    }

    fn gzip(&self) -> Option<&Representation> {
        let gzip =
            || coding::gzip(&self.plain().bytes, Compression::best()).map(Representation::new);
        self.gzip.get_or_init(gzip).as_ref()
    }

    /// The response with this file, or 304 if the client has it.
    pub fn response(&self, headers: &HeaderMap, policy: &HeaderValue) -> Response {
        let gzip = coding::is_gzip_accepted(headers)
            .then(|| self.gzip())
            .flatten();
        let sent = gzip.unwrap_or_else(|| self.plain());
        let mut response = etag::versioned(headers, sent.tag.clone(), || {
            let mut response = response::bytes(self.content_type.clone(), sent.bytes.clone());
            if gzip.is_some() {
                response
                    .headers_mut()
                    .insert(CONTENT_ENCODING, coding::GZIP);
            }
            response
        });
        response.extensions_mut().insert(Uncounted);
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, self.cache.clone());
        headers.insert(VARY, coding::VARY_ENCODING);
        headers.insert(CONTENT_SECURITY_POLICY, policy.clone());
        response
    }
}

/// The content type of a file, by its name.
fn content_type(name: &str) -> HeaderValue {
    let guessed = mime_guess::from_path(name).first_or_octet_stream();
    let guessed = guessed.essence_str();
    let text = guessed.starts_with("text/");
    match name.rsplit('.').next() {
        Some("json" | "map") => response::JSON,
        // Browsers download text of types that they do not know.
        Some("toml") => HeaderValue::from_static("text/plain; charset=utf-8"),
        Some("webmanifest") => HeaderValue::from_static("application/manifest+json"),
        _ if text => {
            HeaderValue::from_str(&format!("{guessed}; charset=utf-8")).unwrap_or(response::JSON)
        }
        _ => HeaderValue::from_str(guessed)
            .unwrap_or(HeaderValue::from_static("application/octet-stream")),
    }
}

#[cfg(test)]
mod tests {
    use feeds::image::page::Manifest;
    use semver::Version;

    use super::*;

    #[test]
    fn content_types_follow_the_names_of_files() {
        let rows = [
            ("index.html", "text/html; charset=utf-8"),
            ("assets/a.js", "text/javascript; charset=utf-8"),
            ("assets/a.css", "text/css; charset=utf-8"),
            ("favicon.svg", "image/svg+xml"),
            ("app.webmanifest", "application/manifest+json"),
            ("a.json", "application/json"),
            ("v8.toml", "text/plain; charset=utf-8"),
            ("a.unheard-of", "application/octet-stream"),
        ];
        let page = Page {
            manifest: Manifest {
                commit: "abc1234".into(),
                build_time: 0,
                min_firmware: Version::new(4, 0, 0),
            },
            files: rows.map(|(name, _)| (name.to_string(), Vec::new())).into(),
        };
        let assets = Assets::of_page(&page);
        for (name, content_type) in rows {
            assert_eq!(
                assets.get(name).unwrap().content_type,
                content_type,
                "{name}"
            );
        }
    }
}
