//! What a picture shows: a sample of everything, with what the command line says in its place.

use std::{path::PathBuf, time::Duration};

use jiff::civil::{Date, DateTime, Time, date};
use market::{
    Direction, HeightState,
    mark::Mark,
    now::LocalTime,
    units::{Currency, FeeRate, Hashrate, MICRO, Price, Sats, decimal_micros},
};

use crate::{
    commands::{setting_words::assignment, suggestion},
    failure::Failure,
};

/// Day of the sample.
const TODAY: Date = date(2026, 11, 20);

/// Prices of the sample, in whole units.
const PRICES: &[(&str, u64)] = &[
    ("USD", 95_432),
    ("EUR", 88_001),
    ("GBP", 74_210),
    ("CAD", 131_790),
    ("CHF", 75_123),
    ("AUD", 145_920),
    ("JPY", 14_500_000),
];

/// Everything that screens show; none is not known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Values {
    pub(super) height: Option<u32>,
    pub(super) currency: Option<Currency>,
    pub(super) price: PriceArgument,
    pub(super) fee: Option<FeeRate>,
    pub(super) state: HeightState,
    pub(super) agreeing: Option<usize>,
    pub(super) hash_end: u16,
    pub(super) age_mins: Option<u64>,
    pub(super) time: Option<LocalTime>,
    pub(super) hashrate: Option<Hashrate>,
    pub(super) daily: Option<Sats>,
    pub(super) logo: Option<PathBuf>,
    pub(super) miner: Option<Hashrate>,
    pub(super) best: Option<String>,
    pub(super) balance: Option<Sats>,
    pub(super) zap: Sats,
    pub(super) payment: Sats,
    pub(super) direction: Option<Direction>,
    pub(super) text: String,
    pub(super) panels: Vec<String>,
    pub(super) px: Option<u32>,
    pub(super) percent: u8,
    pub(super) reason: String,
    pub(super) ip: String,
    pub(super) ssid: String,
    pub(super) access_point: String,
    pub(super) password: String,
    pub(super) heap: Option<u64>,
    pub(super) memory: Option<u64>,
    pub(super) version: String,
    pub(super) built: String,
    pub(super) uptime: Duration,
    pub(super) mark: Option<Mark>,
}

/// The price on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PriceArgument {
    /// That of the sample.
    Sample,
    /// Not known.
    Unknown,
    /// That of the command line.
    Given(Price),
}

/// A value by its name.
struct NamedValue {
    name: &'static str,
    what: &'static str,
    /// Takes a value over; none if it is none.
    take: fn(&mut Values, &str) -> Option<()>,
}

macro_rules! named {
    ($name:literal, $what:literal, $field:ident, $read:expr) => {
        NamedValue {
            name: $name,
            what: $what,
            take: |values, text| {
                let read: fn(&str) -> Option<_> = $read;
                values.$field = read(text)?;
                Some(())
            },
        }
    };
}

