//! Settings on a command line: `KEY=VALUE`.

use api::{documents::settings::Settings, shape::sent};
use device::settings::{
    Key, SPECS, VIRTUAL,
    spec::{Access, Spec},
};
use jiff::tz;
use market::{now::Zone, offer::Offer};
use serde_json::Value;

use super::{schemas, suggestion};
use crate::failure::Failure;

/// Splits `NAME=VALUE`. `before` is the text before it on the command line, for the message.
pub(crate) fn assignment<'a>(before: &str, text: &'a str) -> Result<(&'a str, &'a str), Failure> {
    let parts = text
        .split_once('=')
        .map(|(name, value)| (name.trim(), value));
    parts.ok_or_else(|| {
        Failure::usage(format!(
            "`{before} {text}` has no `=`: write {before} {text}=…"
        ))
    })
}

/// Parses a value to JSON. Texts need no quotes, and lists may be separated by commas.
pub(crate) fn value(key: &str, text: &str) -> Result<Value, Failure> {
    let quoted = || Value::from(text);
    let otherwise = || serde_json::from_str(text).unwrap_or_else(|_| quoted());
    let Some(spec) = row(key) else {
        return if VIRTUAL.iter().any(|row| row.name == key) {
            Ok(otherwise())
        } else {
            Err(unknown(key))
        };
    };
    if spec.name == Key::tz_string.name() && Zone::named(text).is_none() {
        let typed = text.replace(' ', "_");
        let zones: Vec<String> = tz::db().available().map(|zone| zone.to_string()).collect();
        let zones = zones.iter().map(String::as_str);
        let otherwise = "it takes an IANA name such as Europe/Amsterdam";
        return Err(suggestion::unknown("time zone", &typed, zones, otherwise));
    }
    if spec.kind.is_text() || spec.kind.password().is_some() {
        return Ok(quoted());
    }
    let is_list = spec.kind.schema()["type"] == "array";
    if is_list && !text.trim_start().starts_with('[') {
        let entries = text.split(',').map(str::trim);
        return Ok(entries.filter(|entry| !entry.is_empty()).collect());
    }
    Ok(otherwise())
}

/// Settings with different names for reading and writing.
const WRITTEN_AS: [(&str, &str); 1] = [("timerSeconds", "timePerScreen")];

/// The failure for a setting that does not exist or is read-only.
pub(crate) fn unknown(key: &str) -> Failure {
    if read_names().any(|name| name == key) {
        let written = WRITTEN_AS.iter().find(|(read, _)| *read == key);
        let instead = match written {
            Some((_, written)) => format!("set `{written}` instead"),
            None => "the clock sets it".to_owned(),
        };
        return Failure::usage(format!("`{key}` can only be read: {instead}"));
    }
    suggestion::unknown(
        "setting",
        key,
        names(),
        "docs/settings.md lists all of them",
    )
}

/// The failure for a setting that cannot be read.
pub(crate) fn unread(key: &str) -> Failure {
    if let Some((read, _)) = WRITTEN_AS.iter().find(|(_, written)| *written == key) {
        return Failure::usage(format!("`{key}` can only be set: read `{read}` instead"));
    }
    if names().any(|name| name == key) || read_names().any(|name| name == key) {
        return Failure::refused(format!("this clock has no value of `{key}`"));
    }
    let known: Vec<String> = read_names().collect();
    let known = known.iter().map(String::as_str);
    suggestion::unknown("setting", key, known, "docs/settings.md lists all of them")
}

/// Names of all settings that can be read.
pub(crate) fn read_names() -> impl Iterator<Item = String> {
    let schema = schemas::of(sent::<Settings>());
    let properties = schema["properties"].as_object().cloned();
    properties
        .unwrap_or_default()
        .into_iter()
        .map(|(name, _)| name)
}

/// Finds a writable setting by its name or alias.
pub(crate) fn row(key: &str) -> Option<&'static Spec> {
    written().find(|spec| spec.name == key || spec.alias == Some(key))
}

/// Names of all writable settings.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    written()
        .flat_map(|spec| [Some(spec.name), spec.alias])
        .flatten()
        .chain(VIRTUAL.iter().map(|row| row.name))
}

/// The values of a setting, if they are few.
pub(crate) fn values(name: &str) -> Vec<String> {
    let Some(spec) = row(name) else {
        return Vec::new();
    };
    if spec.name == Key::act_currencies.name() {
        return currencies();
    }
    if let Some(ids) = spec.kind.catalogue() {
        return ids.iter().map(ToString::to_string).collect();
    }
    let schema = spec.kind.schema();
    match (schema["type"].as_str(), schema["enum"].as_array()) {
        (Some("boolean"), _) => vec!["true".into(), "false".into()],
        (_, Some(values)) => values.iter().map(ToString::to_string).collect(),
        (_, None) => Vec::new(),
    }
}

/// The currencies that a clock offers by default.
pub(crate) fn currencies() -> Vec<String> {
    let usual = Offer::new(Vec::new());
    usual.currencies().iter().map(ToString::to_string).collect()
}

/// Whether a setting is a secret, which can be written but not read.
pub(crate) fn is_secret(key: &str) -> bool {
    row(key).is_some_and(|spec| spec.access == Access::WriteOnly)
}

/// The rows of writable settings.
fn written() -> impl Iterator<Item = &'static Spec> {
    SPECS
        .iter()
        .filter(|spec| matches!(spec.access, Access::ReadWrite | Access::WriteOnly))
}
