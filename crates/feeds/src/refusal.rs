//! The reason in an error response.

use serde_json::Value;

/// Longest reason that is passed on, characters.
pub(crate) const WORDS_MAX: usize = 120;

/// The reason of an error, which is a text or has a `message`, shortened.
pub(crate) fn words(error: &Value) -> String {
    let message = error["message"].as_str().or(error.as_str());
    let words = message.unwrap_or("it gives no reason");
    let fit = words.chars().filter(|letter| !letter.is_control());
    fit.take(WORDS_MAX).collect()
}