/// All values, in the order in which help lists them.
static NAMED: &[NamedValue] = &[
    named!(
        "height",
        "height of the chain tip, such as 957123",
        height,
        |text| maybe(text, number)
    ),
    named!(
        "currency",
        "currency of the screen, such as EUR",
        currency,
        |text| maybe(text, Currency::parse)
    ),
    named!(
        "price",
        "price in that currency, such as 95432.50",
        price,
        quote
    ),
    named!("fee", "fee rate in sat/vB, such as 12.34", fee, |text| {
        maybe(text, FeeRate::parse)
    }),
    named!(
        "state",
        "how good the height is: `proven`, `alone`, `claimed`, `disputed`, `stale`, `unknown`",
        state,
        |text| HeightState::ALL
            .into_iter()
            .find(|state| state.name() == text)
    ),
    named!(
        "agreeing",
        "sources that have the newest proven block, such as 4",
        agreeing,
        |text| maybe(text, number)
    ),
    named!(
        "hash",
        "last four digits of its hash, such as 5e9c",
        hash_end,
        hash_end
    ),
    named!("age", "its age in minutes, such as 7", age_mins, |text| {
        maybe(text, number)
    }),
    named!(
        "time",
        "local time, such as 21:34 or 2026-11-20T21:34",
        time,
        |text| maybe(text, time)
    ),
    named!(
        "hashrate",
        "hashrate at the pool, such as 742.5TH",
        hashrate,
        |text| maybe(text, hashrate)
    ),
    named!(
        "daily",
        "earnings of a day at the pool in satoshis, such as 8421",
        daily,
        |text| maybe(text, sats)
    ),
    named!(
        "logo",
        "file with the picture of the pool, one bit per pixel",
        logo,
        |text| maybe(text, |file| Some(file.into()))
    ),
    named!(
        "miner",
        "hashrate of the miner, such as 1.2TH",
        miner,
        |text| maybe(text, hashrate)
    ),
    named!(
        "best",
        "best difficulty of the miner, such as 4.29G",
        best,
        |text| maybe(text, words)
    ),
    named!(
        "balance",
        "balance of the wallet in satoshis, such as 50000",
        balance,
        |text| maybe(text, sats)
    ),
    named!("zap", "satoshis of the zap, such as 21000", zap, sats),
    named!(
        "payment",
        "satoshis of the payment, such as 2100",
        payment,
        sats
    ),
    named!(
        "direction",
        "`received` or `sent`",
        direction,
        |text| maybe(text, direction)
    ),
    named!(
        "text",
        "text of the screen `text`, such as HELLO",
        text,
        words
    ),
    NamedValue {
        name: "panel",
        what: "text of one panel of the screen `custom`, such as A/B or mdi:wifi; once per panel",
        take: |values, text| {
            values.panels.push(text.into());
            Some(())
        },
    },
    named!(
        "px",
        "height of those texts in px, such as 120",
        px,
        |text| maybe(text, number)
    ),
    named!(
        "percent",
        "progress of the update, 0 to 100",
        percent,
        |text| number(text).filter(|percent| *percent <= 100)
    ),
    named!("reason", "why the clock runs in safe mode", reason, words),
    named!("ip", "address of the clock", ip, words),
    named!("ssid", "name of the network", ssid, words),
    named!(
        "access-point",
        "name of the clock's own network",
        access_point,
        words
    ),
    named!(
        "password",
        "password of the clock's own network",
        password,
        words
    ),
    named!(
        "heap",
        "free memory of the process in bytes",
        heap,
        |text| maybe(text, number)
    ),
    named!(
        "memory",
        "free memory of the machine in bytes",
        memory,
        |text| maybe(text, number)
    ),
    named!("version", "version of the program", version, words),
    named!("built", "day on which the program was built", built, words),
    named!(
        "uptime",
        "seconds since the start, such as 97329",
        uptime,
        |text| number(text).map(Duration::from_secs)
    ),
    named!(
        "mark",
        "mark of a value that is less than good: `alone`, `disputed`, `stale`",
        mark,
        |text| maybe(text, Mark::named)
    ),
];

/// Reads `NAME=VALUE` assignments.
pub(super) fn read(assignments: &[String]) -> Result<Values, Failure> {
    let mut values = Values::default();
    for text in assignments {
        let (name, value) = assignment("--value", text)?;
        let Some(named) = NAMED.iter().find(|named| named.name == name) else {
            let names = || NAMED.iter().map(|named| named.name);
            let all = names().collect::<Vec<_>>().join("`, `");
            let all = format!("there are `{all}`");
            return Err(suggestion::unknown("value", name, names(), &all));
        };
        (named.take)(&mut values, value).ok_or_else(|| {
            Failure::usage(format!("`--value {text}`: it wants the {}", named.what))
        })?;
    }
    Ok(values)
}

/// The names with what they are, a line each.
pub(super) fn listed() -> String {
    let lines = NAMED
        .iter()
        .map(|named| format!("  {:14}{}", named.name, named.what));
    lines.collect::<Vec<_>>().join("\n")
}

impl Values {
    /// Price in a currency.
    pub(super) fn price(&self, currency: Currency) -> Result<Option<Price>, Failure> {
        let sample = || PRICES.iter().find(|(code, _)| *code == currency.code());
        match (self.price, sample()) {
            (PriceArgument::Given(price), _) => Ok(Some(price)),
            (PriceArgument::Unknown, _) => Ok(None),
            (PriceArgument::Sample, Some((_, units))) => Ok(Some(Price {
                micros: units * MICRO,
            })),
            (PriceArgument::Sample, None) => Err(Failure::usage(format!(
                "there is no price in {currency} to show: say one with --value price=…"
            ))),
        }
    }
}

impl Default for Values {
    fn default() -> Values {
        Values {
            height: Some(957_123),
            currency: None,
            price: PriceArgument::Sample,
            fee: FeeRate::parse("4.7"),
            state: HeightState::Proven,
            agreeing: Some(4),
            hash_end: 0x5e9c,
            age_mins: Some(7),
            time: Some(local(TODAY.at(21, 34, 0, 0))),
            hashrate: Some(Hashrate(742_500_000_000_000)),
            daily: Some(Sats(8421)),
            logo: None,
            miner: Some(Hashrate(1_234_000_000_000)),
            best: Some("4.29G".into()),
            balance: Some(Sats(50_000)),
            zap: Sats(21_000),
            payment: Sats(2100),
            direction: Some(Direction::Received),
            text: "HELLO".into(),
            panels: Vec::new(),
            px: None,
            percent: 42,
            reason:
                "The settings could not be read and were set aside; the clock runs on defaults."
                    .into(),
            ip: "192.168.1.42".into(),
            ssid: "Kitchen".into(),
            access_point: "papertick-1a2b3c".into(),
            password: "kite-lamp-42".into(),
            heap: Some(143_000),
            memory: Some(6_010_000),
            version: "4.0.0".into(),
            built: "Nov 20 2026".into(),
            uptime: Duration::from_secs(97_329),
            mark: None,
        }
    }
}

