//! Why somebody refuses, in their own words.

use serde_json::Value;

/// Longest part of them that is passed on, characters.
pub(crate) const WORDS_MAX: usize = 120;

/// The words of an error, which is a text or has one, as far as they are passed on.
pub(crate) fn words(error: &Value) -> String {
    let message = error["message"].as_str().or(error.as_str());
    let words = message.unwrap_or("it gives no reason");
    let fit = words.chars().filter(|letter| !letter.is_control());
    fit.take(WORDS_MAX).collect()
}
