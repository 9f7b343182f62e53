//! Money and rates as integers. No shown value is computed with floats.

use alloc::{
    format,
    string::{String, ToString},
};
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// Satoshis in one bitcoin.
pub const SATS_PER_BTC: u64 = 100_000_000;

/// Resolution of [`Price`] and [`FeeRate`]: parts of a unit.
pub const MICRO: u64 = 1_000_000;

/// An amount of satoshis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Sats(pub u64);

/// An amount of millisatoshis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Msats(pub u64);

impl From<Sats> for Msats {
    fn from(Sats(sats): Sats) -> Msats {
        Msats(sats.saturating_mul(1000))
    }
}

impl Msats {
    /// Whole satoshis, rounded down.
    pub fn sats(self) -> Sats {
        Sats(self.0 / 1000)
    }
}

/// Price of one bitcoin in a currency, in millionths of the currency's unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Price {
    /// Millionths of the currency's unit.
    pub micros: u64,
}

impl Price {
    /// Largest price that is accepted, in whole units.
    pub const MAX_UNITS: u64 = 1_000_000_000_000;

    /// Reads a decimal number such as `64211.53`; `None` if it is negative, 0, too large or no number.
    pub fn parse(text: &str) -> Option<Price> {
        Price::of_micros(decimal_micros(text, Self::MAX_UNITS)?)
    }

    /// A price of millionths of a unit; `None` if it is 0 or too large.
    pub fn of_micros(micros: u64) -> Option<Price> {
        let is_price = (1..=Self::MAX_UNITS * MICRO).contains(&micros);
        is_price.then_some(Price { micros })
    }

    /// Whole units, rounded half up.
    pub fn rounded(self) -> u64 {
        self.micros / MICRO + u64::from(self.micros % MICRO >= MICRO / 2)
    }
}

impl<'de> Deserialize<'de> for Price {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Price, D::Error> {
        let price = Price::of_micros(u64::deserialize(deserializer)?);
        price.ok_or_else(|| D::Error::custom("no price"))
    }
}

/// Fee rate, in millionths of sat/vB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FeeRate {
    /// Millionths of sat/vB.
    pub micros: u64,
}

impl FeeRate {
    /// Largest fee rate that is accepted, sat/vB.
    pub const MAX_SAT_VB: u64 = 1_000_000_000;

    /// A whole number of sat/vB.
    pub fn whole(sat_vb: u64) -> Option<FeeRate> {
        (sat_vb <= Self::MAX_SAT_VB).then(|| FeeRate {
            micros: sat_vb * MICRO,
        })
    }

    /// Millionths of a sat/vB.
    pub fn of_micros(micros: u64) -> Option<FeeRate> {
        (micros <= Self::MAX_SAT_VB * MICRO).then_some(FeeRate { micros })
    }

    /// Reads a decimal number such as `12.75`; `None` if it is negative, too large or no number.
    pub fn parse(text: &str) -> Option<FeeRate> {
        decimal_micros(text, Self::MAX_SAT_VB).map(|micros| FeeRate { micros })
    }

    /// Whole sat/vB, rounded half up. A rate that would become 0 stays as it is, because no transaction is confirmed without
    /// a fee; 0 becomes 1, because its source rounds or its block is not full.
    #[must_use]
    pub fn rounded(self) -> FeeRate {
        let micros = match self.micros {
            0 => MICRO,
            micros if micros < MICRO / 2 => micros,
            micros => (micros + MICRO / 2) / MICRO * MICRO,
        };
        FeeRate { micros }
    }
}

/// Hashes per second; stored as a text, because many JSON parsers lose digits of such numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Hashrate(pub u128);

impl Serialize for Hashrate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Hashrate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hashrate, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Hashrate).map_err(D::Error::custom)
    }
}

/// Reads a plain decimal (digits, at most one dot) to millionths, rounded half up.
pub fn decimal_micros(text: &str, max_units: u64) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    if whole > max_units {
        return None;
    }
    let mut micros = 0;
    let mut place = MICRO / 10;
    for digit in fraction.bytes().take(6) {
        micros += u64::from(digit - b'0') * place;
        place /= 10;
    }
    if fraction
        .as_bytes()
        .get(6)
        .is_some_and(|digit| *digit >= b'5')
    {
        micros += 1;
    }
    Some(whole * MICRO + micros)
}

/// Writes millionths with a fixed number of decimals (0..=6), rounded half up; with six if they would be rounded to 0.
pub fn fixed(micros: u64, decimals: u32) -> String {
    let step = 10u64.pow(6 - decimals.min(6));
    let scaled = (micros + step / 2) / step;
    if scaled == 0 && micros > 0 {
        return fixed(micros, 6);
    }
    if decimals == 0 {
        return scaled.to_string();
    }
    let unit = 10u64.pow(decimals.min(6));
    format!(
        "{}.{:0width$}",
        scaled / unit,
        scaled % unit,
        width = decimals.min(6) as usize
    )
}

/// ISO 4217 code of a currency: three upper-case letters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

impl Currency {
    /// The US dollar, shown when the owner has chosen no currency.
    pub const USD: Currency = Currency(*b"USD");

    /// Reads a code of three upper-case ASCII letters.
    pub fn parse(code: &str) -> Option<Currency> {
        let bytes: [u8; 3] = code.as_bytes().try_into().ok()?;
        bytes
            .iter()
            .all(u8::is_ascii_uppercase)
            .then_some(Currency(bytes))
    }

    /// The three letters.
    pub fn code(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.code())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.code())
    }
}

impl Serialize for Currency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Currency, D::Error> {
        let currency = Currency::parse(&String::deserialize(deserializer)?);
        currency.ok_or_else(|| D::Error::custom("no currency"))
    }
}
