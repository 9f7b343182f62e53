//! The page and its parts: those that were installed, or else those built into the program.

use std::{borrow::Cow, sync::LazyLock};

use bytes::Bytes;
use feeds::image::page::{ENTRY, MANIFEST};
use http::HeaderMap;
use rust_embed::RustEmbed;
use serde_json::{Map, Value};

use super::{
    answer::{self, Response},
    assets::{Asset, Assets, content_type},
    call::Call,
    handbook, html,
    parse::percent_decode,
    state::ServerState,
};

#[derive(RustEmbed)]
#[folder = "../../webui/dist"]
struct Bundle;

/// The root in the page itself, which is right for `/`.
const OWN_ROOT: &str = "./";

/// Views of the page that have an address of their own; what follows is for the page to read.
const VIEWS: [&str; 2] = ["settings", "care"];

/// The page that describes the interface.
const DOCS: &str = include_str!("docs.html");

/// What that page looks like.
const DOCS_STYLE: &str = include_str!("docs.css");

/// What fills that page.
const DOCS_SCRIPT: &str = include_str!("docs.js");

/// What the handbook looks like.
const HANDBOOK_STYLE: &str = include_str!("handbook.css");

/// Files that are the program's own, whichever page is served.
const OWN: [&str; 4] = ["docs", "docs.css", "docs.js", "handbook.css"];

static ASSETS: LazyLock<Assets> = LazyLock::new(|| {
    let files = Bundle::iter().filter(|path| path != MANIFEST);
    let bundled = files.filter_map(|path| {
        let file = Bundle::get(&path)?;
        let content_type = content_type(&path, file.metadata.mimetype());
        Some((path.into_owned(), content_type, bytes(file.data)))
    });
    let own = [
        ("docs", "text/html", DOCS),
        ("docs.css", "text/css", DOCS_STYLE),
        ("docs.js", "text/javascript", DOCS_SCRIPT),
        ("handbook.css", "text/css", HANDBOOK_STYLE),
    ];
    let own =
        own.map(|(name, kind, text)| (name.to_string(), content_type(name, kind), text.into()));
    Assets::gathered(bundled.chain(own))
});

/// Bytes of an embedded file, without a copy.
pub fn bytes(data: Cow<'static, [u8]>) -> Bytes {
    match data {
        Cow::Borrowed(data) => Bytes::from_static(data),
        Cow::Owned(data) => data.into(),
    }
}

/// Answers with a file of the page; none if there is no such file.
pub fn file(state: &ServerState, path: &str, headers: &HeaderMap) -> Option<Response> {
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
    if let Some((&handbook::FOLDER, rest)) = segments.split_first() {
        if path == handbook::ROOT_WITHOUT_SLASH {
            return Some(answer::redirect(&format!("{}/", handbook::FOLDER)));
        }
        let asset = handbook::asset(&rest.join("/"));
        return asset.map(|asset| asset.answer(headers, &state.policy));
    }
    if segments.first().is_some_and(|view| VIEWS.contains(view)) {
        name = ENTRY.to_string();
    }
    let installed = state.assets();
    let asset = match &installed {
        Some(installed) if !OWN.contains(&name.as_str()) => installed.get(&name),
        Some(_) | None => ASSETS.get(&name),
    };
    let asset = asset?;
    let root = html::root(&decoded);
    if name == ENTRY && root != OWN_ROOT {
        return Some(asset.with_root(&root).answer(headers, &state.policy));
    }
    Some(asset.answer(headers, &state.policy))
}

/// Answers with the versions of the page that is served; the one inside the program has the program's version and time.
pub fn manifest(call: &Call) -> Response {
    let state = &call.state;
    let installed = state.services.installer.page();
    let file = match &installed {
        Some(page) => page.files.get(MANIFEST).map(|file| file.as_slice().into()),
        None => Bundle::get(MANIFEST).map(|file| file.data),
    };
    let mut manifest: Map<String, Value> = file
        .and_then(|file| serde_json::from_slice(&file).ok())
        .unwrap_or_default();
    let identity = state.identity();
    manifest.insert("commit".into(), identity.fs_rev.into());
    if let (Some(built), None) = (identity.last_build_time, installed) {
        manifest.insert("buildTime".into(), built.into());
    }
    let text = Value::Object(manifest).to_string();
    Asset::new(text.into(), answer::JSON).answer(call.headers(), &state.policy)
}

/// Answers with the file a route is named after.
pub fn named(call: &Call) -> Response {
    file(&call.state, call.parts.uri.path(), call.headers()).unwrap_or_else(answer::not_found)
}
