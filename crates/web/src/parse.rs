//! What clients send, taken apart: pure functions over bytes and texts that nobody has looked at yet.

use base64::{Engine, prelude::BASE64_STANDARD};
use device::secret::Secret;
use http::HeaderValue;
use serde_json::{Map, Value};

/// Finds a value of a query string, decoded as forms are.
pub fn query_value(query: &str, name: &str) -> Option<String> {
    let mut pairs = query_pairs(query);
    pairs.find(|(key, _)| key == name).map(|(_, value)| value)
}

/// Names and values of a query string, decoded as forms are; those that are no UTF-8 are left out.
pub fn query_pairs(query: &str) -> impl Iterator<Item = (String, String)> {
    query.split('&').filter_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((percent_decode(key, true)?, percent_decode(value, true)?))
    })
}

/// Encodes a text for a path, a query or a header.
pub fn percent_encode(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encoded = |byte: u8| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(encoded).collect()
}

/// Decodes `%xx`, and `+` where it stands for a space; a `%` that introduces no escape stands for itself.
///
/// None if the bytes are no UTF-8.
pub fn percent_decode(text: &str, plus_is_space: bool) -> Option<String> {
    let escaped = |byte: &u8| *byte == b'%' || (*byte == b'+' && plus_is_space);
    if !text.as_bytes().iter().any(escaped) {
        return Some(text.to_string());
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        decoded.push(match byte {
            b'%' => match escape(after) {
                Some(byte) => {
                    rest = &after[2..];
                    byte
                }
                None => b'%',
            },
            b'+' if plus_is_space => b' ',
            other => other,
        });
    }
    String::from_utf8(decoded).ok()
}

/// Reads the two hex digits behind a `%`.
fn escape(text: &[u8]) -> Option<u8> {
    let [high, low, ..] = text else {
        return None;
    };
    Some(hex_digit(*high)? << 4 | hex_digit(*low)?)
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16)?.try_into().ok()
}

/// Reads `Basic <base64 of user:password>`.
pub fn basic_credentials(header: &HeaderValue) -> Option<(String, Secret)> {
    let (scheme, encoded) = header.to_str().ok()?.trim().split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(BASE64_STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (user, password) = decoded.split_once(':')?;
    Some((user.to_string(), Secret::new(password)))
}

/// Reads `{"ssid": …, "pw": …}`, or the same as a form; what is missing is empty.
///
/// In a form without a choice among the networks in reach, `other` is the name.
pub fn network_credentials(body: &[u8]) -> Option<(String, Secret)> {
    let text = std::str::from_utf8(body).ok()?;
    if text.trim_start().starts_with(['{', '[', '"']) {
        let object: Map<String, Value> = serde_json::from_str(text).ok()?;
        let member = |name| match object.get(name) {
            None | Some(Value::Null) => Some(""),
            Some(value) => value.as_str(),
        };
        return Some((member("ssid")?.to_string(), Secret::new(member("pw")?)));
    }
    let value = |name| query_value(text, name).filter(|value| !value.is_empty());
    let ssid = value("ssid").or_else(|| value("other")).unwrap_or_default();
    Some((ssid, Secret::new(value("pw").unwrap_or_default())))
}
