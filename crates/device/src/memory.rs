//! What is restored after a restart besides the settings: the last screen and the last market data.

use alloc::{collections::BTreeMap, string::String, sync::Arc, vec::Vec};
use core::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    glass::rotation::RotationSlot,
    limits::{PEER_TEXT_MAX, PEERS_KEPT_MAX},
};
use market::{
    Datum, Figure, FigureIdentity, Market, MinerStats, PoolStats, Seen, lenient,
    now::{Now, UtcTime},
    source_id::SourceId,
    units::{Currency, FeeRate, Msats, Price},
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

/// The stored form of [`Memory`].
#[derive(Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct StoredMemory {
    #[serde(deserialize_with = "lenient::value")]
    slot: Option<RotationSlot>,
    #[serde(deserialize_with = "lenient::list")]
    currencies: Vec<Currency>,
    #[serde(deserialize_with = "lenient::list")]
    peers: Vec<String>,
    #[serde(deserialize_with = "lenient::value")]
    height: Option<StoredDatum<u32>>,
    #[serde(deserialize_with = "lenient::value")]
    fee: Option<StoredFigure<FeeRate>>,
    #[serde(deserialize_with = "lenient::value")]
    precise_fee: Option<StoredFigure<FeeRate>>,
    #[serde(deserialize_with = "lenient::value")]
    balance: Option<StoredFigure<Msats>>,
    #[serde(deserialize_with = "lenient::value")]
    pool: Option<StoredFigure<PoolStats>>,
    #[serde(deserialize_with = "lenient::value")]
    miner: Option<StoredFigure<MinerStats>>,
    #[serde(deserialize_with = "lenient::map")]
    prices: BTreeMap<Currency, StoredDatum<Price>>,
}

/// The stored form of a value.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredDatum<T> {
    value: T,
    source: SourceId,
    /// Wall-clock time of the report, if the time was known.
    #[serde(default, deserialize_with = "lenient::value")]
    utc_ms: Option<UtcTime>,
}

/// The stored form of a figure. An earlier version stored figures without an identity; they are not read.
#[derive(Serialize, Deserialize)]
struct StoredFigure<T> {
    #[serde(flatten)]
    datum: StoredDatum<T>,
    identity: FigureIdentity,
}

impl Memory {
    /// The stored form; ages become wall-clock times if the time is known.
    pub fn to_json(&self, now: Now) -> Map<String, Value> {
        let market = &self.market;
        let height = market.height.as_ref();
        let prices = market.prices.iter();
        let stored = StoredMemory {
            slot: self.slot,
            currencies: self.currencies.clone(),
            peers: self.peers.clone(),
            height: height.map(|height| StoredDatum::of(height, now)),
            fee: StoredFigure::of(market.fee.as_ref(), now),
            precise_fee: StoredFigure::of(market.precise_fee.as_ref(), now),
            balance: StoredFigure::of(market.balance.as_ref(), now),
            pool: StoredFigure::of(
                (market.pool.as_ref()).filter(|pool| pool.datum.value.refusal.is_none()),
                now,
            ),
            miner: StoredFigure::of(market.miner.as_ref(), now),
            prices: prices
                .map(|(currency, price)| (*currency, StoredDatum::of(price, now)))
                .collect(),
        };
        json!(stored).as_object().cloned().unwrap_or_default()
    }

    /// Reads the stored form; missing or unusable values are skipped.
    pub fn from_json(map: &Map<String, Value>) -> Memory {
        let stored = StoredMemory::deserialize(map).unwrap_or_default();
        let prices = stored.prices.into_iter();
        let prices = prices.map(|(currency, price)| (currency, price.into()));
        let peers = stored.peers.into_iter();
        let peers = peers.filter(|peer| peer.len() <= PEER_TEXT_MAX);
        Memory {
            slot: stored.slot,
            market: Market {
                height: stored.height.map(Datum::from),
                fee: stored.fee.map(Figure::from),
                precise_fee: stored.precise_fee.map(Figure::from),
                prices: Arc::new(prices.collect()),
                pool: stored.pool.map(Figure::from),
                pool_logo: None,
                miner: stored.miner.map(Figure::from),
                balance: stored.balance.map(Figure::from),
            },
            currencies: stored.currencies,
            peers: peers.take(PEERS_KEPT_MAX).collect(),
        }
    }
}

