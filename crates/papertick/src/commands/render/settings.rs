//! Settings of a picture: the defaults, changed like by a PATCH.

use std::collections::BTreeMap;

use device::{
    request::Patch,
    screens::SCREENS,
    settings::patch::{self, Catalogue},
    settings::reject::Rejection,
    settings::{Key, Settings},
};
use market::units::Currency;
use serde_json::{Map, Value};

use crate::{
    commands::setting_args::{self, assignment},
    failure::Failure,
};

/// Parses `KEY=VALUE` assignments.
pub(super) fn read(assignments: &[String]) -> Result<Settings, Failure> {
    let defaults = Settings::default();
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

/// All screens, and all currencies in the assignments.
fn catalogue(body: &Map<String, Value>) -> Catalogue {
    let currencies = body
        .get(Key::act_currencies.name())
        .and_then(Value::as_array);
    let codes = currencies.into_iter().flatten().filter_map(Value::as_str);
    Catalogue {
        // The default currencies are included, so that an assignment without them removes them.
        currencies: codes
            .filter_map(Currency::parse)
            .chain(Settings::default().act_currencies)
            .collect(),
        screens: SCREENS.iter().map(|screen| screen.id).collect(),
    }
}

/// Parses the value of a setting that can affect a picture.
fn json(key: &str, text: &str) -> Result<Value, Failure> {
    let value = setting_args::value(key, text)?;
    let is_password = setting_args::row(key).is_some_and(|spec| spec.kind.password().is_some());
    if is_password {
        Err(Failure::usage(format!(
            "`{key}` does not affect pictures: leave it out"
        )))
    } else {
        Ok(value)
    }
}

/// The error token of the control interface, with the allowed values.
fn refused(rejection: &Rejection) -> Failure {
    Failure::usage(format!("{rejection}: {}", rejection.hint()))
}
