//! The values of a picture: from a status document or sample values, overridden by options.

use std::{collections::BTreeMap, time::Duration};

use device::{history::History, screens::catalog::Dependency};
use jiff::civil::{Date, DateTime, Time, date};
use market::{
    HeightState,
    mark::Mark,
    now::{Now, UtcTime},
    units::{Currency, FeeRate, Hashrate, MICRO, Price, Sats},
};
use serde_json::Value;
use sources::demo::market::RelayQuotes;

use super::RenderArgs;
use crate::{failure::Failure, setup::demo_history};

/// Day of the sample values.
const TODAY: Date = date(2026, 11, 20);

/// Seed of the day before the sample values.
const SEED: u64 = 5;

/// Prices of the sample values, in whole units.
const PRICES: &[(&str, u64)] = &[
    ("USD", 95_432),
    ("EUR", 88_001),
    ("GBP", 74_210),
    ("CAD", 131_790),
    ("CHF", 75_123),
    ("AUD", 145_920),
    ("JPY", 14_500_000),
];

/// Sample reason for safe mode.
const REASON: &str =
    "The settings could not be read and were set aside; the clock runs on defaults.";

/// All values of screens; `None` if unknown.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Values {
    pub(super) height: Option<u32>,
    pub(super) state: HeightState,
    pub(super) agreeing: Option<usize>,
    pub(super) hash_end: u16,
    pub(super) age_mins: Option<u64>,
    pub(super) currency: Option<Currency>,
    pub(super) fee: Option<FeeRate>,
    /// Pictures have their own time, in UTC.
    pub(super) time: Option<UtcTime>,
    pub(super) hashrate: Option<Hashrate>,
    pub(super) daily: Option<Sats>,
    pub(super) miner: Option<Hashrate>,
    pub(super) best: Option<String>,
    pub(super) balance: Option<Sats>,
    /// Amount of the zap or payment; negative if it was sent.
    pub(super) sats: Option<i64>,
    pub(super) texts: Vec<String>,
    pub(super) reason: String,
    pub(super) ip: String,
    pub(super) ssid: String,
    pub(super) heap: Option<u64>,
    pub(super) memory: Option<u64>,
    pub(super) uptime: Duration,
    prices: Vec<Quote>,
    /// Price of the option `--price`, in the currency of the screen.
    given: Option<Price>,
    is_sample: bool,
    height_mark: Option<Mark>,
    fee_mark: Option<Mark>,
}

/// A price of the status document.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Quote {
    currency: Currency,
    price: Option<Price>,
    mark: Option<Mark>,
}

impl Values {
    /// The values of the status document, or else the sample values, overridden by the options.
    pub(super) fn new(args: &RenderArgs, status: Option<&str>) -> Result<Values, Failure> {
        let mut values = match status {
            Some(text) => document(text)?,
            None => sample(),
        };
        values.height = args.height.or(values.height);
        values.currency = args.currency.or(values.currency);
        values.fee = args.fee.or(values.fee);
        values.time = args.time.or(values.time);
        values.given = args.price;
        values.sats = args.sats;
        values.texts.clone_from(&args.texts);
        Ok(values)
    }

    pub(super) fn price(&self, currency: Currency) -> Result<Option<Price>, Failure> {
        if self.given.is_some() {
            return Ok(self.given);
        }
        match self.quote(currency) {
            Some(quote) => Ok(quote.price),
            None if self.is_sample => Err(Failure::usage(format!(
                "there is no price in {currency} to show: say one with --price"
            ))),
            None => Ok(None),
        }
    }

    /// The known prices.
    pub(super) fn prices(&self) -> BTreeMap<Currency, Price> {
        let known = self.prices.iter();
        known
            .filter_map(|quote| Some((quote.currency, quote.price?)))
            .collect()
    }

    /// An invented day of the sample values; other values have none.
    pub(super) fn history(&self, now: Now) -> Option<History> {
        let usd = self.quote(Currency::USD)?.price?;
        let fee = self.fee?;
        let mut quotes = RelayQuotes {
            fee_hundredths: fee.micros / (MICRO / 100),
            ..RelayQuotes::default()
        };
        quotes.set_usd_cents(usd.micros / (MICRO / 100));
        (self.is_sample && self.given.is_none()).then(|| demo_history(SEED, quotes, now))
    }

