//! Parsers of the pools' responses, one per pool software.

use market::{
    PoolStats,
    units::{Hashrate, Sats},
};
use serde_json::Value;

use crate::{malformed::Malformed, refusal, scalar::Scalar};

/// Decimal places of a bitcoin amount.
const BTC_PLACES: usize = 8;

/// Letters of the units of a hashrate with their powers of ten.
const UNITS: &[(&str, usize)] = &[
    ("Z", 21),
    ("E", 18),
    ("P", 15),
    ("T", 12),
    ("G", 9),
    ("M", 6),
    ("K", 3),
    ("", 0),
];

fn hashing(hashrate: Option<Hashrate>) -> PoolStats {
    PoolStats {
        hashrate,
        ..PoolStats::default()
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

/// A hashrate in the unit of this power of ten, as a number or a text; `Ok(None)` if it is absent.
fn hashrate(value: &Value, power: usize) -> Result<Option<Hashrate>, Malformed> {
    let value = Scalar::from(value);
    if value.is_absent() {
        return Ok(None);
    }
    let hashrate = value.scaled(power).ok_or(Malformed("hashrate"))?;
    Ok(Some(Hashrate(hashrate)))
}

/// ckpool: a text such as `1.2T`, `1e+03T` at the top of a unit, without a unit below 1000 H/s.
pub(super) fn ckpool(answer: &Value) -> Result<PoolStats, Malformed> {
    let value = &answer["hashrate1m"];
    let Some(text) = value.as_str() else {
        return Ok(hashing(hashrate(value, 0)?));
    };
    let split = |(unit, power): &(&str, usize)| Some((text.strip_suffix(unit)?, *power));
    let (number, power) = UNITS.iter().find_map(split).unwrap_or((text, 0));
    Ok(hashing(hashrate(&number.into(), power)?))
}

/// public-pool: the sum over all workers.
pub(super) fn public_pool(answer: &Value) -> Result<PoolStats, Malformed> {
    let Some(workers) = answer["workers"].as_array() else {
        return Ok(PoolStats::default());
    };
    let hashrates = workers
        .iter()
        .filter_map(|worker| Scalar::from(&worker["hashRate"]).scaled(0));
    let total = hashrates.fold(0, u128::saturating_add);
    Ok(PoolStats {
        workers: u32::try_from(workers.len()).ok(),
        ..hashing(Some(Hashrate(total)))
    })
}

/// Ocean: the earnings are an estimate for the next block.
pub(super) fn ocean(answer: &Value) -> Result<PoolStats, Malformed> {
    let result = &answer["result"];
    Ok(PoolStats {
        daily: btc(&result["estimated_earn_next_block"]),
        ..hashing(hashrate(&result["hashrate_300s"], 0)?)
    })
}

/// Braiins: a number and its unit, such as `Th/s`.
pub(super) fn braiins(answer: &Value) -> Result<PoolStats, Malformed> {
    let account = &answer["btc"];
    if account.is_null() {
        return Ok(PoolStats::default());
    }
    let unit = account["hash_rate_unit"].as_str();
    let unit = unit.and_then(|unit| unit.strip_suffix("h/s"));
    let (_, power) = UNITS
        .iter()
        .find(|(letter, _)| unit == Some(letter))
        .ok_or(Malformed("unit"))?;
    Ok(PoolStats {
        daily: btc(&account["today_reward"]),
        ..hashing(hashrate(&account["hash_rate_5m"], *power)?)
    })
}

/// Foundry: a list of days, the latest last; an account that has never mined has none.
pub(super) fn foundry(answer: &Value) -> Result<PoolStats, Malformed> {
    let days = [answer, &answer["data"], &answer["result"]]
        .into_iter()
        .find_map(Value::as_array);
    let Some(days) = days else {
        return Ok(PoolStats::default());
    };
    let Some(day) = days.last() else {
        return Ok(PoolStats {
            daily: Some(Sats(0)),
            ..hashing(Some(Hashrate(0)))
        });
    };
    let names = ["hashrate", "shareHashrate", "value", "hashRate"];
    let value = names.into_iter().find_map(|name| day.get(name));
    Ok(PoolStats {
        daily: btc(&day["totalAmount"]),
        ..hashing(hashrate(value.unwrap_or(&Value::Null), 0)?)
    })
}

/// ViaBTC: an error code that must be zero, and an average over an hour.
pub(super) fn viabtc(answer: &Value) -> Result<PoolStats, Malformed> {
    if answer["code"] != 0 {
        return Ok(PoolStats::refused(refusal::full(answer).into()));
    }
    let data = &answer["data"];
    Ok(PoolStats {
        workers: count(&data["active_workers"]),
        ..hashing(hashrate(&data["hashrate_1hour"], 0)?)
    })
}
