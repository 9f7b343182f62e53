//! What is restored after a restart besides the settings: the last screen and the last market data.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use serde_json::{Map, Value, json};

use crate::{
    glass::rotation::RotationSlot,
    limits::{PEER_TEXT_MAX, PEERS_KEPT_MAX},
};
use market::{
    Datum, Figure, FigureIdentity, Market, MinerStats, PoolStats, Prices, Seen,
    now::{Now, UtcTime},
    source_id::SourceId,
    units::{Currency, FeeRate, Hashrate, Msats, Price, Sats},
};

/// What is restored after a restart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Memory {
    /// The last slot shown.
    pub slot: Option<RotationSlot>,
    /// The last market data.
    pub market: Market,
    /// The currencies offered; empty if no list was ever received.
    pub currencies: Vec<Currency>,
    /// Addresses of peers that worked well, best first.
    pub peers: Vec<String>,
}

impl Memory {
    /// The stored form; ages become wall-clock times if the time is known.
    pub fn to_json(&self, now: Now) -> Map<String, Value> {
        let market = &self.market;
        let moment = |seen: Seen| utc_of(seen, now).map_or(Value::Null, |utc| json!(utc.unix_ms));
        let mut map = Map::new();
        if let Some(slot) = self.slot {
            let currency = slot.currency.map(|currency| String::from(currency.code()));
            map.insert(
                "slot".into(),
                json!({"screen": slot.screen, "currency": currency}),
            );
        }
        let codes: Vec<&str> = self.currencies.iter().map(Currency::code).collect();
        map.insert("currencies".into(), json!(codes));
        map.insert("peers".into(), json!(self.peers));
        let mut put = |name: &str, source: SourceId, seen: Seen, value: Value| {
            let entry = json!({"value": value, "source": source.name(), "utcMs": moment(seen)});
            map.insert(name.into(), entry);
        };
        if let Some(height) = &market.height {
            put("height", height.source, height.seen, json!(height.value));
        }
        let mut put_figure = |name: &str, entry: Option<Value>| {
            if let Some(entry) = entry {
                map.insert(name.into(), entry);
            }
        };
        let fee_json = |rate: &FeeRate| json!(rate.micros);
        for (name, fee) in [("fee", &market.fee), ("preciseFee", &market.precise_fee)] {
            put_figure(
                name,
                fee.as_ref().map(|fee| figure_json(fee, fee_json, now)),
            );
        }
        let balance = market.balance.as_ref();
        put_figure(
            "balance",
            balance.map(|figure| figure_json(figure, |value| json!(value.0), now)),
        );
        let pool = market.pool.as_ref();
        put_figure(
            "pool",
            pool.map(|figure| figure_json(figure, pool_json, now)),
        );
        let miner = market.miner.as_ref();
        put_figure(
            "miner",
            miner.map(|figure| figure_json(figure, miner_json, now)),
        );
        let prices: Map<String, Value> = market
            .prices
            .iter()
            .map(|(currency, price)| {
                let entry = json!({
                    "value": price.value.micros,
                    "source": price.source.name(),
                    "utcMs": moment(price.seen),
                });
                (currency.code().into(), entry)
            })
            .collect();
        map.insert("prices".into(), Value::Object(prices));
        map
    }

    /// Reads the stored form; missing or unusable values are skipped.
    pub fn from_json(map: &Map<String, Value>) -> Memory {
        let slot = map.get("slot").and_then(|slot| {
            Some(RotationSlot {
                screen: slot.get("screen")?.as_u64()?.try_into().ok()?,
                currency: slot
                    .get("currency")
                    .and_then(Value::as_str)
                    .and_then(Currency::parse),
            })
        });
        let currencies = map
            .get("currencies")
            .and_then(Value::as_array)
            .map(|codes| {
                codes
                    .iter()
                    .filter_map(|code| Currency::parse(code.as_str()?))
                    .collect()
            })
            .unwrap_or_default();
        let prices = map.get("prices").and_then(Value::as_object);
        let market = Market {
            height: datum(map.get("height"), |value| value.as_u64()?.try_into().ok()),
            fee: figure(map.get("fee"), fee_rate),
            precise_fee: figure(map.get("preciseFee"), fee_rate),
            prices: prices
                .into_iter()
                .flatten()
                .filter_map(|(code, entry)| {
                    let price = datum(Some(entry), |value| Price::of_micros(value.as_u64()?))?;
                    Some((Currency::parse(code)?, price))
                })
                .collect::<Prices>()
                .into(),
            pool: figure(map.get("pool"), pool_stats),
            pool_logo: None,
            miner: figure(map.get("miner"), miner_stats),
            balance: figure(map.get("balance"), |value| Some(Msats(value.as_u64()?))),
        };
        let peers = map.get("peers").and_then(Value::as_array);
        let peers = peers.into_iter().flatten().filter_map(Value::as_str);
        let peers = peers.filter(|peer| peer.len() <= PEER_TEXT_MAX);
        Memory {
            slot,
            market,
            currencies,
            peers: peers.take(PEERS_KEPT_MAX).map(String::from).collect(),
        }
    }
}

