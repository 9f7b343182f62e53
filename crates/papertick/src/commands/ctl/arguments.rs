//! Parses the arguments of a command to the JSON body of its operation, by the schema of the body.
//!
//! The argument is a complete JSON document, or each argument is the value of the next member, or `NAME=VALUE`.

use serde_json::{Map, Value, json};

use crate::failure::Failure;

/// Parses arguments by a schema.
///
/// # Errors
/// They do not fit the schema.
pub(super) fn document(schema: &Value, words: &[String]) -> Result<Value, Failure> {
    if let [word] = words
        && word.starts_with(['{', '['])
    {
        return serde_json::from_str(word)
            .map_err(|error| Failure::usage(format!("`{word}` is not JSON: {error}")));
    }
    let alternatives = alternatives(schema);
    let named = |schema: &&Value| {
        let members = words
            .iter()
            .filter(|word| member_of(schema, word).is_some());
        is_object(schema) && members.count() > 0
    };
    let chosen = alternatives.iter().find(|schema| named(schema));
    let chosen = chosen.or(alternatives.first()).copied().unwrap_or(schema);
    if is_object(chosen) {
        return object(chosen, words);
    }
    if chosen["type"] == "array" {
        let items = &chosen["items"];
        return words.iter().map(|word| value(items, word)).collect();
    }
    match words {
        [word] => value(chosen, word),
        words => Err(Failure::usage(format!(
            "expected one value, not {}",
            words.len()
        ))),
    }
}

/// The arguments of a schema for the help, such as `s=VALUE [ms=VALUE]`.
pub(super) fn usage(schema: &Value) -> String {
    let alternatives = alternatives(schema);
    let Some(schema) = alternatives.first() else {
        return "VALUE".into();
    };
    if schema["type"] == "array" {
        return "VALUE…".into();
    }
    let member = |name: &str| {
        let only = schema["properties"][name].get("const");
        let value = only.map_or_else(|| "VALUE".into(), plain);
        if required(schema).any(|required| required == name) {
            format!("{name}={value}")
        } else {
            format!("[{name}={value}]")
        }
    };
    members(schema).map(member).collect::<Vec<_>>().join(" ")
}

/// Each member of a schema with its description and its values.
pub(super) fn details(schema: &Value) -> Vec<(&str, String)> {
    let alternatives = alternatives(schema);
    let schema = alternatives.first().copied().unwrap_or(schema);
    let detail = |name| {
        let member = &schema["properties"][name];
        let takes = match (values(member), member.get("minimum"), member.get("maximum")) {
            (Some(words), ..) => Some(words.join(", ")),
            (None, Some(least), Some(most)) => Some(format!("{least} to {most}")),
            (None, ..) => None,
        };
        let about = member["description"].as_str().map(String::from);
        let text = match (about, takes) {
            (Some(about), Some(takes)) => {
                format!("{} {takes}", about.trim_end_matches('.').to_owned() + ":")
            }
            (about, takes) => about.or(takes).unwrap_or_default(),
        };
        (name, text)
    };
    members(schema).map(detail).collect()
}

/// The possible values of the first member of a schema. Empty if it does not list them.
pub(super) fn first_choices(schema: &Value) -> Vec<String> {
    let first = alternatives(schema).first().copied();
    let first = first.and_then(|schema| Some(&schema["properties"][members(schema).next()?]));
    first.and_then(values).unwrap_or_default()
}

/// The values that a schema lists.
fn values(schema: &Value) -> Option<Vec<String>> {
    match schema.get("const") {
        Some(only) => Some(vec![plain(only)]),
        None => Some(schema["enum"].as_array()?.iter().map(plain).collect()),
    }
}

/// A value without quotes.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

fn object(schema: &Value, words: &[String]) -> Result<Value, Failure> {
    let mut read = Map::new();
    for word in words {
        let next = || members(schema).find(|name| !read.contains_key(*name));
        let (name, text) = match member_of(schema, word) {
            Some(named) => named,
            None => match next() {
                Some(name) => (name, word.as_str()),
                None => {
                    return Err(Failure::usage(format!(
                        "`{word}` is one argument too many: it takes {}",
                        usage(schema)
                    )));
                }
            },
        };
        let value = value(&schema["properties"][name], text)
            .map_err(|failure| Failure::usage(format!("{name}: {}", failure.message)))?;
        read.insert(name.to_string(), value);
    }
    match required(schema).find(|name| !read.contains_key(*name)) {
        Some(missing) => Err(Failure::usage(format!(
            "`{missing}` is missing: it takes {}",
            usage(schema)
        ))),
        None => Ok(Value::Object(read)),
    }
}

fn value(schema: &Value, word: &str) -> Result<Value, Failure> {
    if let Some(any) = schema["anyOf"].as_array() {
        let mut read = any.iter().map(|schema| value(schema, word));
        let first = read.next();
        return match read.find(Result::is_ok) {
            found @ Some(_) if first.as_ref().is_some_and(Result::is_err) => found,
            Some(_) | None => first,
        }
        .unwrap_or_else(|| Err(invalid(schema, word)));
    }
    if let Some(only) = schema.get("const") {
        let is_equal = plain(only) == word;
        return is_equal
            .then(|| only.clone())
            .ok_or_else(|| invalid(schema, word));
    }
    if let Some(words) = schema["enum"].as_array() {
        let found = words.iter().find(|known| plain(known) == word);
        return found.cloned().ok_or_else(|| invalid(schema, word));
    }
    if is_object(schema) {
        return if word.starts_with('{') {
            serde_json::from_str(word).map_err(|_| invalid(schema, word))
        } else {
            object(schema, &[word.to_string()])
        };
    }
    if kinds(schema).is_empty() {
        // Any value is allowed: a word that is not JSON is a text.
        return Ok(serde_json::from_str(word).unwrap_or_else(|_| json!(word)));
    }
    let mut last = None;
    for kind in kinds(schema) {
        let read = match kind {
            "string" => Some(json!(word)),
            "array" => {
                let entries = word.split(',').filter(|entry| !entry.is_empty());
                let read: Result<Value, Failure> = entries
                    .map(|entry| value(&schema["items"], entry))
                    .collect();
                return read;
            }
            "boolean" => word.parse::<bool>().ok().map(Value::from),
            "null" => (word == "null").then_some(Value::Null),
            "integer" => word.parse::<i64>().ok().map(Value::from),
            "number" => serde_json::from_str(word).ok().filter(Value::is_number),
            _ => None,
        };
        last = last.or(read);
    }
    last.ok_or_else(|| invalid(schema, word))
}

