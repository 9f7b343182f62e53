//! `actCurrencies`: the currencies in the rotation.

use alloc::{string::String, vec::Vec};
use serde_json::{Map, Value, json};

use super::super::{Settings, patch::Catalogue, reject::Rejection};
use crate::{units::Currency, view::View};

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
    let codes = entries(value)
        .iter()
        .filter_map(Value::as_str)
        .filter_map(Currency::parse);
    settings.act_currencies = distinct(codes.filter(|code| available.currencies.contains(code)));
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
