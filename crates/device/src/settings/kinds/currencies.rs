//! `actCurrencies`: the currencies in the rotation.

use alloc::{string::String, vec::Vec};
use serde_json::{Map, Value, json};

use super::{
    super::{Settings, field::Field, reject::Rejection},
    Catalogue, CheckContext, Composite, SettingKind, entries, list, text,
};
use crate::limits::TEXT_MAX;
use market::{limits::CURRENCIES_MAX, units::Currency};

/// `actCurrencies`: a list of codes.
#[derive(Debug)]
pub struct Currencies;

impl SettingKind for Currencies {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        list(name, value)?;
        let mut texts = entries(value).iter().filter(|entry| entry.is_string());
        texts.try_for_each(|entry| text::text(name, entry, TEXT_MAX))
    }

    fn check(&self, _: &str, value: &Value, _: &CheckContext<'_>) -> Result<(), Rejection> {
        if entries(value).iter().all(Value::is_string) {
            Ok(())
        } else {
            Err(Rejection::CurrencyNotString)
        }
    }

    fn restored(&self, value: &Value) -> Option<Value> {
        let stored: Vec<Currency> = Field::load(value)?;
        Some(distinct(stored.into_iter()).store())
    }

    fn composite(&self) -> Option<&dyn Composite> {
        Some(self)
    }

    fn schema(&self) -> Value {
        json!({ "type": "array", "items": { "type": "string" } })
    }

    fn control(&self) -> Value {
        json!({ "control": "currencies", "choices": "availableCurrencies" })
    }

    fn words(&self) -> String {
        "a list of codes such as USD".into()
    }
}

impl Composite for Currencies {
    fn apply(&self, value: &Value, settings: &mut Settings, available: &Catalogue) {
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
        // Sending back what GET showed changes nothing, and a currency that was not shown is not deselected.
        if shown(&sent) == shown(&stored) {
            return;
        }
        let hidden = stored.into_iter().filter(|code| !offered(code));
        settings.act_currencies = distinct(sent.into_iter().chain(hidden));
        settings.act_currencies.truncate(CURRENCIES_MAX);
    }

    fn emit(
        &self,
        name: &'static str,
        context: &CheckContext<'_>,
        document: &mut Map<String, Value>,
    ) {
        let offered = |currency: &&Currency| context.available.currencies.contains(currency);
        let codes = context
            .settings
            .act_currencies
            .iter()
            .filter(offered)
            .map(Currency::code);
        document.insert(name.into(), codes.collect::<Vec<_>>().into());
    }
}

/// The currencies without duplicates.
pub(in super::super) fn distinct(currencies: impl Iterator<Item = Currency>) -> Vec<Currency> {
    let mut distinct = Vec::new();
    for currency in currencies {
        if !distinct.contains(&currency) {
            distinct.push(currency);
        }
    }
    distinct
}
