//! Helpers for the tests of the settings: a view of a device, and ways to patch it.

use std::time::Duration;

use device::{
    Device,
    board::BoardSpec,
    memory::Memory,
    request::Patch,
    secret::PasswordHash,
    settings::{
        Settings,
        emit::{self, BuildIdentity},
        patch::{self, Catalogue, Patched},
        reject::Rejection,
    },
    sources::{self, ByHand},
    view::View,
};
use market::{FigureIdentity, now::Now, offer::Offer, source_id::SourceId, units::Currency};
use serde_json::{Map, Value};

pub(crate) const BOARD: BoardSpec = BoardSpec {
    id: "rev-b",
    name: "Rev B",
    hardware: "Rev B, 7 x 2.13 in, simulated",
    ..BoardSpec::EXAMPLE
};

/// A view of a device whose stored settings are active.
pub(crate) fn view(settings: &Settings) -> View {
    let now = Now {
        uptime: Duration::ZERO,
        utc: None,
    };
    let device = Device::new(BOARD, settings.clone(), Memory::default(), now);
    View {
        hostname: settings.hostname("abcdef"),
        current_screen: 20,
        currency: Some(Currency::USD),
        data: vec![String::new(); BOARD.panels],
        sentence: device::spoken::EMPTY_PANELS.into(),
        mode: "rotation",
        offer: Offer::new(currencies()),
        millilux: Some(15_849),
        ..device.view()
    }
}

/// Identity of the figures that a source polls under these settings.
pub(crate) fn figure_identity(settings: &Settings, source: SourceId) -> FigureIdentity {
    let plan = sources::plan(settings, &[], ByHand::default(), None);
    let plan = plan.get(&source);
    plan.map_or_else(FigureIdentity::default, |plan| plan.identity)
}

pub(crate) fn currencies() -> Vec<Currency> {
    let codes = ["USD", "EUR", "GBP", "CAD", "CHF", "AUD", "JPY"];
    codes
        .iter()
        .filter_map(|code| Currency::parse(code))
        .collect()
}

pub(crate) fn catalogue(settings: &Settings) -> Catalogue {
    Catalogue {
        currencies: currencies(),
        screens: settings.available_screens(),
    }
}

pub(crate) fn get(settings: &Settings) -> Map<String, Value> {
    emit::document(&view(settings), &identity())
}

pub(crate) fn identity() -> BuildIdentity {
    BuildIdentity {
        git_rev: "4.0.0".into(),
        git_tag: "4.0.0".into(),
        fs_rev: "4.0.0".into(),
        last_build_time: Some(1_767_225_600),
        bitcoin_sign_fonts: Vec::new(),
    }
}

/// Patches as the HTTP layer does: passwords are hashed first.
pub(crate) fn patch(stored: &Settings, body: &Map<String, Value>) -> Result<Patched, Rejection> {
    let hash = |(key, clear): (_, &str)| (key, PasswordHash::new(format!("$test${}", clear.len())));
    let hashes = patch::passwords_in(body).map(hash).collect();
    let patch = Patch {
        body: body.clone(),
        hashes,
    };
    patch::apply(stored, &patch, &catalogue(stored))
}

/// Patches with a JSON body.
pub(crate) fn send(stored: &Settings, body: &str) -> Result<Patched, Rejection> {
    patch(stored, &object(body))
}

pub(crate) fn object(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}
