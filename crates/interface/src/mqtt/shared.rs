//! The market that one clock shares with others at the broker.
//!
//! A value is shared by the clock that has it at first hand: it stands there with the source that said so and the moment
//! at which it did, so that it is as old everywhere as it is there. What a clock has taken from here has another source
//! (`SourceId::Shared`), which is neither written nor read here: it goes no further.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};
use core::time::Duration;

use device::{
    limits::{CURRENCIES_MAX, SHARED_AGE_MAX, SHARED_AHEAD_MAX, SHARED_SILENCE_MAX},
    market::{Datum, Observation, Shared, SharedValue},
    memory::utc_of,
    now::Now,
    sources::SourceId,
    units::{Currency, FeeRate, MICRO, Price, fixed},
    view::View,
};
use serde_json::{Map, Value, json};

/// Decimals of what is shared: all that there are.
const DECIMALS: u32 = 6;

/// What the clock shares; none if it knows nothing at first hand, or not what time it is.
pub fn document(view: &View, id: &str, now: Now) -> Option<Value> {
    fn put<T>(
        object: &mut Map<String, Value>,
        name: &str,
        datum: Option<&Datum<T>>,
        value: impl Fn(&T) -> Value,
        now: Now,
    ) {
        let datum = datum.filter(|datum| datum.source.is_first_hand());
        let learned = datum.and_then(|datum| Some((datum, utc_of(datum.seen, now)?)));
        if let Some((datum, utc)) = learned {
            let entry = json!({
                "value": value(&datum.value),
                "source": datum.source.name(),
                "time": utc.unix_secs(),
            });
            object.insert(name.into(), entry);
        }
    }
    let told = now.utc?.unix_secs();
    let market = &view.market;
    let mut values = Map::new();
    let rate = |rate: &FeeRate| fixed(rate.micros, DECIMALS).into();
    let height = market.height.as_ref();
    put(
        &mut values,
        "height",
        height,
        |height| (*height).into(),
        now,
    );
    put(
        &mut values,
        "fee",
        market.fee.as_ref().map(|fee| &fee.datum),
        rate,
        now,
    );
    put(
        &mut values,
        "preciseFee",
        market.precise_fee.as_ref().map(|fee| &fee.datum),
        rate,
        now,
    );
    let mut prices = Map::new();
    for (currency, price) in market.prices.iter() {
        let amount = |price: &Price| fixed(price.micros, DECIMALS).into();
        put(&mut prices, currency.code(), Some(price), amount, now);
    }
    if values.is_empty() && prices.is_empty() {
        return None;
    }
    values.insert("prices".into(), prices.into());
    values.insert("from".into(), id.into());
    values.insert("chain".into(), view.truth.chain.into());
    values.insert("told".into(), told.into());
    Some(values.into())
}

/// A market that another clock shares, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedMarket {
    /// Which clock it is.
    pub from: String,
    /// Word for its chain.
    chain: String,
    /// When it was told, s since 1970-01-01 UTC.
    told: i64,
    values: Vec<Entry>,
}

/// A value with the source that said so, and when, s since 1970-01-01 UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    value: SharedValue,
    origin: SourceId,
    time: i64,
}

/// Members of the document.
const MEMBERS: &[&str] = &[
    "from",
    "chain",
    "told",
    "height",
    "fee",
    "preciseFee",
    "prices",
];

/// Members of a value.
const ENTRY_MEMBERS: &[&str] = &["value", "source", "time"];

/// Reads what another clock shares.
///
/// # Errors
/// It is not what a clock would write: half of something unknown is not taken. The word is the one under which it is
/// counted.
pub fn read(payload: &[u8]) -> Result<SharedMarket, &'static str> {
    let read: Value = serde_json::from_slice(payload).map_err(|_| "shared-json")?;
    let document = read.as_object().ok_or("shared-json")?;
    only(document, MEMBERS)?;
    let text = |name: &str| document.get(name).and_then(Value::as_str).ok_or(BAD_TYPE);
    let height = document.get("height").map(|told| entry(told, height));
    let fee = document.get("fee").map(|told| entry(told, fee));
    let precise = document
        .get("preciseFee")
        .map(|told| entry(told, precise_fee));
    let told = height.into_iter().chain(fee).chain(precise);
    let mut values = told.collect::<Result<Vec<Entry>, _>>()?;
    let prices = document.get("prices").and_then(Value::as_object);
    let prices = prices.ok_or(BAD_TYPE)?;
    if prices.len() > CURRENCIES_MAX {
        return Err("shared-many");
    }
    for (code, told) in prices {
        let currency = Currency::parse(code).ok_or(BAD_TYPE)?;
        values.push(entry(told, |value| price(currency, value))?);
    }
    Ok(SharedMarket {
        from: text("from")?.to_string(),
        chain: text("chain")?.to_string(),
        told: document
            .get("told")
            .and_then(Value::as_i64)
            .ok_or(BAD_TYPE)?,
        values,
    })
}

