//! Versions of releases.

use alloc::string::String;
use serde_json::Value;

use super::{
    super::reject::{Rejection, TextFault},
    CheckContext, SettingKind, text,
};

/// Longest version, bytes.
pub const VERSION_MAX: usize = 32;

/// A version such as `4.3.0` or `4.3.0-rc.1`, or empty.
#[derive(Debug)]
pub struct VersionOrNone;

/// Three numbers and an optional pre-release part; without build metadata, because builds of one version are one
/// release.
const PATTERN: &str =
    "^((0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*)?)?$";

impl SettingKind for VersionOrNone {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        text::text(name, value, VERSION_MAX)
    }

    fn check(&self, name: &str, value: &Value, _: &CheckContext<'_>) -> Result<(), Rejection> {
        let version = value.as_str().unwrap_or_default();
        if version.is_empty() || is_version(version) {
            Ok(())
        } else {
            Err(Rejection::BadText(name.into(), TextFault::Version))
        }
    }

    fn is_text(&self) -> bool {
        true
    }

    fn schema(&self) -> Value {
        text::schema(VERSION_MAX, PATTERN)
    }

    fn control(&self) -> Value {
        text::control(VERSION_MAX)
    }

    fn words(&self) -> String {
        "a version, or nothing".into()
    }
}

fn is_version(version: &str) -> bool {
    let (numbers, before) = match version.split_once('-') {
        Some((numbers, before)) => (numbers, Some(before)),
        None => (version, None),
    };
    let is_number = |part: &str| {
        let is_plain = part == "0" || !part.starts_with('0');
        !part.is_empty() && is_plain && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_word = |part: &str| {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !part.is_empty() && part.bytes().all(is_letter)
    };
    numbers.split('.').count() == 3
        && numbers.split('.').all(is_number)
        && before.is_none_or(|before| before.split('.').all(is_word))
}
