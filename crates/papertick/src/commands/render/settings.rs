//! Settings of a picture: the defaults, changed as a client of the control interface would.

use std::collections::BTreeMap;

use device::{
    request::Patch,
    screens::SCREENS,
    settings::{
        Key, SPECS, Settings, VIRTUAL,
        patch::{self, Catalogue},
        reject::Rejection,
        spec::{Access, Spec},
    },
    units::Currency,
};
use serde_json::{Map, Value};

use super::assignment;
use crate::{commands::suggestion, failure::Failure};

/// Host of the miner unless another is set; without one the miner counts as offline.
const MINER: &str = "miner";

/// Reads `KEY=VALUE` assignments.
pub(super) fn read(assignments: &[String]) -> Result<Settings, Failure> {
    let defaults = Settings {
        miner_hostname: MINER.into(),
        ..Settings::default()
    };
    let mut body = Map::new();
    for text in assignments {
        let (key, value) = assignment("--set", text)?;
        body.insert(key.into(), json(key, value)?);
    }
    let patch = Patch {
        body,
        hashes: BTreeMap::new(),
    };
    let patched = patch::apply(&defaults, &patch, &catalogue(&patch.body));
    patched
        .map(|patched| patched.settings)
        .map_err(|rejection| refused(&rejection))
}

/// All screens, and whatever currencies are set.
fn catalogue(body: &Map<String, Value>) -> Catalogue {
    let currencies = body
        .get(Key::act_currencies.name())
        .and_then(Value::as_array);
    let codes = currencies.into_iter().flatten().filter_map(Value::as_str);
    Catalogue {
        // Those chosen out of the box are on offer too, so that a choice without them drops them.
        currencies: codes
            .filter_map(Currency::parse)
            .chain(Settings::default().act_currencies)
            .collect(),
        screens: SCREENS.iter().map(|screen| screen.id).collect(),
    }
}

/// A value as JSON; what is a text need not be quoted.
fn json(key: &str, value: &str) -> Result<Value, Failure> {
    let text = || Value::from(value);
    let otherwise = || serde_json::from_str(value).unwrap_or_else(|_| text());
    let Some(spec) = row(key) else {
        return if VIRTUAL.iter().any(|row| row.name == key) {
            Ok(otherwise())
        } else {
            Err(suggestion::unknown(
                "setting",
                key,
                names(),
                "docs/settings.md lists those there are",
            ))
        };
    };
    if spec.kind.password().is_some() {
        return Err(Failure::usage(format!(
            "no picture depends on `{key}`: leave it out"
        )));
    }
    Ok(if spec.kind.is_text() {
        text()
    } else {
        otherwise()
    })
}

/// Looks up a row that a client can write, by either of its names.
fn row(key: &str) -> Option<&'static Spec> {
    written().find(|spec| spec.name == key || spec.alias == Some(key))
}

/// The rows that a client can write.
fn written() -> impl Iterator<Item = &'static Spec> {
    SPECS
        .iter()
        .filter(|spec| matches!(spec.access, Access::ReadWrite | Access::WriteOnly))
}

fn names() -> impl Iterator<Item = &'static str> {
    written()
        .flat_map(|spec| [Some(spec.name), spec.alias])
        .flatten()
        .chain(VIRTUAL.iter().map(|row| row.name))
}

/// The token of the control interface, with what the setting takes.
fn refused(rejection: &Rejection) -> Failure {
    let key = match rejection {
        Rejection::BadType(key)
        | Rejection::BadText(key, _)
        | Rejection::BadLength(key)
        | Rejection::BadHex(key)
        | Rejection::BadScheme(key)
        | Rejection::Unknown(key)
        | Rejection::Range(key) => Some(key.as_str()),
        Rejection::BadBody
        | Rejection::Json
        | Rejection::NotObject
        | Rejection::ScreensPartialOrder
        | Rejection::ScreensBadEntry
        | Rejection::ScreensUnknownId
        | Rejection::ScreensDupId
        | Rejection::ScreensDupOrder
        | Rejection::ScreensOrderRange
        | Rejection::ScreensIncomplete
        | Rejection::CurrencyNotString
        | Rejection::DndRange => None,
    };
    let spec = key.and_then(row);
    let takes = spec.map(|spec| match spec.kind.catalogue() {
        Some(ids) => format!(": there are `{}`", ids.join("`, `")),
        None => format!(": it takes {}", spec.kind.words()),
    });
    let hint = rejection.hint().map(|hint| format!(": {hint}"));
    let takes = hint.or(takes).unwrap_or_default();
    Failure::usage(format!("{rejection}{takes}"))
}