/// Wall-clock time at which a value was learned.
pub fn utc_of(seen: Seen, now: Now) -> Option<UtcTime> {
    match seen {
        Seen::Before(utc) => utc,
        Seen::At(uptime) => before(now.uptime.saturating_sub(uptime), now),
        Seen::Aged {
            reported: received,
            age,
        } => before(age + now.uptime.saturating_sub(received), now),
    }
}

/// The wall-clock time this long ago.
fn before(ago: Duration, now: Now) -> Option<UtcTime> {
    let ago_ms = i64::try_from(ago.as_millis()).unwrap_or(i64::MAX);
    let unix_ms = now.utc?.unix_ms.saturating_sub(ago_ms);
    Some(UtcTime { unix_ms })
}

fn datum<T>(entry: Option<&Value>, read: impl Fn(&Value) -> Option<T>) -> Option<Datum<T>> {
    let entry = entry?.as_object()?;
    let source = entry.get("source")?.as_str()?;
    let utc = entry.get("utcMs").and_then(Value::as_i64);
    Some(Datum {
        value: read(entry.get("value")?)?,
        source: *SourceId::ALL.iter().find(|id| id.name() == source)?,
        seen: Seen::Before(utc.map(|unix_ms| UtcTime { unix_ms })),
    })
}

fn figure_json<T>(figure: &Figure<T>, write: impl Fn(&T) -> Value, now: Now) -> Value {
    let datum = &figure.datum;
    json!({
        "value": write(&datum.value),
        "source": datum.source.name(),
        "utcMs": utc_of(datum.seen, now).map(|utc| utc.unix_ms),
        "identity": figure.identity.to_bits(),
    })
}

/// Reads a figure. `None` if it has no identity, because an earlier version stored it.
fn figure<T>(entry: Option<&Value>, read: impl Fn(&Value) -> Option<T>) -> Option<Figure<T>> {
    let identity = entry?.get("identity")?.as_u64()?;
    Some(Figure {
        datum: datum(entry, read)?,
        identity: FigureIdentity::from_bits(identity),
        failed_polls: 0,
    })
}

fn fee_rate(value: &Value) -> Option<FeeRate> {
    Some(FeeRate {
        micros: value.as_u64()?,
    })
}

fn pool_json(stats: &PoolStats) -> Value {
    json!({
        "hashrate": alloc::format!("{}", stats.hashrate.0),
        "dailySats": stats.daily.map(|sats| sats.0),
        "workers": stats.workers,
    })
}

fn pool_stats(value: &Value) -> Option<PoolStats> {
    Some(PoolStats {
        hashrate: Hashrate(value.get("hashrate")?.as_str()?.parse().ok()?),
        daily: value.get("dailySats").and_then(Value::as_u64).map(Sats),
        workers: value
            .get("workers")
            .and_then(Value::as_u64)
            .and_then(|count| count.try_into().ok()),
    })
}

fn miner_json(stats: &MinerStats) -> Value {
    json!({
        "hashrate": stats.hashrate.map(|rate| alloc::format!("{}", rate.0)),
        "bestDifficulty": stats.best_difficulty,
    })
}

fn miner_stats(value: &Value) -> Option<MinerStats> {
    let hashrate = value.get("hashrate").and_then(Value::as_str);
    Some(MinerStats {
        hashrate: hashrate.and_then(|text| text.parse().ok()).map(Hashrate),
        best_difficulty: value
            .get("bestDifficulty")
            .and_then(Value::as_str)
            .map(String::from),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use super::*;

    #[test]
    fn unusable_memory_is_not_remembered() {
        let map = json!({
            "slot": {"screen": "x"}, "height": {"value": -1, "source": "relay"}, "fee": 3,
            "prices": {"usd": {"value": 1, "source": "relay"}, "EUR": {"value": 1, "source": "?"}, "JPY": {"value": 0, "source": "relay"}},
        });
        let Value::Object(map) = map else {
            unreachable!()
        };
        assert_eq!(Memory::from_json(&map), Memory::default());
    }
}
