//! Sentences for screen readers and about releases, with placeholders for their values.
//!
//! A sentence is kept as template and values, so that the page can translate it.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::fmt::{self, Display, Formatter};
use market::mark::Mark;

/// An English sentence with `{name}` placeholders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentenceTemplate(&'static str);

impl SentenceTemplate {
    /// A template. A test of the page looks for this call with the text, because the page needs its translations.
    pub const fn new(template: &'static str) -> SentenceTemplate {
        SentenceTemplate(template)
    }

    /// The text with its placeholders.
    pub fn template(self) -> &'static str {
        self.0
    }
}

/// {sentence} {mark}
pub const MARKED: SentenceTemplate = SentenceTemplate::new("{sentence} {mark}");
/// Nothing proves this so far, or one source alone has it.
pub const ALONE: SentenceTemplate =
    SentenceTemplate::new("Nothing proves this so far, or one source alone has it.");
/// The sources disagree about this, or it cannot be.
pub const DISPUTED: SentenceTemplate =
    SentenceTemplate::new("The sources disagree about this, or it cannot be.");
/// This is older than it should be.
pub const STALE: SentenceTemplate = SentenceTemplate::new("This is older than it should be.");
/// Block height {height}.
pub const BLOCK_HEIGHT: SentenceTemplate = SentenceTemplate::new("Block height {height}.");
/// The block height is not known yet.
pub const BLOCK_HEIGHT_UNKNOWN: SentenceTemplate =
    SentenceTemplate::new("The block height is not known yet.");
/// 1 day
pub const DAY: SentenceTemplate = SentenceTemplate::new("1 day");
/// {count} days
pub const DAYS: SentenceTemplate = SentenceTemplate::new("{count} days");
/// 1 hour
pub const HOUR: SentenceTemplate = SentenceTemplate::new("1 hour");
/// {count} hours
pub const HOURS: SentenceTemplate = SentenceTemplate::new("{count} hours");
/// 1 minute
pub const MINUTE: SentenceTemplate = SentenceTemplate::new("1 minute");
/// {count} minutes
pub const MINUTES: SentenceTemplate = SentenceTemplate::new("{count} minutes");
/// The price is not known yet.
pub const PRICE_UNKNOWN: SentenceTemplate = SentenceTemplate::new("The price is not known yet.");
/// The miner does not answer.
pub const MINER_SILENT: SentenceTemplate = SentenceTemplate::new("The miner does not answer.");
/// {text}
pub const VERBATIM: SentenceTemplate = SentenceTemplate::new("{text}");
/// The panels are empty.
pub const EMPTY_PANELS: SentenceTemplate = SentenceTemplate::new("The panels are empty.");

/// A sentence: its template and its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// Its template.
    pub words: SentenceTemplate,
    /// A value for each placeholder.
    pub values: Vec<(&'static str, SentenceValue)>,
}

/// A value that replaces a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SentenceValue {
    /// A text that is not translated.
    Text(String),
    /// A number: digits, and decimals after a dot.
    Number(String),
    /// A nested sentence.
    Phrase(Sentence),
}

impl Sentence {
    /// Sets one more placeholder.
    #[must_use]
    pub fn with(mut self, gap: &'static str, value: impl Into<SentenceValue>) -> Sentence {
        self.values.push((gap, value.into()));
        self
    }
}

impl SentenceTemplate {
    /// Sets a placeholder.
    pub fn with(self, gap: &'static str, value: impl Into<SentenceValue>) -> Sentence {
        Sentence::from(self).with(gap, value)
    }
}

impl From<SentenceTemplate> for Sentence {
    fn from(words: SentenceTemplate) -> Sentence {
        let values = Vec::new();
        Sentence { words, values }
    }
}

impl<Phrase: Into<Sentence>> From<Phrase> for SentenceValue {
    fn from(phrase: Phrase) -> SentenceValue {
        SentenceValue::Phrase(phrase.into())
    }
}

impl From<String> for SentenceValue {
    fn from(text: String) -> SentenceValue {
        SentenceValue::Text(text)
    }
}

impl From<&str> for SentenceValue {
    fn from(text: &str) -> SentenceValue {
        SentenceValue::Text(text.into())
    }
}

/// The sentence that explains a mark to a screen reader.
pub fn of_mark(mark: Mark) -> SentenceTemplate {
    match mark {
        Mark::Alone => ALONE,
        Mark::Disputed => DISPUTED,
        Mark::Stale => STALE,
    }
}

/// A number.
pub fn number(text: impl ToString) -> SentenceValue {
    SentenceValue::Number(text.to_string())
}

/// A count, in singular or plural.
pub fn count(number_of: u64, one: SentenceTemplate, more: SentenceTemplate) -> Sentence {
    match number_of {
        1 => one.into(),
        _ => more.with("count", number(number_of)),
    }
}

/// A number with its thousands apart, such as `1,234.5`.
pub fn grouped(number: &str) -> String {
    let (whole, decimals) = number.split_at(number.find('.').unwrap_or(number.len()));
    let mut text = String::with_capacity(number.len() + whole.len() / 3);
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + decimals
}

/// The text, with a full stop if it has no end mark.
pub fn closed(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?']) {
        text.into()
    } else {
        alloc::format!("{text}.")
    }
}

/// In English.
impl Display for Sentence {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let mut parts = self.words.0.split(['{', '}']);
        while let Some(words) = parts.next() {
            formatter.write_str(words)?;
            let gap = parts.next().unwrap_or_default();
            let value = self.values.iter().find(|(name, _)| *name == gap);
            if let Some((_, value)) = value {
                value.fmt(formatter)?;
            }
        }
        Ok(())
    }
}

/// In English, numbers as in [`grouped`].
impl Display for SentenceValue {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            SentenceValue::Text(text) => formatter.write_str(text),
            SentenceValue::Phrase(sentence) => sentence.fmt(formatter),
            SentenceValue::Number(number) => formatter.write_str(&grouped(number)),
        }
    }
}
