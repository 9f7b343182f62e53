//! The settings document of GET: every key of the interface, secrets only as whether they are set.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use serde_json::{Map, Value, json};

use super::{
    Key, SPECS,
    composite::{Composite, nwc_uri, pool_user},
    fonts::FontId,
    pools,
    spec::{Access, Kind, Part, Spec},
};
use crate::{secret::Endpoint, units::Currency, view::View};

/// Facts of the build and its parts that the core does not know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// Version of the firmware, or its commit; left out when empty.
    pub git_rev: String,
    /// Tag of the firmware; left out when empty.
    pub git_tag: String,
    /// Version of the web bundle.
    pub fs_rev: String,
    /// When the firmware was built, s since 1970-01-01 UTC; left out when unknown.
    pub last_build_time: Option<i64>,
    /// Fonts with a drawing of the bitcoin sign.
    pub bitcoin_sign_fonts: Vec<FontId>,
}

/// The settings document.
pub fn document(view: &View, identity: &Identity) -> Map<String, Value> {
    let mut document = Map::new();
    emit_identity(view, identity, &mut document);
    for spec in SPECS {
        emit_row(spec, view, &mut document);
    }
    emit_state(view, &mut document);
    emit_catalogues(view, identity, &mut document);
    Composite::Currencies.emit(view, &mut document);
    Composite::Screens.emit(view, &mut document);
    Composite::Dnd.emit(view, &mut document);
    emit_parts(view, &mut document);
    emit_secrets(view, &mut document);
    document
}

fn emit_identity(view: &View, identity: &Identity, document: &mut Map<String, Value>) {
    document.insert("numScreens".into(), view.board.panels.into());
    document.insert("hostname".into(), view.hostname.as_str().into());
    document.insert("ip".into(), view.link.ip.as_str().into());
    Composite::TxPower.emit(view, document);
    document.insert("hwRev".into(), view.board.hardware.into());
    document.insert("fsRev".into(), identity.fs_rev.as_str().into());
    for (name, value) in [("gitRev", &identity.git_rev), ("gitTag", &identity.git_tag)] {
        if !value.is_empty() {
            document.insert(name.into(), value.as_str().into());
        }
    }
    if let Some(built) = identity.last_build_time {
        document.insert("lastBuildTime".into(), built.into());
    }
}

fn emit_row(spec: &Spec, view: &View, document: &mut Map<String, Value>) {
    match spec.access {
        Access::ReadWrite | Access::ReadOnly => {}
        Access::WriteOnly | Access::Internal => return,
    }
    if let Key::mining_pool_user = spec.key {
        return pool_user::emit(view, document);
    }
    if let Kind::Composite(composite) = spec.kind {
        return composite.emit(view, document);
    }
    let value = match spec.kind {
        Kind::Screens => joined(&view.settings.get(spec.key)),
        Kind::Host(_) | Kind::RelayUrl | Kind::HttpUrl | Kind::BaseUrl => {
            let text = view.settings.get(spec.key);
            Endpoint::new(text.as_str().unwrap_or_default())
                .masked()
                .into()
        }
        Kind::Bool
        | Kind::Uint(_)
        | Kind::Numbered(_)
        | Kind::Rgb
        | Kind::Text(_)
        | Kind::UserName(_)
        | Kind::Password(_)
        | Kind::Choice(_)
        | Kind::HexKey(_)
        | Kind::Zone
        | Kind::Composite(_) => view.settings.get(spec.key),
    };
    if let Some(alias) = spec.alias {
        document.insert(alias.into(), value.clone());
    }
    document.insert(spec.name.into(), value);
}

fn emit_state(view: &View, document: &mut Map<String, Value>) {
    document.insert("timerRunning".into(), view.timer_running.into());
    document.insert("currentScreen".into(), view.current_screen.into());
    let height = view.market.height.as_ref().map_or(0, |height| height.value);
    document.insert("blockHeight".into(), height.into());
}

fn emit_catalogues(view: &View, identity: &Identity, document: &mut Map<String, Value>) {
    let fonts: Vec<Value> = FontId::all()
        .map(|font| json!({ "id": font.id(), "hasBtcSymbol": identity.bitcoin_sign_fonts.contains(&font) }))
        .collect();
    document.insert("availableFonts".into(), fonts.into());
    document.insert("availablePools".into(), pools::ids().into());
    let codes: Vec<&str> = view
        .available_currencies
        .iter()
        .map(Currency::code)
        .collect();
    document.insert("availableCurrencies".into(), codes.into());
}

fn emit_parts(view: &View, document: &mut Map<String, Value>) {
    let parts = [
        (Part::Frontlight, view.board.frontlight),
        (Part::LightSensor, view.board.light_sensor),
    ];
    for (part, is_there) in parts {
        document.insert(part.told_as().into(), is_there.into());
    }
    if let Some(millilux) = view.millilux.filter(|_| view.board.light_sensor) {
        document.insert("lightLevel".into(), lux(millilux));
    }
}

fn emit_secrets(view: &View, document: &mut Map<String, Value>) {
    for spec in SPECS.iter().filter(|spec| spec.access == Access::WriteOnly) {
        let is_set = view
            .settings
            .get(spec.key)
            .as_str()
            .is_some_and(|secret| !secret.is_empty());
        document.insert(format!("{}Set", spec.name), is_set.into());
    }
    nwc_uri::emit(view, document);
}

/// Lux rounded half up to one decimal.
pub fn lux(millilux: u32) -> Value {
    let tenths = (u64::from(millilux) + 50) / 100;
    let text = format!("{}.{}", tenths / 10, tenths % 10);
    text.parse::<f64>().map_or(Value::Null, Value::from)
}

/// Ids as one text, comma-separated.
fn joined(ids: &Value) -> Value {
    let ids = ids.as_array().map(Vec::as_slice).unwrap_or_default();
    ids.iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(",")
        .into()
}
