//! Parsers of the pools' responses, one per pool software.

use market::units::{Hashrate, Sats};
use serde_json::Value;

use super::Sample;
use crate::{
    malformed::Malformed,
    scalar::{self, Scalar},
};

/// Decimal places of a bitcoin amount.
const BTC_PLACES: usize = 8;

const NO_HASHRATE: Malformed = Malformed("hashrate");

fn sample(hashrate: u128) -> Sample {
    Sample {
        hashrate: Hashrate(hashrate),
        daily: None,
        workers: None,
    }
}

/// Satoshis from an amount in bitcoins.
fn btc(value: &Value) -> Option<Sats> {
    let sats = Scalar::from(value).scaled(BTC_PLACES)?;
    u64::try_from(sats).ok().map(Sats)
}

fn count(value: &Value) -> Option<u32> {
    u32::try_from(Scalar::from(value).scaled(0)?).ok()
}

/// A hashrate in H/s as a number or a text. `Ok(None)` if the text is empty.
fn plain_hashrate(value: &Value) -> Result<Option<u128>, Malformed> {
    let value = Scalar::from(value);
    match &value {
        Scalar::Text(text) if text.is_empty() => Ok(None),
        Scalar::Text(_) | Scalar::Whole(_) | Scalar::Float(_) => {
            value.scaled(0).map(Some).ok_or(NO_HASHRATE)
        }
        Scalar::Nil | Scalar::Odd => Err(NO_HASHRATE),
    }
}

/// ckpool: a text such as `1.2T`.
pub(super) fn ckpool(answer: &Value) -> Result<Option<Sample>, Malformed> {
    let hashrate = answer["hashrate1m"].as_str().and_then(with_suffix);
    Ok(hashrate.filter(|hashrate| *hashrate > 0).map(sample))
}

fn with_suffix(text: &str) -> Option<u128> {
    const SUFFIXES: &[(char, usize)] = &[
        ('Z', 21),
        ('E', 18),
        ('P', 15),
        ('T', 12),
        ('G', 9),
        ('M', 6),
        ('K', 3),
    ];
    let (suffix, places) = SUFFIXES
        .iter()
        .find(|(suffix, _)| text.ends_with(*suffix))?;
    scalar::scaled(text.strip_suffix(*suffix)?, *places)
}

/// public-pool: the sum over all workers.
pub(super) fn public_pool(answer: &Value) -> Result<Option<Sample>, Malformed> {
    let Some(workers) = answer["workers"].as_array() else {
        return Ok(None);
    };
    let hashrates = workers
        .iter()
        .filter_map(|worker| Scalar::from(&worker["hashRate"]).scaled(0));
    let total = hashrates.fold(0, u128::saturating_add);
    Ok((total > 0).then(|| Sample {
        workers: u32::try_from(workers.len()).ok(),
        ..sample(total)
    }))
}

/// Ocean: the earnings are an estimate for the next block.
pub(super) fn ocean(answer: &Value) -> Result<Option<Sample>, Malformed> {
    let result = &answer["result"];
    if result.is_null() {
        return Ok(None);
    }
    let hashrate = plain_hashrate(&result["hashrate_300s"])?;
    Ok(hashrate.map(|hashrate| Sample {
        daily: btc(&result["estimated_earn_next_block"]),
        ..sample(hashrate)
    }))
}

/// Braiins: a number and its unit.
pub(super) fn braiins(answer: &Value) -> Result<Option<Sample>, Malformed> {
    const UNITS: &[(&str, u128)] = &[
        ("Zh/s", 1_000_000_000_000_000_000_000),
        ("Eh/s", 1_000_000_000_000_000_000),
        ("Ph/s", 1_000_000_000_000_000),
        ("Th/s", 1_000_000_000_000),
        ("Gh/s", 1_000_000_000),
        ("Mh/s", 1_000_000),
        ("Kh/s", 1_000),
    ];
    let account = &answer["btc"];
    if account.is_null() {
        return Ok(None);
    }
    let unit = account["hash_rate_unit"]
        .as_str()
        .ok_or(Malformed("unit"))?;
    let (_, unit) = UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .ok_or(Malformed("unit"))?;
    // Rounded before it is scaled, as the pool does.
    let number = Scalar::from(&account["hash_rate_5m"])
        .scaled(0)
        .ok_or(NO_HASHRATE)?;
    let hashrate = number.checked_mul(*unit).ok_or(NO_HASHRATE)?;
    Ok(Some(Sample {
        daily: btc(&account["today_reward"]),
        ..sample(hashrate)
    }))
}

/// Foundry: a list of days, the latest last.
pub(super) fn foundry(answer: &Value) -> Result<Option<Sample>, Malformed> {
    let days = [answer, &answer["data"], &answer["result"]]
        .into_iter()
        .find_map(Value::as_array);
    let Some(day) = days.and_then(|days| days.last()) else {
        return Ok(None);
    };
    let hashrate = ["hashrate", "shareHashrate", "value", "hashRate"]
        .into_iter()
        .find_map(|name| day.get(name))
        .ok_or(NO_HASHRATE)?;
    Ok(plain_hashrate(hashrate)?.map(|hashrate| Sample {
        daily: btc(&day["totalAmount"]),
        ..sample(hashrate)
    }))
}

/// ViaBTC: an error code that must be zero, and an average over an hour.
pub(super) fn viabtc(answer: &Value) -> Result<Option<Sample>, Malformed> {
    let data = &answer["data"];
    if answer["code"] != 0 || data.is_null() {
        return Ok(None);
    }
    let hashrate = plain_hashrate(&data["hashrate_1hour"])?;
    Ok(hashrate.map(|hashrate| Sample {
        workers: count(&data["active_workers"]),
        ..sample(hashrate)
    }))
}
