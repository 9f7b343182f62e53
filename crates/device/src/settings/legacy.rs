//! Translates the settings object of older clients.

use alloc::{format, string::String, vec::Vec};
use serde_json::{Map, Value, json};

use super::{
    Key,
    emit::{BLACK, WHITE},
    reject::Rejection,
};

/// Screens of `screen[0]`, `screen[1]` and so on: block height, sats per dollar, ticker, clock, halving, market cap.
const SCREENS: [u16; 6] = [0, 10, 20, 3, 4, 30];

/// Greatest 24-bit colour.
const COLOUR_MAX: u64 = 0xFF_FF_FF;

/// Colours, written as numbers in strings.
const COLOURS: [&str; 2] = ["fgColor", "bgColor"];

/// Switch between two currencies.
const EURO: &str = "fetchEurPrice";

/// Translates a body to current names; keys that both versions share are unchanged.
///
/// If the body also has the current name of a key, that value counts. A switch that is not a boolean stays, to be
/// refused later.
pub(super) fn to_patch(body: &Map<String, Value>) -> Map<String, Value> {
    let mut patch = Map::new();
    let mut screens = Vec::new();
    for (name, value) in body {
        match (value.as_bool(), screen(name)) {
            (Some(euro), _) if name == EURO => {
                let code = if euro { "EUR" } else { "USD" };
                patch
                    .entry(Key::act_currencies.name())
                    .or_insert_with(|| json!([code]));
            }
            (Some(enabled), Some(id)) => screens.push(json!({ "id": id, "enabled": enabled })),
            (Some(_) | None, _) => {
                patch.insert(name.clone(), value.clone());
            }
        }
    }
    if !screens.is_empty() {
        patch.entry("screens").or_insert(Value::Array(screens));
    }
    if let Some(inverted) = inverted(body) {
        patch
            .entry(Key::inverted_color.name())
            .or_insert(Value::Bool(inverted));
    }
    patch
}

/// Checks a colour of the legacy object: a number in a string.
///
/// GET also has these names, with one of two numbers, which clients send back with the rest of the document.
pub(super) fn check_colour(name: &str, value: &Value) -> Result<(), Rejection> {
    if !COLOURS.contains(&name) || value == WHITE || value == BLACK {
        return Ok(());
    }
    match value.as_str().map(number) {
        Some(Some(0..=COLOUR_MAX)) => Ok(()),
        Some(Some(_)) => Err(Rejection::Range(name.into())),
        Some(None) | None => Err(Rejection::BadType(name.into())),
    }
}

/// Returns whether a name is that of a switch with a boolean value.
pub(super) fn is_switch(name: &str) -> bool {
    name == EURO || screen(name).is_some()
}

fn screen(name: &str) -> Option<u16> {
    let place = (0..SCREENS.len()).find(|place| *name == format!("screen[{place}]"))?;
    SCREENS.get(place).copied()
}

/// Returns whether the foreground is lighter than the background; a single colour is compared with middle grey.
fn inverted(body: &Map<String, Value>) -> Option<bool> {
    let lightness = |name| body.get(name).and_then(colour).map(lightness);
    let middle = lightness_of_channels(0x80, 0x80, 0x80);
    match (lightness("fgColor"), lightness("bgColor")) {
        (None, None) => None,
        (fg, bg) => {
            let (fg, bg) = (fg.unwrap_or(middle), bg.unwrap_or(middle));
            (fg != bg).then_some(fg > bg)
        }
    }
}

fn colour(value: &Value) -> Option<u64> {
    number(value.as_str()?).filter(|colour| *colour <= COLOUR_MAX)
}

/// Parses decimal or hex digits.
fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix('#')) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn lightness(colour: u64) -> u64 {
    lightness_of_channels(colour >> 16, (colour >> 8) & 0xFF, colour & 0xFF)
}

/// Weights of ITU-R BT.601, thousandths.
fn lightness_of_channels(red: u64, green: u64, blue: u64) -> u64 {
    299 * red + 587 * green + 114 * blue
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use alloc::string::ToString;

    use super::*;

    fn check(legacy: &str, expected: &str) {
        let legacy: Map<String, Value> = serde_json::from_str(legacy).unwrap();
        let patch = Value::Object(to_patch(&legacy));
        assert_eq!(patch.to_string(), expected, "{legacy:?}");
    }

    #[test]
    fn the_lighter_colour_decides_the_polarity() {
        let inverted = |fg: &str, bg: &str| {
            let legacy =
                serde_json::from_str(&format!(r#"{{"fgColor":{fg},"bgColor":{bg}}}"#)).unwrap();
            to_patch(&legacy)
                .get("invertedColor")
                .and_then(Value::as_bool)
        };
        let rows = [
            (r#""16777215""#, r#""0""#, Some(true)),
            (r#""0""#, r#""16777215""#, Some(false)),
            ("16777215", "0", None),
            (r##""#000000""##, r#""0xFFFFFF""#, Some(false)),
            (r#""16711680""#, r#""65280""#, Some(false)),
            // The channels have different weights.
            (r##""#FF0000""##, r##""#002000""##, Some(true)),
            (r##""#00FF00""##, r##""#400000""##, Some(true)),
            (r##""#0000FF""##, r##""#100000""##, Some(true)),
            (r#""16777215""#, "null", Some(true)),
            ("null", r#""16777215""#, Some(false)),
            (r#""5""#, r#""5""#, None),
            (r#""16777216""#, r#""white""#, None),
            ("-1", "[]", None),
        ];
        for (fg, bg, expected) in rows {
            assert_eq!(inverted(fg, bg), expected, "{fg} on {bg}");
        }
        check(
            r#"{"fgColor":"16777215","bgColor":"0","invertedColor":false}"#,
            r#"{"fgColor":"16777215","bgColor":"0","invertedColor":false}"#,
        );
    }
}