    /// Mark of a screen that shows these values in a currency.
    pub(super) fn mark(&self, shown: &[Dependency], currency: Currency) -> Option<Mark> {
        let mark = |dependency: &Dependency| match dependency {
            Dependency::Height => self.height_mark,
            Dependency::Fee => self.fee_mark,
            Dependency::Price => self.quote(currency).and_then(|quote| quote.mark),
            Dependency::Time | Dependency::Pool | Dependency::Miner | Dependency::Balance => None,
        };
        shown.iter().filter_map(mark).max()
    }

    fn quote(&self, currency: Currency) -> Option<&Quote> {
        self.prices.iter().find(|quote| quote.currency == currency)
    }
}

fn sample() -> Values {
    let price = |(code, units): &(&str, u64)| {
        let price = Price {
            micros: units * MICRO,
        };
        Some(Quote {
            currency: Currency::parse(code)?,
            price: Some(price),
            mark: None,
        })
    };
    Values {
        height: Some(957_123),
        state: HeightState::Proven,
        agreeing: Some(4),
        hash_end: 0x5e9c,
        age_mins: Some(7),
        currency: None,
        fee: FeeRate::parse("4.7"),
        time: utc(TODAY.at(21, 34, 0, 0)),
        hashrate: Some(Hashrate(742_500_000_000_000)),
        daily: Some(Sats(8421)),
        miner: Some(Hashrate(1_234_000_000_000)),
        best: Some("4.29G".into()),
        balance: Some(Sats(50_000)),
        sats: None,
        texts: Vec::new(),
        reason: REASON.into(),
        ip: "192.168.1.42".into(),
        ssid: "Kitchen".into(),
        heap: Some(143_000),
        memory: Some(6_010_000),
        uptime: Duration::from_secs(97_329),
        prices: PRICES.iter().filter_map(price).collect(),
        given: None,
        is_sample: true,
        height_mark: None,
        fee_mark: None,
    }
}

/// Parses a status document. Missing values are unknown.
fn document(text: &str) -> Result<Values, Failure> {
    let root = serde_json::from_str::<Value>(text).ok();
    let root = root.filter(Value::is_object).ok_or_else(|| {
        Failure::usage("--status: it is no JSON object, as `GET /api/status` returns one")
    })?;
    let status = Status(&root);
    let tip = status.get("truth.height.tipHash", "a hash", hash_end)?;
    let agreeing = status.get("truth.height.agreeing", "a number", number)?;
    let age_secs: Option<u64> = status.get("truth.height.tipAgeSec", "a number", number)?;
    let state = status.get("truth.height.state", "the state of a height", |value| {
        let name = value.as_str()?;
        HeightState::ALL
            .into_iter()
            .find(|state| state.name() == name)
    })?;
    let uptime = status.get("espUptime", "a number of seconds", Value::as_u64)?;
    let text = |path: &str| status.get(path, "a text", words);
    Ok(Values {
        height: status.get("market.height.value", "a height", number)?,
        state: state.unwrap_or(HeightState::Unknown),
        agreeing: tip.and(agreeing),
        hash_end: tip.unwrap_or_default(),
        age_mins: age_secs.map(|secs| secs / 60),
        currency: status.currency()?,
        fee: status.get("market.feeRate.value", "a fee rate in sat/vB", |value| {
            FeeRate::parse(&words(value)?)
        })?,
        time: None,
        hashrate: status.get("figures.poolHashrate.value", "hashes per second", hashrate)?,
        daily: status.get("figures.poolEarnings.value", "satoshis", sats)?,
        miner: status.get("figures.minerHashrate.value", "hashes per second", hashrate)?,
        best: text("figures.minerBest.value")?,
        balance: status.get("figures.walletBalance.value", "satoshis", sats)?,
        sats: None,
        texts: Vec::new(),
        reason: text("safeMode")?.unwrap_or_else(|| REASON.into()),
        ip: text("link.ip")?.unwrap_or_default(),
        ssid: text("link.ssid")?.unwrap_or_default(),
        heap: status.get("espFreeHeap", "a number of bytes", Value::as_u64)?,
        memory: status.get("espFreePsram", "a number of bytes", Value::as_u64)?,
        uptime: Duration::from_secs(uptime.unwrap_or_default()),
        prices: status.prices()?,
        given: None,
        is_sample: false,
        height_mark: status.mark("height")?,
        fee_mark: status.mark("feeRate")?,
    })
}