/// A value that may be unknown.
fn maybe<T>(text: &str, read: fn(&str) -> Option<T>) -> Option<Option<T>> {
    if text.is_empty() {
        Some(None)
    } else {
        read(text).map(Some)
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

fn words(text: &str) -> Option<String> {
    Some(text.into())
}

fn quote(text: &str) -> Option<PriceArgument> {
    if text.is_empty() {
        return Some(PriceArgument::Unknown);
    }
    Price::parse(text).map(PriceArgument::Given)
}

/// Satoshis that can be counted in thousandths too.
fn sats(text: &str) -> Option<Sats> {
    let sats = number(text).filter(|sats| *sats <= u64::MAX / 1000);
    sats.map(Sats)
}

/// Four hexadecimal digits.
fn hash_end(text: &str) -> Option<u16> {
    let is_whole = text.len() == 4 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    u16::from_str_radix(text, 16).ok().filter(|_| is_whole)
}

fn direction(text: &str) -> Option<Direction> {
    match text {
        "received" => Some(Direction::Received),
        "sent" => Some(Direction::Sent),
        _ => None,
    }
}

fn time(text: &str) -> Option<LocalTime> {
    let moment = text.parse::<DateTime>();
    let today = || text.parse::<Time>().map(|time| TODAY.to_datetime(time));
    moment.or_else(|_| today()).ok().map(local)
}

fn local(moment: DateTime) -> LocalTime {
    LocalTime {
        year: moment.year(),
        month: moment.month().unsigned_abs(),
        day: moment.day().unsigned_abs(),
        hour: moment.hour().unsigned_abs(),
        minute: moment.minute().unsigned_abs(),
        second: moment.second().unsigned_abs(),
    }
}

/// Reads hashes per second such as `645000000000`, `645G` or `12.5 EH/s`.
fn hashrate(text: &str) -> Option<Hashrate> {
    const LETTERS: &str = "KMGTPEZ";
    let is_number = |letter: char| letter.is_ascii_digit() || letter == '.';
    let number = text.trim_end_matches(|letter| !is_number(letter));
    let unit = text[number.len()..].trim().to_ascii_uppercase();
    let unit = unit.trim_end_matches("/S").trim_end_matches('H');
    let mut letters = unit.chars();
    let power = match (letters.next(), letters.next()) {
        (None, _) => return number.parse().ok().map(Hashrate),
        (Some(letter), None) => 3 * (u32::try_from(LETTERS.find(letter)?).ok()? + 1),
        (Some(_), Some(_)) => return None,
    };
    let micros = decimal_micros(number, u64::MAX / MICRO - 1)?;
    let hashes = u128::from(micros) * 10u128.pow(power) / u128::from(MICRO);
    Some(Hashrate(hashes))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use super::*;

    #[test]
    fn hashrates_are_read_with_and_without_a_unit() {
        for (text, hashes) in [
            ("0", Some(0)),
            ("645000000000", Some(645_000_000_000)),
            (
                "123456789012345678901234",
                Some(123_456_789_012_345_678_901_234),
            ),
            ("645G", Some(645_000_000_000)),
            ("12.5EH", Some(12_500_000_000_000_000_000)),
            ("1.2 th/s", Some(1_200_000_000_000)),
            ("0.5K", Some(500)),
            ("T", None),
            ("1.2", None),
            ("1TT", None),
            ("1X", None),
            ("-1T", None),
            ("", None),
        ] {
            assert_eq!(hashrate(text), hashes.map(Hashrate), "{text}");
        }
    }

    #[test]
    fn times_are_read_with_and_without_a_day() {
        let read = |text| {
            let local = time(text)?;
            Some((local.month, local.day, local.hour, local.minute))
        };
        assert_eq!(read("07:05"), Some((11, 20, 7, 5)));
        assert_eq!(read("2026-05-09T07:05"), Some((5, 9, 7, 5)));
        assert_eq!(read("2026-05-09 07:05:31"), Some((5, 9, 7, 5)));
        assert_eq!(read("25:00"), None);
        assert_eq!(read("noon"), None);
    }

    #[test]
    fn nothing_is_not_known() {
        let assignments = ["height=", "price=", "fee=", "time=", "balance="].map(String::from);
        let values = read(&assignments).unwrap();
        assert_eq!(values.height, None);
        assert_eq!(values.price(Currency::USD), Ok(None));
        assert_eq!(
            (values.fee, values.time, values.balance),
            (None, None, None)
        );
    }
}
