//! The reason in an error response.

use serde_json::Value;

/// Longest reason that is passed on, characters.
pub(crate) const WORDS_MAX: usize = 120;

/// The reason of an error, which is a text or has a `message`, shortened.
pub(crate) fn words(error: &Value) -> String {
    shortened(full(error))
}

/// The reason of an error, in full.
pub(crate) fn full(error: &Value) -> &str {
    let message = error["message"].as_str().or(error.as_str());
    message.unwrap_or("it gives no reason")
}

/// A reason without control characters and of limited length.
pub fn shortened(words: &str) -> String {
    let fit = words.chars().filter(|letter| !letter.is_control());
    fit.take(WORDS_MAX).collect()
}
