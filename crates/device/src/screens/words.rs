//! Numbers, money and times in the words of tiles.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{clock, decimal, signs, suffix};
use crate::{settings::Settings, spoken::grouped};
use market::{
    now::LocalTime,
    units::{Currency, MICRO, Price, SATS_PER_BTC, Sats},
};

const WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

/// Letters of a short name of a month or a day of the week.
const SHORT: usize = 3;

/// Names of currencies: of one unit, and of several.
const CURRENCIES: &[(&str, &str, &str)] = &[
    ("USD", "dollar", "dollars"),
    ("EUR", "euro", "euros"),
    ("GBP", "pound", "pounds"),
    ("JPY", "yen", "yen"),
    ("KRW", "won", "won"),
    ("CHF", "franc", "francs"),
    ("CAD", "Canadian dollar", "Canadian dollars"),
    ("AUD", "Australian dollar", "Australian dollars"),
];

/// Currencies that are written without hundredths.
const WITHOUT_CENTS: &[&str] = &["JPY", "KRW", "VND", "IDR", "CLP"];

/// Amounts of money of at least this, in whole units, are written without decimals.
const WHOLE_FROM: u128 = 100;

/// The smallest amount of money that is written as a number, millionths.
const CENT: u128 = 10_000;

/// Numbers of at least this many digits have a form with a letter, too.
const LONG: usize = 8;

/// Characters of a number with a letter.
const SUFFIXED_WIDTH: usize = 6;

/// Name of one unit of a currency, or its code.
pub fn one_unit(currency: &Currency) -> &str {
    named(currency).map_or(currency.code(), |(_, one, _)| one)
}

/// Name of several units of a currency, or its code.
pub fn units(currency: &Currency) -> &str {
    named(currency).map_or(currency.code(), |(_, _, units)| units)
}

fn named(currency: &Currency) -> Option<&(&str, &'static str, &'static str)> {
    let mut names = CURRENCIES.iter();
    names.find(|(code, _, _)| *code == currency.code())
}

/// An amount of money with its sign, or with its code if it has no sign of its own.
pub fn money(currency: Currency, micros: u128) -> String {
    let number = number_of_money(currency, micros);
    match signs::own(currency) {
        Some(sign) => match number.strip_prefix('<') {
            Some(limit) => format!("<{sign}{limit}"),
            None => format!("{sign}{number}"),
        },
        None => format!("{number} {currency}"),
    }
}

/// An amount of money in digits, `<0.01` for one that they cannot show.
pub fn number_of_money(currency: Currency, micros: u128) -> String {
    let unit = u128::from(MICRO);
    let decimals = if micros >= WHOLE_FROM * unit
        || (micros >= unit && WITHOUT_CENTS.contains(&currency.code()))
    {
        0
    } else {
        2
    };
    match micros {
        0..CENT => "<0.01".into(),
        _ => grouped(&decimal::rounded(micros, unit, decimals)),
    }
}

/// What satoshis cost at a price, millionths.
pub fn worth(amount: Sats, price: Price) -> u128 {
    u128::from(amount.0) * u128::from(price.micros) / u128::from(SATS_PER_BTC)
}

/// A whole number in full, and with a letter if it is long.
pub fn whole(number: u64) -> Vec<String> {
    let digits = number.to_string();
    let short = (digits.len() >= LONG).then(|| suffix::suffixed(number, SUFFIXED_WIDTH));
    [grouped(&digits)].into_iter().chain(short).collect()
}

/// A number with a letter, such as `95.43K`.
pub fn suffixed(number: u64) -> String {
    suffix::suffixed(number, SUFFIXED_WIDTH)
}

/// The time of day.
pub fn time_of_day(time: LocalTime, settings: &Settings) -> String {
    let (hour, minute) = (time.hour, time.minute);
    if settings.hide_lead_zero {
        format!("{hour}:{minute:02}")
    } else {
        format!("{hour:02}:{minute:02}")
    }
}

/// An earlier moment: the time of day, or the date if that is not today's.
pub fn moment(earlier: LocalTime, now: LocalTime, settings: &Settings) -> String {
    if day(earlier) == day(now) {
        time_of_day(earlier, settings)
    } else {
        date(earlier)
    }
}

/// The same with its preposition.
pub fn at(earlier: LocalTime, now: LocalTime, settings: &Settings) -> String {
    let preposition = if day(earlier) == day(now) { "at" } else { "on" };
    format!("{preposition} {}", moment(earlier, now, settings))
}

fn day(time: LocalTime) -> (i16, u8, u8) {
    (time.year, time.month, time.day)
}

/// Day and month.
pub fn date(time: LocalTime) -> String {
    format!("{} {}", time.day, month(time))
}

/// Name of the month.
pub fn month(time: LocalTime) -> &'static str {
    let place = usize::from(time.month).saturating_sub(1);
    clock::MONTHS
        .get(place)
        .map_or("", |month| month.template())
}

/// Name of the day of the week.
pub fn weekday(time: LocalTime) -> &'static str {
    WEEKDAYS.get(time.weekday()).copied().unwrap_or_default()
}

/// The first letters of a name of a month or a day of the week.
pub fn short(name: &str) -> &str {
    name.get(..SHORT).unwrap_or(name)
}
