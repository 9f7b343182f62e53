//! Parsers of untrusted input from clients: queries, forms, credentials. Pure functions.

use api::documents::{access_point::NetworkCredentials, object};
use base64::{Engine, prelude::BASE64_STANDARD};
use device::secret::Secret;
use http::HeaderValue;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Finds a value in a query string; decodes it like a form.
pub fn query_value(query: &str, name: &str) -> Option<String> {
    let mut pairs = query_pairs(query);
    pairs.find(|(key, _)| key == name).map(|(_, value)| value)
}

/// Names and values of a query string, decoded like a form. Pairs that are not UTF-8 are left out.
pub fn query_pairs(query: &str) -> impl Iterator<Item = (String, String)> {
    query.split('&').filter_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((percent_decode(key, true)?, percent_decode(value, true)?))
    })
}

/// Bytes that have a special meaning in a path, a query or a header, or are not allowed there.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Encodes a text for a path, a query or a header.
pub fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Decodes `%xx`, and `+` as a space if `plus_is_space`. A `%` without two hex digits is kept.
///
/// `None` if the bytes are not UTF-8.
pub fn percent_decode(text: &str, plus_is_space: bool) -> Option<String> {
    if plus_is_space && text.contains('+') {
        return percent_decode(&text.replace('+', " "), false);
    }
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

/// Parses `Basic <base64 of user:password>`.
pub fn basic_credentials(header: &HeaderValue) -> Option<(String, Secret)> {
    let (scheme, encoded) = header.to_str().ok()?.trim().split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(BASE64_STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (user, password) = decoded.split_once(':')?;
    Some((user.to_string(), Secret::new(password)))
}

/// Parses `{"ssid": …, "pw": …}`, or the same as a form. Missing values are empty.
///
/// In a form, `other` is the name of the network if `ssid` is empty.
pub fn network_credentials(body: &[u8]) -> Option<NetworkCredentials> {
    let text = std::str::from_utf8(body).ok()?;
    if text.trim_start().starts_with(['{', '[', '"']) {
        let value = serde_json::from_str(text).ok()?;
        return object(&value);
    }
    let value = |name| query_value(text, name).filter(|value| !value.is_empty());
    Some(NetworkCredentials {
        ssid: value("ssid").or_else(|| value("other")),
        pw: Secret::new(value("pw").unwrap_or_default()),
        display: query_value(text, "display"),
    })
}
