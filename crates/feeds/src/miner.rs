//! The miner on the local network: one request, one JSON object, all fields optional.

use device::screens::decimal;
use market::{MinerStats, units::Hashrate};
use serde_json::Value;

use crate::{malformed::Malformed, scalar::Scalar};

/// Largest response, bytes.
pub const BODY_MAX: usize = 16 * 1024;

/// Longest best difficulty, bytes.
const DIFFICULTY_MAX: usize = 32;

/// URL of a miner's state.
pub fn url(host: &str) -> String {
    // Owners paste URLs from a browser.
    let host = host
        .strip_prefix("http://")
        .unwrap_or(host)
        .trim_end_matches('/');
    format!("http://{host}/api/system/info")
}

/// Parses a miner's state.
///
/// # Errors
/// The body is too long or not a JSON object.
pub fn body(body: &[u8]) -> Result<MinerStats, Malformed> {
    if body.len() > BODY_MAX {
        return Err(Malformed("too-long"));
    }
    let info: Value = serde_json::from_slice(body).map_err(|_| Malformed("json"))?;
    if !info.is_object() {
        return Err(Malformed("not-a-map"));
    }
    let best = match &info["bestDiff"] {
        Value::String(text) => words(text),
        Value::Number(number) => Scalar::from(&Value::Number(number.clone()))
            .scaled(0)
            .map(difficulty),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    Ok(MinerStats {
        // Miners count in GH/s.
        hashrate: Scalar::from(&info["hashRate"]).scaled(9).map(Hashrate),
        best_difficulty: best,
    })
}

/// A text of the miner, if all its characters can be displayed.
fn words(text: &str) -> Option<String> {
    let text = text.trim();
    let shown =
        !text.is_empty() && text.len() <= DIFFICULTY_MAX && !text.chars().any(char::is_control);
    shown.then(|| text.to_owned())
}

/// A difficulty with at most one decimal and a suffix.
fn difficulty(number: u128) -> String {
    let suffixes = ["", "K", "M", "G", "T", "P"]
        .into_iter()
        .zip((0..).step_by(3));
    let texts = suffixes.map(|(suffix, power)| {
        let text = decimal::rounded(number, 10u128.pow(power), 1);
        (text.trim_end_matches(".0").to_owned(), suffix)
    });
    let (text, suffix) = decimal::below_thousand(texts).unwrap_or_default();
    text + suffix
}
