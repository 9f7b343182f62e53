//! Sentences for screen readers and about releases, with placeholders for their values.
//!
//! A sentence is kept as template and values, so that the page can translate it.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::fmt::{self, Display, Formatter, Write};
use market::mark::Mark;

/// An English sentence with `{name}` placeholders. All of them are in the table below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentenceTemplate(&'static str);

impl SentenceTemplate {
    /// The text with its placeholders.
    pub fn template(self) -> &'static str {
        self.0
    }
}

macro_rules! words {
    ($($name:ident = $template:literal;)*) => {
        $(
            #[doc = $template]
            pub const $name: SentenceTemplate = SentenceTemplate($template);
        )*

        /// All of them.
        pub const ALL: &[SentenceTemplate] = &[$($name),*];
    };
}

words! {
    MARKED = "{sentence} {mark}";
    ALONE = "Nothing proves this so far, or one source alone has it.";
    DISPUTED = "The sources disagree about this, or it cannot be.";
    STALE = "This is older than it should be.";

    BLOCK_HEIGHT = "Block height {height}.";
    BLOCK_HEIGHT_UNKNOWN = "The block height is not known yet.";
    PROOF = "{state} The hash of the newest proven block ends in {hash}; {sources}, and it is {age} old.";
    PROOF_TIMELESS = "{state} The hash of the newest proven block ends in {hash}; {sources}.";
    SOURCE = "1 source has it";
    SOURCES = "{count} sources have it";
    HEIGHT_PROVEN = "The block height is proven.";
    HEIGHT_ALONE = "The block height is proven by one source alone.";
    HEIGHT_CLAIMED = "The block height is not proven.";
    HEIGHT_DISPUTED = "The block height is disputed.";
    HEIGHT_STALE = "The block height is old: no source has reported a newer one.";
    TIME = "It is {time}, {day} {month}.";
    TIME_UNKNOWN = "The time is not known yet.";
    JANUARY = "January";
    FEBRUARY = "February";
    MARCH = "March";
    APRIL = "April";
    MAY = "May";
    JUNE = "June";
    JULY = "July";
    AUGUST = "August";
    SEPTEMBER = "September";
    OCTOBER = "October";
    NOVEMBER = "November";
    DECEMBER = "December";
    HALVING_BLOCKS = "{blocks} until the halving.";
    HALVING_TIME = "{years}, {days}, {hours} and {minutes} until the halving.";
    HALVING_UNKNOWN = "The time until the halving is not known yet.";
    BLOCK = "1 block";
    BLOCKS = "{count} blocks";
    YEAR = "1 year";
    YEARS = "{count} years";
    DAY = "1 day";
    DAYS = "{count} days";
    HOUR = "1 hour";
    HOURS = "{count} hours";
    MINUTE = "1 minute";
    MINUTES = "{count} minutes";
    SUPPLY = "{supply} bitcoin exist.";
    SUPPLY_SHARE = "{share} percent of all bitcoin exist.";
    SUPPLY_UNKNOWN = "The supply is not known yet.";
    FEE_RATE = "The fee rate is {rate} sats per virtual byte.";
    FEE_RATE_UNKNOWN = "The fee rate is not known yet.";
    PRICE = "1 bitcoin costs {price} {currency}.";
    PRICE_UNKNOWN = "The price is not known yet.";
    SATS_PER_CURRENCY = "1 {currency} buys {sats} sats.";
    MARKET_CAP = "All bitcoin together are worth {millions} million {currency}.";
    MARKET_CAP_UNKNOWN = "The value of all bitcoin is not known yet.";
    SAT = "1 sat";
    SATS = "{count} sats";
    BALANCE = "The wallet holds {amount}.";
    BALANCE_UNKNOWN = "The balance of the wallet is not known yet.";

    SPLASH = "The clock is starting.";
    SIGN_IN = "A name and a password to sign in with stand on the panels.";
    DEBUG = "The debug view.";
    ERASING = "Everything is being erased.";

    MINER_HASHRATE = "The miner makes {rate} {unit}.";
    MINER_BEST = "The best difficulty of the miner is {difficulty}.";
    MINER_SILENT = "The miner does not answer.";
    POOL_HASHRATE = "{rate} {unit} at the mining pool {pool}.";
    POOL_EARNINGS = "{sats} sats a day at the mining pool {pool}.";
    POOL_WITHOUT_EARNINGS = "The mining pool {pool} tells no earnings.";
    POOL_SILENT = "The mining pool {pool} does not answer.";
    HASHES = "hashes per second";
    KILOHASHES = "kilohashes per second";
    MEGAHASHES = "megahashes per second";
    GIGAHASHES = "gigahashes per second";
    TERAHASHES = "terahashes per second";
    PETAHASHES = "petahashes per second";
    EXAHASHES = "exahashes per second";
    ZETTAHASHES = "zettahashes per second";

    VERBATIM = "{text}";
    EMPTY_PANELS = "The panels are empty.";
    ZAP = "A zap of {amount} came in.";
    PAYMENT_RECEIVED = "A payment of {amount} came in.";
    PAYMENT_SENT = "A payment of {amount} went out.";
    UPDATE = "An update is on its way, {percent} percent.";
    PROVISIONING = "The clock waits to be brought into a network: join its Wi-Fi {ssid}.";
    SAFE_MODE = "Safe mode: {why}";
    NO_DATA = "No data so far: {why}";
    NO_ANSWER_YET = "no source has answered yet.";
    NO_NETWORK = "there is no network.";

    RELEASE = "Release {version}: {why}";
    RELEASE_TAKEN = "the clock takes it.";
    RELEASE_NOT_NEWER = "it is not newer than what runs.";
    RELEASE_CHANNEL = "it comes before a finished one, and the channel is for those.";
    RELEASE_PIN = "another version is pinned.";
    RELEASE_SHARE = "its turn has not come: the clock has number {number} for it, and the share ends before that.";
    RELEASE_NO_IMAGE = "it has nothing for this board and machine.";
    RELEASE_UNSIGNED = "it has no signature by a trusted key.";
    RELEASE_FAILED = "it was tried here and did not work.";
    RELEASE_LEFT = "it ran here, and the owner went back to an older version.";
    RELEASES_UNKNOWN = "The releases were not looked at: {why}";
}

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

/// The text, with a full stop if it has no end mark.
pub fn closed(text: &str) -> String {
    let text = text.trim();
    match text.ends_with(['.', '!', '?']) {
        true => text.into(),
        false => alloc::format!("{text}."),
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

/// In English: a number has its thousands apart, such as `1,234.5`.
impl Display for SentenceValue {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            SentenceValue::Text(text) => formatter.write_str(text),
            SentenceValue::Phrase(sentence) => sentence.fmt(formatter),
            SentenceValue::Number(number) => {
                let (whole, decimals) = number.split_at(number.find('.').unwrap_or(number.len()));
                for (place, digit) in whole.chars().enumerate() {
                    if place > 0 && (whole.len() - place).is_multiple_of(3) {
                        formatter.write_char(',')?;
                    }
                    formatter.write_char(digit)?;
                }
                formatter.write_str(decimals)
            }
        }
    }
}