impl<T: Clone> StoredDatum<T> {
    fn of(datum: &Datum<T>, now: Now) -> StoredDatum<T> {
        StoredDatum {
            value: datum.value.clone(),
            source: datum.source,
            utc_ms: utc_of(datum.seen, now),
        }
    }
}

impl<T: Clone> StoredFigure<T> {
    fn of(figure: Option<&Figure<T>>, now: Now) -> Option<StoredFigure<T>> {
        figure.map(|figure| StoredFigure {
            datum: StoredDatum::of(&figure.datum, now),
            identity: figure.identity,
        })
    }
}

impl<T> From<StoredDatum<T>> for Datum<T> {
    fn from(stored: StoredDatum<T>) -> Datum<T> {
        Datum {
            value: stored.value,
            source: stored.source,
            seen: Seen::Before(stored.utc_ms),
        }
    }
}

impl<T> From<StoredFigure<T>> for Figure<T> {
    fn from(stored: StoredFigure<T>) -> Figure<T> {
        Figure {
            datum: stored.datum.into(),
            identity: stored.identity,
            failed_polls: 0,
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use alloc::string::ToString;

    use super::*;

    fn memory_of(map: Value) -> Memory {
        Memory::from_json(map.as_object().unwrap())
    }

    #[test]
    fn unusable_memory_is_not_remembered() {
        let memory = memory_of(json!({
            "slot": {"screen": "x"}, "height": {"value": -1, "source": "relay"}, "fee": 3,
            "preciseFee": {"value": 1, "source": "relay", "utcMs": null}, "currencies": "USD", "peers": {},
            "prices": {"usd": {"value": 1, "source": "relay"}, "EUR": {"value": 1, "source": "?"}, "JPY": {"value": 0, "source": "relay"}},
            "pool": {"value": 7, "source": "pool", "identity": 7},
        }));
        assert_eq!(memory, Memory::default());
    }

    #[test]
    fn an_unusable_member_is_lost_alone() {
        let memory = memory_of(json!({
            "slot": {"screen": 20, "currency": "euro"},
            "currencies": ["USD", 3, "eur", "JPY"],
            "peers": [null, "192.0.2.7:8333"],
            "height": {"value": 957_123, "source": "relay", "utcMs": "now", "identity": "x"},
            "fee": {"value": 4_700_000, "source": "explorer", "utcMs": null, "identity": u64::MAX},
            "miner": {"value": {"hashrate": "many", "bestDifficulty": "4.29G"}, "source": "miner", "identity": 7},
            "pool": {"value": {"hashrate": u128::MAX.to_string(), "dailySats": -1, "workers": 3}, "source": "pool", "identity": 7},
            "prices": {"USD": {"value": 1, "source": "relay", "utcMs": -5}, "EUR": 7, "?": {"value": 1, "source": "relay"}},
            "later": [],
        }));
        let now = Now {
            uptime: Duration::ZERO,
            utc: None,
        };
        assert_eq!(
            Value::Object(memory.to_json(now)),
            json!({
                "slot": {"screen": 20, "currency": null},
                "currencies": ["USD", "JPY"],
                "peers": ["192.0.2.7:8333"],
                "height": {"value": 957_123, "source": "relay", "utcMs": null},
                "fee": {"value": 4_700_000, "source": "explorer", "utcMs": null, "identity": u64::MAX},
                "preciseFee": null,
                "balance": null,
                "pool": {
                    "value": {"hashrate": u128::MAX.to_string(), "dailySats": null, "workers": 3},
                    "source": "pool", "utcMs": null, "identity": 7,
                },
                "miner": {"value": {"hashrate": null, "bestDifficulty": "4.29G"}, "source": "miner", "utcMs": null, "identity": 7},
                "prices": {"USD": {"value": 1, "source": "relay", "utcMs": -5}},
            })
        );
    }
}
