//! A list of hosts.

use alloc::{string::String, vec::Vec};
use serde_json::{Value, json};

use super::{super::reject::Rejection, CheckContext, SettingKind, text, texts};
use crate::limits::PEER_TEXT_MAX;

/// A list of hosts with or without a port, without duplicates, ignoring case.
#[derive(Debug)]
pub struct Hosts;

/// Pattern of a host: a name, an address, or an IPv6 address in brackets; with a port if it needs one.
const PATTERN: &str = "^([A-Za-z0-9._-]+(:[0-9]{1,5})?|\\[[0-9A-Fa-f:.]+\\](:[0-9]{1,5})?|)$";

impl SettingKind for Hosts {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        texts::shape(name, value)
    }

    fn check(&self, name: &str, value: &Value, _: &CheckContext<'_>) -> Result<(), Rejection> {
        if texts::entries(value).all(is_host) {
            Ok(())
        } else {
            Err(Rejection::Unknown(name.into()))
        }
    }

    fn normal(&self, value: &Value) -> Value {
        let mut hosts: Vec<String> = Vec::new();
        for text in texts::entries(value) {
            let host = text.to_ascii_lowercase();
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        hosts.into()
    }

    fn schema(&self) -> Value {
        json!({ "type": "array", "items": text::schema(PEER_TEXT_MAX, PATTERN) })
    }

    fn control(&self) -> Value {
        json!({ "control": "urls", "max": texts::ENTRIES_MAX, "maxBytes": PEER_TEXT_MAX })
    }

    fn words(&self) -> String {
        "a list of hosts".into()
    }
}

/// Returns whether a text is a host, with or without a port.
pub fn is_host(text: &str) -> bool {
    if text.len() > PEER_TEXT_MAX {
        return false;
    }
    let Some((host, port)) = split(text) else {
        return false;
    };
    let is_bracketed = text.starts_with('[');
    let is_part = |byte: u8| {
        if is_bracketed {
            byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.')
        } else {
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_')
        }
    };
    let is_named = !host.is_empty() && host.bytes().all(is_part) && !host.contains("..");
    let is_port = |port: &str| {
        port.bytes().all(|byte| byte.is_ascii_digit())
            && port.parse::<u16>().is_ok_and(|port| port > 0)
    };
    is_named && port.is_none_or(is_port)
}

/// Splits `host`, `host:port`, `[v6]` and `[v6]:port`; neither part is checked.
pub fn split(text: &str) -> Option<(&str, Option<&str>)> {
    let Some(bracketed) = text.strip_prefix('[') else {
        let split = text.split_once(':');
        return Some(split.map_or((text, None), |(host, port)| (host, Some(port))));
    };
    match bracketed.split_once(']')? {
        (host, "") => Some((host, None)),
        (host, rest) => Some((host, Some(rest.strip_prefix(':')?))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_or_an_address_with_or_without_a_port() {
        for (text, expected) in [
            ("node.local", true),
            ("node.local:8333", true),
            ("10.0.0.7:18444", true),
            ("[2001:db8::7]", true),
            ("[2001:db8::7]:8333", true),
            ("abcdefgh.onion:8333", true),
            ("", false),
            ("node..local", false),
            (":8333", false),
            ("node:", false),
            ("node:0", false),
            ("node:65536", false),
            ("node:1:2", false),
            ("2001:db8::7", false),
            ("[2001:db8::7", false),
            ("[2001:db8::7]8333", false),
            ("[]", false),
            ("http://node", false),
            ("me:secret@node", false),
            ("no de", false),
        ] {
            assert_eq!(is_host(text), expected, "{text}");
        }
    }
}
