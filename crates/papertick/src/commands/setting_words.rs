//! Settings as they are written on a command line: `KEY=VALUE`.

use api::{documents::settings::Settings, shape::sent};
use device::settings::{
    SPECS, VIRTUAL,
    spec::{Access, Spec},
};
use serde_json::Value;

use super::suggestion;
use crate::failure::Failure;

/// Takes `NAME=VALUE` apart; `said` is what stands before it on the command line.
pub(crate) fn assignment<'a>(said: &str, text: &'a str) -> Result<(&'a str, &'a str), Failure> {
    let parts = text
        .split_once('=')
        .map(|(name, value)| (name.trim(), value));
    parts.ok_or_else(|| Failure::usage(format!("`{said} {text}` has no `=`: say {said} {text}=…")))
}

/// A value as JSON; what is a text need not be quoted, and a list is written with commas.
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

/// Settings that are written under another name than they are read.
const WRITTEN_AS: [(&str, &str); 1] = [("timerSeconds", "timePerScreen")];

/// A setting that does not exist, or that can only be read.
pub(crate) fn unknown(key: &str) -> Failure {
    if read_names().any(|name| name == key) {
        let written = WRITTEN_AS.iter().find(|(read, _)| *read == key);
        let instead = match written {
            Some((_, written)) => format!("set `{written}` instead"),
            None => "the clock decides it".to_owned(),
        };
        return Failure::usage(format!("`{key}` can only be read: {instead}"));
    }
    suggestion::unknown(
        "setting",
        key,
        names(),
        "docs/settings.md lists those there are",
    )
}

/// A setting that cannot be read.
pub(crate) fn unread(key: &str) -> Failure {
    if let Some((read, _)) = WRITTEN_AS.iter().find(|(_, written)| *written == key) {
        return Failure::usage(format!("`{key}` can only be set: `{read}` tells it"));
    }
    if names().any(|name| name == key) || read_names().any(|name| name == key) {
        return Failure::refused(format!("this clock tells nothing under `{key}`"));
    }
    let known: Vec<String> = read_names().collect();
    let known = known.iter().map(String::as_str);
    suggestion::unknown(
        "setting",
        key,
        known,
        "docs/settings.md lists those there are",
    )
}

/// Names of all that the settings of a clock tell.
pub(crate) fn read_names() -> impl Iterator<Item = String> {
    let schema = sent::<Settings>().schema();
    let properties = schema["properties"].as_object().cloned();
    properties
        .unwrap_or_default()
        .into_iter()
        .map(|(name, _)| name)
}

/// Looks up a row that a client can write, by either of its names.
pub(crate) fn row(key: &str) -> Option<&'static Spec> {
    written().find(|spec| spec.name == key || spec.alias == Some(key))
}

/// Names of all settings that a client can write.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    written()
        .flat_map(|spec| [Some(spec.name), spec.alias])
        .flatten()
        .chain(VIRTUAL.iter().map(|row| row.name))
}

/// Tells whether a setting is one that is never told again.
pub(crate) fn is_secret(key: &str) -> bool {
    row(key).is_some_and(|spec| spec.access == Access::WriteOnly)
}

/// What a setting takes, in words.
pub(crate) fn takes(spec: &Spec) -> String {
    match spec.kind.catalogue() {
        Some(ids) => format!("there are `{}`", ids.join("`, `")),
        None => format!("it takes {}", spec.kind.words()),
    }
}

/// The rows that a client can write.
fn written() -> impl Iterator<Item = &'static Spec> {
    SPECS
        .iter()
        .filter(|spec| matches!(spec.access, Access::ReadWrite | Access::WriteOnly))
}
