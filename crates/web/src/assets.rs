//! Files that are sent as they are, with what a client needs to keep them.

use std::{collections::HashMap, sync::OnceLock};

use bytes::Bytes;
use feeds::image::page::{MANIFEST, Page};
use flate2::Compression;
use http::{
    HeaderMap, HeaderValue,
    header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, VARY},
};

use super::{
    answer::{self, Response},
    coding, etag,
};

/// The name contains a hash of the content, so the content under this name never changes.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// Clients revalidate it at each use.
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");

/// Folder of the files with a hash in their name.
const HASHED: &str = "assets/";

/// Characters of the hash at the end of the name.
const HASH_SIGNS: usize = 8;

/// The files of a page.
pub struct Assets(HashMap<String, Asset>);

impl Assets {
    /// Those of a page that was installed.
    pub fn of(page: &Page) -> Assets {
        let files = page.files.iter().filter(|(name, _)| *name != MANIFEST);
        Assets::gathered(files.map(|(name, content)| {
            let guessed = mime_guess::from_path(name).first_or_octet_stream();
            let content_type = content_type(name, guessed.essence_str());
            (name.clone(), content_type, content.clone().into())
        }))
    }

    /// Files by name, with the content type of each.
    pub fn gathered(files: impl IntoIterator<Item = (String, HeaderValue, Bytes)>) -> Assets {
        let assets = files.into_iter().map(|(name, content_type, bytes)| {
            let cache = match is_hashed(&name) {
                true => FOR_EVER,
                false => ASK_AGAIN,
            };
            let asset = Asset {
                cache,
                gzip: OnceLock::new(),
                ..Asset::new(bytes, content_type)
            };
            (name, asset)
        });
        Assets(assets.collect())
    }

    /// The file of a name.
    pub fn get(&self, name: &str) -> Option<&Asset> {
        self.0.get(name)
    }
}

/// Returns whether a name contains a hash of the content, such as `assets/index-BfN287rg.js`.
fn is_hashed(name: &str) -> bool {
    let stem = name
        .strip_prefix(HASHED)
        .and_then(|name| name.split('.').next());
    let hash = stem.and_then(|stem| {
        stem.len()
            .checked_sub(HASH_SIGNS + 1)
            .map(|at| stem.split_at(at))
    });
    hash.is_some_and(|(_, hash)| {
        let is_sign = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_');
        hash.strip_prefix('-')
            .is_some_and(|signs| signs.chars().all(is_sign))
    })
}

/// One file, ready to be sent.
pub struct Asset {
    plain: Form,
    /// Compressed at the first request that accepts it. `None` inside if compression saves nothing.
    gzip: OnceLock<Option<Form>>,
    content_type: HeaderValue,
    cache: HeaderValue,
}

/// The bytes of a file as they are sent, and their tag.
struct Form {
    bytes: Bytes,
    tag: HeaderValue,
}

impl Form {
    fn new(bytes: Bytes) -> Form {
        let version = format!("{:08x}-{}", crc32fast::hash(&bytes), bytes.len());
        Form {
            tag: etag::tag(&version),
            bytes,
        }
    }
}

impl Asset {
    /// A file that is made for one response. It is not compressed.
    pub fn new(plain: Bytes, content_type: HeaderValue) -> Asset {
        Asset {
            plain: Form::new(plain),
            gzip: OnceLock::from(None),
            content_type,
            cache: ASK_AGAIN,
        }
    }

    /// The page, with addresses that are relative to another root than its own.
    pub fn with_root(&self, root: &str) -> Asset {
        let page = String::from_utf8_lossy(&self.plain.bytes);
        let page = page.replacen("<base href=\"./\"", &format!("<base href=\"{root}\""), 1);
        Asset::new(page.into(), self.content_type.clone())
    }

    fn gzip(&self) -> Option<&Form> {
        let gzip = || coding::gzip(&self.plain.bytes, Compression::best()).map(Form::new);
        self.gzip.get_or_init(gzip).as_ref()
    }

    /// Answers with it.
    pub fn answer(&self, headers: &HeaderMap, policy: &HeaderValue) -> Response {
        let gzip = coding::is_gzip_accepted(headers)
            .then(|| self.gzip())
            .flatten();
        let form = gzip.unwrap_or(&self.plain);
        let tag = form.tag.clone();
        let mut response = if etag::is_known(headers, &tag) {
            etag::not_modified(tag)
        } else {
            let whole = answer::bytes(self.content_type.clone(), form.bytes.clone());
            let mut response = etag::tagged(whole, tag);
            if gzip.is_some() {
                response
                    .headers_mut()
                    .insert(CONTENT_ENCODING, coding::GZIP);
            }
            response
        };
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, self.cache.clone());
        headers.insert(VARY, coding::VARIES);
        headers.insert(CONTENT_SECURITY_POLICY, policy.clone());
        response
    }
}

/// The content type of a file, by its name and what is guessed of it.
pub fn content_type(path: &str, guessed: &str) -> HeaderValue {
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

#[cfg(test)]
mod tests {
    use feeds::image::page::Manifest;
    use semver::Version;

    use super::*;

    #[test]
    fn the_files_of_a_page_that_was_installed_are_what_their_names_say() {
        let rows = [
            ("index.html", "text/html; charset=utf-8"),
            ("assets/a.js", "text/javascript; charset=utf-8"),
            ("assets/a.css", "text/css; charset=utf-8"),
            ("favicon.svg", "image/svg+xml"),
            ("app.webmanifest", "application/manifest+json"),
            ("a.json", "application/json"),
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
        let assets = Assets::of(&page);
        for (name, content_type) in rows {
            assert_eq!(
                assets.get(name).unwrap().content_type,
                content_type,
                "{name}"
            );
        }
    }
}
