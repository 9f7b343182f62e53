//! The web page and its files: from the installed page, else from the page built into the program.

use std::{borrow::Cow, sync::LazyLock};

use api::documents::page::Manifest;
use bytes::Bytes;
use feeds::image::page::{ENTRY, MANIFEST};
use http::HeaderMap;
use rust_embed::RustEmbed;

use super::{
    assets::{Asset, Assets, content_type},
    call::Call,
    handbook, html,
    parse::percent_decode,
    response::{self, Response},
    state::ServerState,
};

#[derive(RustEmbed)]
#[folder = "../../webui/dist"]
struct Bundle;

/// The base address in the page itself, which is right for `/`.
const OWN_ROOT: &str = "./";

/// First path segments of the page's views; the page itself reads the rest of the path.
const VIEWS: [&str; 2] = ["settings", "care"];

/// The page with the documentation of the control interface.
const DOCS: &str = include_str!("docs.html");

/// Its style.
const DOCS_STYLE: &str = include_str!("docs.css");

/// Its script.
const DOCS_SCRIPT: &str = include_str!("docs.js");

/// Style of the handbook.
const HANDBOOK_STYLE: &str = include_str!("handbook.css");

/// Files that always come from the program, not from an installed page.
const PROGRAM_FILES: [&str; 4] = ["docs", "docs.css", "docs.js", "handbook.css"];

/// The document of the full screen page.
const GLASS: &str = "glass.html";

/// What the names of the files of the full screen page begin with. They come from the program, which completes the page.
const GLASS_FILES: [&str; 2] = ["glass.", "assets/glass-"];

static ASSETS: LazyLock<Assets> = LazyLock::new(|| {
    let files = Bundle::iter().filter(|path| path != MANIFEST);
    let bundled = files.filter_map(|path| {
        let file = Bundle::get(&path)?;
        let content_type = content_type(&path, file.metadata.mimetype());
        Some((path.into_owned(), content_type, bytes(file.data)))
    });
    let program_files = [
        ("docs", "text/html", DOCS),
        ("docs.css", "text/css", DOCS_STYLE),
        ("docs.js", "text/javascript", DOCS_SCRIPT),
        ("handbook.css", "text/css", HANDBOOK_STYLE),
    ];
    let program_files = program_files
        .map(|(name, kind, text)| (name.to_string(), content_type(name, kind), text.into()));
    Assets::new(bundled.chain(program_files))
});

/// Bytes of an embedded file, without a copy.
pub fn bytes(data: Cow<'static, [u8]>) -> Bytes {
    match data {
        Cow::Borrowed(data) => Bytes::from_static(data),
        Cow::Owned(data) => data.into(),
    }
}

/// The response with a file of the page; `None` if there is no such file.
pub fn file(state: &ServerState, path: &str, headers: &HeaderMap) -> Option<Response> {
    let decoded = percent_decode(path, false).unwrap_or_else(|| path.to_string());
    if decoded.contains('\0') || decoded.split('/').any(|segment| segment == "..") {
        return Some(response::bad_request("bad path"));
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
            return Some(response::redirect(&format!("{}/", handbook::FOLDER)));
        }
        let asset = handbook::asset(&rest.join("/"));
        return asset.map(|asset| asset.response(headers, &state.policy));
    }
    if segments.first().is_some_and(|view| VIEWS.contains(view)) {
        name = ENTRY.to_string();
    }
    let installed = state.assets();
    let asset = match &installed {
        Some(installed) if !is_of_program(&name) => installed.get(&name),
        Some(_) | None => ASSETS.get(&name),
    };
    let asset = asset?;
    let root = html::root(&decoded);
    if name == ENTRY && root != OWN_ROOT {
        return Some(asset.with_root(&root).response(headers, &state.policy));
    }
    Some(asset.response(headers, &state.policy))
}

fn is_of_program(name: &str) -> bool {
    let mut glass_files = GLASS_FILES.iter();
    PROGRAM_FILES.contains(&name) || glass_files.any(|start| name.starts_with(start))
}

/// The document of the full screen page; `None` if the program was built without it.
pub fn glass() -> Option<&'static Asset> {
    ASSETS.get(GLASS)
}

/// The manifest of the page that is served. The built-in page has the revision and build time of the program.
pub fn manifest(call: &Call) -> Response {
    let state = &call.state;
    let installed = state.services.installer.page();
    let file = match &installed {
        Some(page) => page.files.get(MANIFEST).map(|file| file.as_slice().into()),
        None => Bundle::get(MANIFEST).map(|file| file.data),
    };
    let mut manifest: Manifest = file
        .and_then(|file| serde_json::from_slice(&file).ok())
        .unwrap_or_default();
    let identity = state.identity();
    manifest.commit = identity.fs_rev;
    if let (Some(built), None) = (identity.last_build_time, installed) {
        manifest.build_time = Some(built);
    }
    let text = serde_json::to_vec(&manifest).unwrap_or_default();
    Asset::new(text.into(), response::JSON).response(call.headers(), &state.policy)
}

/// The file at the path of the route.
pub fn named(call: &Call) -> Response {
    file(&call.state, call.parts.uri.path(), call.headers()).unwrap_or_else(response::not_found)
}
