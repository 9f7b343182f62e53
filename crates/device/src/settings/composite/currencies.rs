//! `actCurrencies`: the currencies in the rotation.

use alloc::{string::String, vec::Vec};
use serde_json::{Map, Value, json};

use super::super::{Settings, patch::Catalogue, reject::Rejection};
use crate::{limits::CURRENCIES_MAX, units::Currency, view::View};

pub(super) fn shape(name: &str, value: &Value) -> Result<(), Rejection> {
    match value.is_array() {
        true => Ok(()),
        false => Err(Rejection::BadType(name.into())),
    }
}

pub(super) fn check(value: &Value) -> Result<(), Rejection> {
    match entries(value).iter().all(Value::is_string) {
        true => Ok(()),
        false => Err(Rejection::CurrencyNotString),
    }
}

pub(super) fn apply(value: &Value, settings: &mut Settings, available: &Catalogue) {
    let offered = |currency: &Currency| available.currencies.contains(currency);
    let stored = settings.act_currencies.clone();
    let codes = entries(value)
        .iter()
        .filter_map(Value::as_str)
        .filter_map(Currency::parse);
    let sent = distinct(codes.filter(|code| offered(code) || stored.contains(code)));
    let shown = |list: &[Currency]| -> Vec<Currency> {
        list.iter().copied().filter(|code| offered(code)).collect()
    };
    // Whoever sends back what was shown changes nothing, and nobody deselects what was not shown.
    if shown(&sent) == shown(&stored) {
        return;
    }
    let hidden = stored.into_iter().filter(|code| !offered(code));
    settings.act_currencies = distinct(sent.into_iter().chain(hidden));
    settings.act_currencies.truncate(CURRENCIES_MAX);
}

pub(super) fn emit(view: &View, document: &mut Map<String, Value>) {
    let offered = |currency: &&Currency| view.available_currencies.contains(currency);
    let codes = view
        .settings
        .act_currencies
        .iter()
        .filter(offered)
        .map(Currency::code);
    document.insert("actCurrencies".into(), codes.collect::<Vec<_>>().into());
}

pub(super) fn schema() -> Value {
    json!({ "type": "array", "items": { "type": "string" } })
}

/// The currencies without those that come a second time.
pub(in super::super) fn distinct(currencies: impl Iterator<Item = Currency>) -> Vec<Currency> {
    let mut kept = Vec::new();
    for currency in currencies {
        if !kept.contains(&currency) {
            kept.push(currency);
        }
    }
    kept
}

fn entries(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
