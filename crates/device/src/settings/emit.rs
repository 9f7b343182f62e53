//! The settings document of GET: every key of the interface; of secrets only whether they are set.

use alloc::{format, string::String, vec::Vec};
use serde_json::{Map, Value, json};

use super::{
    SPECS, VIRTUAL,
    fonts::FontId,
    kinds::{Catalogue, CheckContext, choice, pool_user},
    pools,
    spec::{Access, BoardPart, Spec},
};
use crate::view::View;
use market::units::Currency;

/// White as a 16-bit colour.
pub(super) const WHITE: u32 = 0xFFFF;

/// Black as a 16-bit colour.
pub(super) const BLACK: u32 = 0;

/// Versions of the program and its parts, set from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BuildIdentity {
    /// Version or commit of the program; omitted if empty.
    pub git_rev: String,
    /// Tag of the program; omitted if empty.
    pub git_tag: String,
    /// Version of the web bundle.
    pub fs_rev: String,
    /// Build time, s since 1970-01-01 UTC; omitted if unknown.
    pub last_build_time: Option<i64>,
    /// Fonts that have a bitcoin sign.
    pub bitcoin_sign_fonts: Vec<FontId>,
}

/// The settings document.
pub fn document(view: &View, identity: &BuildIdentity) -> Map<String, Value> {
    let mut document = Map::new();
    let context = CheckContext {
        settings: &view.settings.stored,
        available: &Catalogue {
            currencies: view.offer.currencies().to_vec(),
            screens: view.settings.stored.available_screens(),
        },
    };
    emit_identity(view, identity, &mut document);
    for spec in SPECS {
        emit_row(spec, &context, &mut document);
    }
    emit_state(view, &mut document);
    emit_catalogues(view, identity, &mut document);
    for row in VIRTUAL {
        if let Some(composite) = row.kind.composite() {
            composite.emit(row.name, &context, &mut document);
        }
    }
    emit_parts(view, &mut document);
    emit_secrets(view, &mut document);
    document
}

/// The settings document without the secrets that GET shows, for exports and topics that others can read.
pub fn public_document(view: &View, identity: &BuildIdentity) -> Map<String, Value> {
    let mut document = document(view, identity);
    pool_user::hide_token(&view.settings.stored, &mut document);
    document
}

fn emit_identity(view: &View, identity: &BuildIdentity, document: &mut Map<String, Value>) {
    document.insert("numScreens".into(), view.board.panels.into());
    document.insert("hostname".into(), view.hostname.as_str().into());
    document.insert("ip".into(), view.link.ip.as_str().into());
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

fn emit_row(spec: &Spec, context: &CheckContext<'_>, document: &mut Map<String, Value>) {
    match spec.access {
        Access::ReadWrite | Access::ReadOnly => {}
        Access::WriteOnly | Access::Internal => return,
    }
    if let Some(composite) = spec.kind.composite() {
        return composite.emit(spec.name, context, document);
    }
    let value = spec.kind.shown(&context.settings.get(spec.key));
    if let Some(alias) = spec.alias {
        document.insert(alias.into(), value.clone());
    }
    document.insert(spec.name.into(), value);
}

fn emit_state(view: &View, document: &mut Map<String, Value>) {
    let (fg, bg) = if view.settings.stored.inverted_color {
        (WHITE, BLACK)
    } else {
        (BLACK, WHITE)
    };
    document.insert("fgColor".into(), fg.into());
    document.insert("bgColor".into(), bg.into());
    document.insert(
        "timerRunning".into(),
        view.settings.active.timer_active.into(),
    );
    document.insert("currentScreen".into(), view.current_screen.into());
    let height = view.market.height.as_ref().map_or(0, |height| height.value);
    document.insert("blockHeight".into(), height.into());
}

fn emit_catalogues(view: &View, identity: &BuildIdentity, document: &mut Map<String, Value>) {
    let fonts: Vec<Value> = FontId::all()
        .map(|font| json!({ "id": font.id(), "hasBtcSymbol": identity.bitcoin_sign_fonts.contains(&font) }))
        .collect();
    document.insert(choice::FONT.listed_as.into(), fonts.into());
    document.insert(choice::POOL.listed_as.into(), pools::ids().into());
    let codes: Vec<&str> = view.offer.currencies().iter().map(Currency::code).collect();
    document.insert("availableCurrencies".into(), codes.into());
}

fn emit_parts(view: &View, document: &mut Map<String, Value>) {
    let parts = [
        (BoardPart::Frontlight, view.board.frontlight),
        (BoardPart::LightSensor, view.board.light_sensor),
        (BoardPart::Canvas, view.board.canvas.is_some()),
        (BoardPart::Radio, view.link.managed),
    ];
    for (part, is_there) in parts {
        document.insert(part.fact().into(), is_there.into());
    }
    document.insert("hasSlowPanel".into(), view.board.is_slow.into());
    if let Some(millilux) = view.millilux.filter(|_| view.board.light_sensor) {
        document.insert("lightLevel".into(), lux(millilux).into());
    }
}

fn emit_secrets(view: &View, document: &mut Map<String, Value>) {
    for spec in SPECS.iter().filter(|spec| spec.access == Access::WriteOnly) {
        let stored = view.settings.stored.get(spec.key);
        let is_set = stored.as_str().is_some_and(|secret| !secret.is_empty());
        document.insert(format!("{}Set", spec.name), is_set.into());
        if let Some(masked) = spec.kind.masked(&stored) {
            document.insert(format!("{}Masked", spec.name), masked.into());
        }
    }
}

/// Lux rounded half up to one decimal.
pub fn lux(millilux: u32) -> f64 {
    let tenths = (u64::from(millilux) + 50) / 100;
    tenths as f64 / 10.0
}
