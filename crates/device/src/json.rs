//! Parses JSON of clients, including valid JSON that has no exact value here.
//!
//! RFC 8259 allows numbers of any size and escapes of half a surrogate pair; `f64` and `String` hold neither. Such a
//! document is parsed with substitutes that every setting refuses, so that the error names the setting.

use alloc::{borrow::Cow, string::String};
use core::str;
use serde_json::Value;

/// Substitute for a number beyond `f64`: the greatest one, out of the bounds of every setting.
const BEYOND: &str = "1.7976931348623157e308";

/// Substitute for half a surrogate pair: a control character, which no setting takes.
const HALF_PAIR: &str = "\\u0000";

/// Bytes of an escape such as `\ud83d`.
const ESCAPE_LEN: usize = 6;

/// Parses a JSON document; `None` if it is not valid JSON.
pub fn parse(bytes: &[u8]) -> Option<Value> {
    if let Ok(value) = serde_json::from_slice(bytes) {
        return Some(value);
    }
    let text = str::from_utf8(bytes).ok()?;
    serde_json::from_str(&substituted(text)).ok()
}

/// Replaces such numbers and escapes by the substitutes; any other error is left to the parser.
fn substituted(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    let mut in_string = false;
    while let Some(first) = rest.chars().next() {
        let (taken, by) = match first {
            '\\' if in_string => escape(rest),
            '-' | '0'..='9' if !in_string => number(rest),
            _ => (first.len_utf8(), None),
        };
        in_string ^= first == '"';
        let (piece, behind) = rest.split_at(taken);
        result.push_str(by.as_deref().unwrap_or(piece));
        rest = behind;
    }
    result
}

/// Length of the escape sequence at the start of a text, and its substitute if it is half a surrogate pair.
fn escape(text: &str) -> (usize, Option<Cow<'static, str>>) {
    match (unit(text), unit(text.get(ESCAPE_LEN..).unwrap_or_default())) {
        (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (2 * ESCAPE_LEN, None),
        (Some(0xD800..=0xDFFF), _) => (ESCAPE_LEN, Some(HALF_PAIR.into())),
        (Some(_), _) => (ESCAPE_LEN, None),
        (None, _) => {
            let escaped = text.chars().nth(1).map_or(0, char::len_utf8);
            (1 + escaped, None)
        }
    }
}

/// The UTF-16 code unit of the `\u` escape at the start of a text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u16::from_str_radix(digits, 16).ok().filter(|_| is_hex)
}

/// Length of the number at the start of a text, and its substitute if it is beyond `f64`.
fn number(text: &str) -> (usize, Option<Cow<'static, str>>) {
    let is_part = |letter: char| letter.is_ascii_digit() || "+-.eE".contains(letter);
    let end = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let token = &text[..end];
    let is_beyond = is_number(token) && token.parse().is_ok_and(f64::is_infinite);
    let by = is_beyond.then(|| {
        if token.starts_with('-') {
            Cow::from(alloc::format!("-{BEYOND}"))
        } else {
            BEYOND.into()
        }
    });
    (end, by)
}

/// Returns whether a token is a number in JSON, whose grammar is stricter than Rust's.
fn is_number(token: &str) -> bool {
    let digits = token.strip_prefix('-').unwrap_or(token);
    let has_leading_zero = digits.len() > 1 && digits.starts_with('0') && {
        let second = digits.as_bytes().get(1);
        second.is_some_and(u8::is_ascii_digit)
    };
    let dot = digits.split_once('.');
    let has_fraction =
        dot.is_none_or(|(_, fraction)| fraction.starts_with(|c: char| c.is_ascii_digit()));
    digits.starts_with(|c: char| c.is_ascii_digit()) && !has_leading_zero && has_fraction
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn valid_json_without_an_exact_value_gets_substitutes() {
        let pair = r#"["\ud83d\ude00\\ud800 é\u00e9"]"#;
        #[rustfmt::skip]
        let rows = [
            (
                "[1e400, -1e400, 1E+400, 1.5e400]",
                "[1.7976931348623157e308,-1.7976931348623157e308,1.7976931348623157e308,1.7976931348623157e308]",
            ),
            (r#"["\ud800"]"#, r#"["\u0000"]"#),
            (r#"["\udc00\ud800x\ud800\u0041"]"#, r#"["\u0000\u0000x\u0000A"]"#),
            (r#"{"\ud800":1,"a\"1e400":1e400}"#, r#"{"\u0000":1,"a\"1e400":1.7976931348623157e308}"#),
            (r#"["\ud83d\ude00\\ud800 é\u00e9",1e400]"#, r#"["😀\\ud800 éé",1.7976931348623157e308]"#),
            (pair, r#"["😀\\ud800 éé"]"#),
        ];
        for (text, expected) in rows {
            let parsed = parse(text.as_bytes()).map(|value| value.to_string());
            let expected = serde_json::from_str::<Value>(expected).ok();
            assert_eq!(parsed, expected.map(|value| value.to_string()), "{text}");
        }
        let long = "9".repeat(400);
        assert_eq!(parse(long.as_bytes()), serde_json::from_str(BEYOND).ok());
    }
}
