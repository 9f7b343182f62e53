//! What a source reports: values, warnings, and the state of its connection.

use alloc::{string::String, sync::Arc, vec::Vec};
use core::time::Duration;

use chain::Header;
use serde::{Deserialize, Serialize};

use crate::{
    figures::Polled,
    lenient,
    logo::Logo,
    now::UtcTime,
    units::{Currency, FeeRate, Hashrate, Msats, Price, Sats},
};

/// A report of a source.
#[derive(Debug, Clone, PartialEq)]
pub enum Observation {
    /// Height of the chain tip.
    Block(u32),
    /// Linked headers, oldest first.
    Headers {
        /// Height of the newest.
        height: u32,
        /// The headers.
        headers: Vec<Header>,
    },
    /// Price of one bitcoin at the primary source.
    Price(Currency, Price),
    /// Price of one bitcoin at a venue that is a witness.
    Quote {
        /// The currency.
        currency: Currency,
        /// The price.
        price: Price,
        /// Time of the trade by the clock of the venue; `None` if the venue does not report it.
        at: Option<UtcTime>,
    },
    /// Fee rate in whole sat/vB.
    Fee(FeeRate),
    /// Fee rate with its decimals.
    PreciseFee(FeeRate),
    /// Figures of the mining pool.
    Pool(Polled<PoolStats>),
    /// The pool's picture.
    PoolLogo(Arc<Logo>),
    /// Figures of the miner.
    Miner(Polled<MinerStats>),
    /// A zap receipt with a verified signature that passed the limits of amount and age.
    Zap(Zap),
    /// A payment in or out of the wallet.
    Payment(Payment),
    /// Balance of the wallet.
    Balance(Polled<Msats>),
    /// Currencies the source can serve.
    Currencies(Vec<Currency>),
    /// Addresses of peers that have answered well, the best first.
    Peers(Vec<String>),
    /// The peer with this index is no longer connected; others may be.
    PeerDisconnected(u8),
    /// State of the connection.
    Connection(Connection),
    /// A poll failed although the connection is up.
    PollFailed,
    /// What went wrong although the connection is up, such as dropped bytes, as a text for people; never with a secret.
    Complaint(String),
    /// Messages of the source were dropped: the reason, and their number.
    Dropped(&'static str, u32),
}

impl Observation {
    /// Returns whether it has data, and not only the state of the source.
    pub fn is_data(&self) -> bool {
        !matches!(
            self,
            Observation::Connection(_)
                | Observation::Complaint(_)
                | Observation::Dropped(..)
                | Observation::Peers(_)
                | Observation::PeerDisconnected(_)
                | Observation::PollFailed
        )
    }
}

/// State of a source's connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    /// An attempt is under way.
    Connecting,
    /// The first frame was decoded, or a poll has succeeded.
    Up,
    /// Lost or not established; the next attempt is after `retry_in`.
    Down {
        /// Why, as a text for people; never with a secret.
        reason: String,
        /// Time until the next attempt.
        retry_in: Duration,
    },
}

/// Figures of a mining pool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PoolStats {
    /// Hashes per second, if known.
    #[serde(default, deserialize_with = "lenient::value")]
    pub hashrate: Option<Hashrate>,
    /// Earnings of a day; `None` if the pool has no such figure.
    #[serde(rename = "dailySats", default, deserialize_with = "lenient::value")]
    pub daily: Option<Sats>,
    /// Number of workers, if known.
    #[serde(default, deserialize_with = "lenient::value")]
    pub workers: Option<u32>,
    /// Why the pool has no figures for the user, in the pool's words; not stored.
    #[serde(skip)]
    pub refusal: Option<String>,
}

impl PoolStats {
    /// The answer of a pool that has no figures for the user.
    pub fn refused(words: String) -> PoolStats {
        PoolStats {
            refusal: Some(words),
            ..PoolStats::default()
        }
    }
}

/// Figures of a miner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MinerStats {
    /// Hashes per second, if known.
    #[serde(default, deserialize_with = "lenient::value")]
    pub hashrate: Option<Hashrate>,
    /// Best difficulty as the miner formats it.
    #[serde(default, deserialize_with = "lenient::value")]
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
    /// Direction, if known.
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
