//! What is known of the market: every value with its source and its age.

use alloc::{collections::BTreeMap, string::String, sync::Arc};
use core::time::Duration;

use crate::{
    cells::Logo,
    now::{Now, UtcTime},
    sources::SourceId,
    units::{Currency, FeeRate, Hashrate, Msats, Price, Sats},
};

/// What a source learned.
#[derive(Debug, Clone, PartialEq)]
pub enum Observation {
    /// Height of the chain tip.
    Block(u32),
    /// Price of one bitcoin.
    Price(Currency, Price),
    /// Fee rate in whole sat/vB.
    Fee(FeeRate),
    /// Fee rate with its decimals.
    PreciseFee(FeeRate),
    /// Figures of the mining pool.
    Pool(PoolStats),
    /// The pool's picture.
    PoolLogo(Arc<Logo>),
    /// Figures of the miner.
    Miner(MinerStats),
    /// A zap receipt whose signature was verified and which passed the gates of amount and age.
    Zap(Zap),
    /// A payment in or out of the wallet.
    Payment(Payment),
    /// Balance of the wallet.
    Balance(Msats),
    /// Currencies the source can serve.
    Currencies(alloc::vec::Vec<Currency>),
    /// The source's connection.
    Connection(Connection),
}

/// State of a source's connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    /// An attempt is under way.
    Connecting,
    /// The first frame was understood, or a poll answered.
    Up,
    /// Lost or not reached; the next attempt comes after `retry_in`.
    Down {
        /// Why, in words fit for people; never with a secret.
        reason: String,
        /// Time until the next attempt.
        retry_in: Duration,
    },
}

/// Figures of a mining pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolStats {
    /// Id of the pool.
    pub pool: String,
    /// Hashes per second.
    pub hashrate: Hashrate,
    /// Earnings of a day; none where the pool has no such figure.
    pub daily: Option<Sats>,
    /// Number of workers, where known.
    pub workers: Option<u32>,
}

/// Figures of a miner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MinerStats {
    /// Hashes per second; none if the miner did not say.
    pub hashrate: Option<Hashrate>,
    /// Best difficulty in the miner's own words.
    pub best_difficulty: Option<String>,
}

/// A zap that may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zap {
    /// Amount, rounded down.
    pub amount: Sats,
    /// Message of the sender; never shown on the panels.
    pub message: String,
}

/// A payment in or out of the wallet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// Direction; none if the wallet did not say.
    pub direction: Option<Direction>,
    /// Amount.
    pub amount: Msats,
}

/// Direction of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Into the wallet.
    Received,
    /// Out of the wallet.
    Sent,
}

/// A value with its source and the moment it was learned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Datum<T> {
    /// The value.
    pub value: T,
    /// Who said so.
    pub source: SourceId,
    /// When the source last said so.
    pub seen: Seen,
}

/// When a value was last learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// In this run, at this uptime.
    At(Duration),
    /// In an earlier run; none if the wall clock was not set then.
    Before(Option<UtcTime>),
}

impl<T> Datum<T> {
    /// Age of the value; none if it cannot be known.
    pub fn age(&self, now: Now) -> Option<Duration> {
        match self.seen {
            Seen::At(uptime) => Some(now.uptime.saturating_sub(uptime)),
            Seen::Before(then) => {
                let elapsed_ms = now.utc?.unix_ms.saturating_sub(then?.unix_ms).max(0);
                Some(Duration::from_millis(elapsed_ms.unsigned_abs()))
            }
        }
    }
}

/// Latest of all observations.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Market {
    /// Height of the chain tip.
    pub height: Option<Datum<u32>>,
    /// Fee rate in whole sat/vB.
    pub fee: Option<Datum<FeeRate>>,
    /// Fee rate with its decimals.
    pub precise_fee: Option<Datum<FeeRate>>,
    /// Prices by currency.
    pub prices: BTreeMap<Currency, Datum<Price>>,
    /// Figures of the mining pool.
    pub pool: Option<Datum<PoolStats>>,
    /// Picture of the pool, with the pool's id as its name.
    pub pool_logo: Option<Arc<Logo>>,
    /// Figures of the miner.
    pub miner: Option<Datum<MinerStats>>,
    /// Balance of the wallet.
    pub balance: Option<Datum<Msats>>,
}
