//! The web page and its files: from the installed page, else from the page built into the program.

use std::sync::LazyLock;

use api::documents::page::Manifest;
use feeds::image::page::{ENTRY, MANIFEST};
use http::{HeaderMap, Uri};

use super::{
    assets::{Asset, Assets},
    call::Call,
    embedded::{self, EmbeddedFile},
    handbook, html,
    parse::percent_decode,
    response::{self, Response},
    state::ServerState,
};

/// The base address in the page itself, which is right for `/`.
const OWN_ROOT: &str = "./";

/// First path segments of the page's views; the page itself reads the rest of the path.
const VIEWS: [&str; 2] = ["settings", "care"];

/// Path of the documentation of the control interface.
const DOCS: &str = "docs";

const DOCS_FILE: &str = "docs.html";

/// Files that always come from the program, not from an installed page.
const PROGRAM_FILES: [(&str, &str); 4] = [
    (DOCS_FILE, include_str!("docs.html")),
    ("docs.css", include_str!("docs.css")),
    ("docs.js", include_str!("docs.js")),
    ("handbook.css", include_str!("handbook.css")),
];

/// The document of the full screen page.
const GLASS: &str = "glass.html";

/// What the names of the files of the full screen page begin with. They come from the program, which completes the page.
const GLASS_FILES: [&str; 2] = ["glass.", "assets/glass-"];

static ASSETS: LazyLock<Assets> =
    LazyLock::new(|| Assets::of_program(embedded::PAGE, &PROGRAM_FILES));

/// The response with a file of the page; `None` if there is no such file.
pub fn file(state: &ServerState, uri: &Uri, headers: &HeaderMap) -> Option<Response> {
    let path = uri.path();
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
        let asset = handbook::asset(&rest.join("/"), uri.query());
        return asset.map(|asset| asset.response(headers, &state.policy));
    }
    if segments.first().is_some_and(|view| VIEWS.contains(view)) {
        name = ENTRY.to_string();
    }
    if name == DOCS {
        name = DOCS_FILE.to_string();
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
    PROGRAM_FILES.iter().any(|(file, _)| *file == name)
        || glass_files.any(|start| name.starts_with(start))
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
        Some(page) => page.files.get(MANIFEST).map(|file| file.clone().into()),
        None => EmbeddedFile::find(embedded::PAGE, MANIFEST).map(EmbeddedFile::plain),
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
    file(&call.state, &call.parts.uri, call.headers()).unwrap_or_else(response::not_found)
}