/// Word for a member that has not the type or the form that it should have.
const BAD_TYPE: &str = "shared-type";

fn height(value: &Value) -> Option<SharedValue> {
    let height = value.as_u64()?.try_into().ok()?;
    Some(SharedValue::Height(height))
}

fn fee(value: &Value) -> Option<SharedValue> {
    let rate = FeeRate::parse(value.as_str()?)?;
    (rate.micros % MICRO == 0).then_some(SharedValue::Fee(rate))
}

fn precise_fee(value: &Value) -> Option<SharedValue> {
    FeeRate::parse(value.as_str()?).map(SharedValue::PreciseFee)
}

fn price(currency: Currency, value: &Value) -> Option<SharedValue> {
    Some(SharedValue::Price(currency, Price::parse(value.as_str()?)?))
}

fn entry(
    entry: &Value,
    read: impl FnOnce(&Value) -> Option<SharedValue>,
) -> Result<Entry, &'static str> {
    let entry = entry.as_object().ok_or(BAD_TYPE)?;
    only(entry, ENTRY_MEMBERS)?;
    let origin = entry.get("source").and_then(Value::as_str);
    let origin = SourceId::named(origin.ok_or(BAD_TYPE)?);
    Ok(Entry {
        value: entry.get("value").and_then(read).ok_or(BAD_TYPE)?,
        origin: origin
            .filter(|origin| origin.is_first_hand())
            .ok_or("shared-source")?,
        time: entry.get("time").and_then(Value::as_i64).ok_or(BAD_TYPE)?,
    })
}

fn only(object: &Map<String, Value>, members: &[&str]) -> Result<(), &'static str> {
    match object.keys().all(|name| members.contains(&name.as_str())) {
        true => Ok(()),
        false => Err("shared-member"),
    }
}

/// How a market came here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// It stood at the broker, for who knows how long.
    Kept,
    /// It was told as the clock listened, at this uptime.
    Live(Duration),
}

/// What a market that is shared is worth.
#[derive(Debug, Clone, PartialEq)]
pub struct Worth {
    /// Its values, and how much of it was dropped and why.
    pub observations: Vec<Observation>,
    /// Time for which whoever shares it is taken to be there; none if it has been silent for too long.
    pub lasts: Option<Duration>,
}

/// Why a market that is shared is worth nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worthless {
    /// Its age cannot be told as long as nobody knows the time.
    NoTime,
    /// It is not what this clock can use; the word is the one under which it is counted.
    Refused(&'static str),
}

impl SharedMarket {
    /// What it is worth at a moment to a clock of a chain.
    ///
    /// Where the clock does not know the time, what it is told as it listens is as old as the other clock says.
    ///
    /// # Errors
    /// It is worth nothing.
    pub fn worth(&self, chain: &str, reached: Reached, now: Now) -> Result<Worth, Worthless> {
        if self.chain != chain {
            return Err(Worthless::Refused("chain"));
        }
        let told_ms = self.told.saturating_mul(1000);
        let now_ms = match (now.utc, reached) {
            (Some(utc), _) => utc.unix_ms,
            (None, Reached::Live(at)) => {
                let since = now.uptime.saturating_sub(at).as_millis();
                told_ms.saturating_add(i64::try_from(since).unwrap_or(i64::MAX))
            }
            (None, Reached::Kept) => return Err(Worthless::NoTime),
        };
        let told = age(self.told, now_ms).map_err(Worthless::Refused)?;
        let mut observations = Vec::new();
        let mut dropped: BTreeMap<&'static str, u32> = BTreeMap::new();
        for Entry {
            value,
            origin,
            time,
        } in &self.values
        {
            match age(*time, now_ms) {
                Ok(age) => observations.push(Observation::Shared(Shared {
                    origin: *origin,
                    // What is told was known before.
                    age: age.max(told),
                    value: *value,
                })),
                Err(reason) => *dropped.entry(reason).or_default() += 1,
            }
        }
        let dropped = dropped.into_iter();
        observations.extend(dropped.map(|(reason, count)| Observation::Dropped(reason, count)));
        let left = SHARED_SILENCE_MAX.checked_sub(told);
        Ok(Worth {
            observations,
            lasts: left.filter(|left| !left.is_zero()),
        })
    }
}

/// Age of a moment, s since 1970-01-01 UTC; else the word for why it is none that is taken.
fn age(time: i64, now_ms: i64) -> Result<Duration, &'static str> {
    let age_ms = now_ms.saturating_sub(time.saturating_mul(1000));
    let size = Duration::from_millis(age_ms.unsigned_abs());
    match age_ms {
        ..0 if size > SHARED_AHEAD_MAX => Err("future"),
        ..0 => Ok(Duration::ZERO),
        0.. if size > SHARED_AGE_MAX => Err("too-old"),
        0.. => Ok(size),
    }
}