struct Status<'a>(&'a Value);

impl Status<'_> {
    /// Reads the field at a path such as `market.height.value`. `None` if it is missing or null.
    ///
    /// # Errors
    /// It is not `what`.
    fn get<T>(
        &self,
        path: &str,
        what: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, Failure> {
        let field = self.0.pointer(&format!("/{}", path.replace('.', "/")));
        let Some(value) = field.filter(|value| !value.is_null()) else {
            return Ok(None);
        };
        let read = read(value)
            .ok_or_else(|| Failure::usage(format!("--status: `{path}` is {value}, not {what}")))?;
        Ok(Some(read))
    }

    /// The currency of the screen; empty in the document if the screen has none.
    fn currency(&self) -> Result<Option<Currency>, Failure> {
        let currency = self.get("currency", "a currency such as EUR", |value| {
            match value.as_str()? {
                "" => Some(None),
                code => Currency::parse(code).map(Some),
            }
        })?;
        Ok(currency.flatten())
    }

    /// The mark for the state of a market value.
    fn mark(&self, name: &str) -> Result<Option<Mark>, Failure> {
        let path = format!("market.{name}.state");
        let mark = self.get(&path, "a state", |value| value.as_str().map(Mark::named))?;
        Ok(mark.flatten())
    }

    fn prices(&self) -> Result<Vec<Quote>, Failure> {
        let market = self.0.get("market").and_then(Value::as_object);
        let codes = market.into_iter().flat_map(|market| market.keys());
        let quote = |code: &String| {
            let currency = Currency::parse(code)?;
            let path = format!("market.{code}.value");
            let price = self.get(&path, "a price", |value| Price::parse(&words(value)?));
            Some(price.and_then(|price| {
                Ok(Quote {
                    currency,
                    price,
                    mark: self.mark(code)?,
                })
            }))
        };
        codes.filter_map(quote).collect()
    }
}

/// A text, or a number as text.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn number<T: TryFrom<u64>>(value: &Value) -> Option<T> {
    T::try_from(value.as_u64()?).ok()
}

fn hashrate(value: &Value) -> Option<Hashrate> {
    words(value)?.parse().ok().map(Hashrate)
}

/// Satoshis that also fit in millisatoshis.
fn sats(value: &Value) -> Option<Sats> {
    value
        .as_u64()
        .filter(|sats| *sats <= u64::MAX / 1000)
        .map(Sats)
}

/// The last four digits of a hash.
fn hash_end(value: &Value) -> Option<u16> {
    let hash = value.as_str()?;
    let end = hash.get(hash.len().checked_sub(4)?..)?;
    u16::from_str_radix(end, 16).ok()
}

/// Parses a time of the day, or a day with a time.
pub(super) fn time(text: &str) -> Result<UtcTime, String> {
    let moment = text.parse::<DateTime>();
    let today = || text.parse::<Time>().map(|time| TODAY.to_datetime(time));
    let moment = moment.or_else(|_| today()).ok().and_then(utc);
    moment.ok_or_else(|| "use a time such as 21:34 or 2026-11-20T21:34".into())
}

fn utc(moment: DateTime) -> Option<UtcTime> {
    UtcTime::parse(&format!("{moment}Z"))
}

pub(super) fn currency(text: &str) -> Result<Currency, String> {
    Currency::parse(text).ok_or_else(|| "use a currency such as EUR".into())
}

pub(super) fn price(text: &str) -> Result<Price, String> {
    Price::parse(text).ok_or_else(|| "use a price such as 95432.50".into())
}

pub(super) fn fee(text: &str) -> Result<FeeRate, String> {
    FeeRate::parse(text).ok_or_else(|| "use a rate in sat/vB such as 12.34".into())
}
