//! What a source says: values, notices, and how its connection is.

use alloc::{string::String, sync::Arc, vec::Vec};
use core::time::Duration;

use chain::Header;

use super::figures::Polled;
use crate::{
    logo::Logo,
    now::UtcTime,
    units::{Currency, FeeRate, Hashrate, Msats, Price, Sats},
};

/// What a source learned.
#[derive(Debug, Clone, PartialEq)]
pub enum Observation {
    /// Height of the chain tip.
    Block(u32),
    /// Headers of blocks that follow each other, oldest first.
    Headers {
        /// Height of the newest.
        height: u32,
        /// The headers.
        headers: Vec<Header>,
    },
    /// Price of one bitcoin.
    Price(Currency, Price),
    /// Price of one bitcoin at a venue that is a witness.
    Quote {
        /// In which currency.
        currency: Currency,
        /// The price.
        price: Price,
        /// When it was paid, by the venue's clock; none where it does not say.
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
    /// A zap receipt whose signature was verified and which passed the gates of amount and age.
    Zap(Zap),
    /// A payment in or out of the wallet.
    Payment(Payment),
    /// Balance of the wallet.
    Balance(Polled<Msats>),
    /// Currencies the source can serve.
    Currencies(Vec<Currency>),
    /// Peers that have answered well: where they are, the one to begin with first.
    Peers(Vec<String>),
    /// The peer of a place that is asked no more, while others may be.
    Left(u8),
    /// The source's connection.
    Connection(Connection),
    /// A poll failed although the connection holds.
    PollFailed,
    /// What went wrong although the connection holds, such as bytes that were dropped, in words fit
    /// for people; never with a secret.
    Complaint(String),
    /// What a source sent was dropped for this reason, so many times.
    Dropped(&'static str, u32),
}

impl Observation {
    /// It says something about the world, and not only about the source.
    pub fn is_of_use(&self) -> bool {
        !matches!(
            self,
            Observation::Connection(_)
                | Observation::Complaint(_)
                | Observation::Dropped(..)
                | Observation::Peers(_)
                | Observation::Left(_)
                | Observation::PollFailed
        )
    }
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