fn invalid(schema: &Value, word: &str) -> Failure {
    let takes = match schema["enum"].as_array() {
        Some(words) => words.iter().map(plain).collect::<Vec<_>>().join(", "),
        None => match schema.get("const") {
            Some(only) => plain(only),
            None => match kinds(schema).first() {
                Some(kind) => format!("a value of type {kind}"),
                None => "another value".into(),
            },
        },
    };
    Failure::usage(format!("invalid value `{word}`: it takes {takes}"))
}

/// A word `NAME=VALUE`, where NAME is a member of the schema.
fn member_of<'a>(schema: &'a Value, word: &'a str) -> Option<(&'a str, &'a str)> {
    let (name, text) = word.split_once('=')?;
    members(schema)
        .any(|known| known == name)
        .then_some((name, text))
}

/// Names of the members, required ones first.
fn members(schema: &Value) -> impl Iterator<Item = &str> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let is_optional = move |name: &&str| !required(schema).any(|required| required == *name);
    let optional = properties
        .map(|(name, _)| name.as_str())
        .filter(is_optional);
    required(schema).chain(optional)
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    let names = schema["required"].as_array().into_iter().flatten();
    names.filter_map(Value::as_str)
}

fn alternatives(schema: &Value) -> Vec<&Value> {
    match schema["anyOf"].as_array() {
        Some(any) => any.iter().collect(),
        None => vec![schema],
    }
}

/// Returns whether a schema describes an object. A schema that also accepts other values has properties but no type.
fn is_object(schema: &Value) -> bool {
    schema["type"] == "object" || schema["properties"].is_object()
}

/// The types that a schema allows.
fn kinds(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use api::{
        documents::{
            bench::{AmbientLight, ButtonPress, LinkChange, PanelFaultChange, PowerChange},
            device::{Confirmation, TxPowerChoice},
            lights::{BrightnessChoice, ColourChoice, DutyList, EffectChoice, LedColours},
            screens::{CurrencyChoice, PanelText, ScreenChoice, TextPerPanel, ZapRequest},
        },
        shape::{Shape, received},
    };

    use super::*;
    use crate::commands::schemas;

    fn read(shape: Shape, line: &str) -> Result<Value, Failure> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        document(&schemas::of(shape), &words)
    }

    #[test]
    fn arguments_become_the_body() {
        #[rustfmt::skip]
        let rows = [
            (received::<ScreenChoice>(), "20", json!({ "s": 20 })),
            (received::<ScreenChoice>(), "s=3", json!({ "s": 3 })),
            (received::<CurrencyChoice>(), "EUR", json!({ "c": "EUR" })),
            (received::<PanelText>(), "a=b", json!({ "t": "a=b" })),
            (received::<TextPerPanel>(), "BTC/USD mdi:wifi 21", json!(["BTC/USD", "mdi:wifi", "21"])),
            (received::<TextPerPanel>(), "cells=A,B digitPx=120", json!({ "cells": ["A", "B"], "digitPx": 120 })),
            (received::<ZapRequest>(), "21 thanks", json!({ "amount_sats": 21, "message": "thanks" })),
            (received::<ZapRequest>(), "", json!({})),
            (received::<ColourChoice>(), "#FF8800", json!({ "c": "#FF8800" })),
            (received::<LedColours>(), "FF0000 00FF00", json!([{ "hex": "FF0000" }, { "hex": "00FF00" }])),
            (received::<LedColours>(), "red=1 green=2 blue=3", json!({ "red": 1, "green": 2, "blue": 3 })),
            (received::<EffectChoice>(), "rainbow", json!({ "name": "rainbow" })),
            (received::<BrightnessChoice>(), "1024", json!({ "b": 1024 })),
            (received::<DutyList>(), "0 4095", json!([0, 4095])),
            (received::<TxPowerChoice>(), "-1", json!({ "txPower": -1 })),
            (received::<ButtonPress>(), "1,2 ms=900", json!({ "press": [1, 2], "ms": 900 })),
            (received::<AmbientLight>(), "null", json!({ "lux": null })),
            (received::<AmbientLight>(), "0.5", json!({ "lux": 0.5 })),
            (received::<LinkChange>(), "down", json!({ "link": "down" })),
            (received::<PowerChange>(), "cycle 1 3200", json!({ "action": "cycle", "hold": [1], "ms": 3200 })),
            (received::<PanelFaultChange>(), "3 busy-stuck", json!({ "panel": 3, "fault": "busy-stuck" })),
            (received::<Confirmation>(), "factory_reset", json!({ "confirm": "factory_reset" })),
            (received::<AmbientLight>(), "{\"lux\":1}", json!({ "lux": 1 })),
        ];
        for (shape, line, expected) in rows {
            assert_eq!(read(shape, line).unwrap(), expected, "{shape:?} {line}");
        }
    }
}
