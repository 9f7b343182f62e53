//! The newest values, each with its source and its age.

use alloc::{collections::BTreeMap, sync::Arc};
use core::time::Duration;

use crate::{
    fees::FeePrecision,
    figures::{self, Figure},
    logo::Logo,
    now::{Now, UtcTime},
    observation::{MinerStats, Observation, PoolStats},
    source_id::SourceId,
    units::{Currency, FeeRate, Msats, Price},
};

/// A value with its source and the time of its report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Datum<T> {
    /// The value.
    pub value: T,
    /// The source.
    pub source: SourceId,
    /// When the source reported it last.
    pub seen: Seen,
}

/// Time at which a value was true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// In this run, at this uptime.
    At(Duration),
    /// Before this run, although it was reported in this run.
    Aged {
        /// Uptime of the report.
        reported: Duration,
        /// Age at that moment.
        age: Duration,
    },
    /// In an earlier run; `None` if the wall clock was not set then.
    Before(Option<UtcTime>),
}

/// Time past the limit from which a value is old. Wall clocks have this resolution.
const OLD_AFTER: Duration = Duration::from_millis(1);

impl Seen {
    /// The time that is `age` before an uptime.
    pub fn ago(age: Duration, uptime: Duration) -> Seen {
        match uptime.checked_sub(age) {
            Some(moment) => Seen::At(moment),
            None => Seen::Aged {
                reported: uptime,
                age,
            },
        }
    }

    /// Uptime up to which the value is no older than a limit; 0 if that was before this run. `None` if it was reported in an
    /// earlier run.
    pub fn lasts_until(self, limit: Duration) -> Option<Duration> {
        match self {
            Seen::At(uptime) => Some(uptime + limit),
            Seen::Aged { reported, age } => Some((reported + limit).saturating_sub(age)),
            Seen::Before(_) => None,
        }
    }

    /// Age at an uptime; `None` if the value was reported in an earlier run.
    pub fn age_at(self, uptime: Duration) -> Option<Duration> {
        match self {
            Seen::At(seen) => Some(uptime.saturating_sub(seen)),
            Seen::Aged { reported, age } => Some(age + uptime.saturating_sub(reported)),
            Seen::Before(_) => None,
        }
    }

    /// Returns whether this time is after another one. All times in earlier runs are equal.
    pub fn is_after(self, other: Seen) -> bool {
        match (self.moment(), other.moment()) {
            (Some(moment), Some(other)) => moment > other,
            (_, None) => true,
            (None, Some(_)) => false,
        }
    }

    /// Nanoseconds after the start; `None` if it was in an earlier run.
    fn moment(self) -> Option<i128> {
        match self {
            Seen::At(uptime) => Some(nanos(uptime)),
            Seen::Aged { reported, age } => Some(nanos(reported) - nanos(age)),
            Seen::Before(_) => None,
        }
    }
}

impl<T> Datum<T> {
    /// Age of the value; `None` if it is unknown.
    pub fn age(&self, now: Now) -> Option<Duration> {
        match self.seen {
            Seen::At(_) | Seen::Aged { .. } => self.seen.age_at(now.uptime),
            Seen::Before(then) => {
                let elapsed_ms = now.utc?.unix_ms.saturating_sub(then?.unix_ms).max(0);
                Some(Duration::from_millis(elapsed_ms.unsigned_abs()))
            }
        }
    }

    /// Uptime from which on the value is older than a limit; `None` if its age is unknown.
    pub fn old_from(&self, limit: Duration, now: Now) -> Option<Duration> {
        let lasts = limit + OLD_AFTER;
        match self.seen {
            Seen::At(_) | Seen::Aged { .. } => self.seen.lasts_until(lasts),
            Seen::Before(then) => {
                let lasts_ms = i64::try_from(lasts.as_millis()).unwrap_or(i64::MAX);
                let old_ms = then?.unix_ms.saturating_add(lasts_ms);
                let left_ms = old_ms.saturating_sub(now.utc?.unix_ms).max(0);
                Some(now.uptime + Duration::from_millis(left_ms.unsigned_abs()))
            }
        }
    }
}

/// Prices by currency.
pub type Prices = BTreeMap<Currency, Datum<Price>>;

/// The newest values of all sources.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Market {
    /// Height of the chain tip.
    pub height: Option<Datum<u32>>,
    /// Fee rate in whole sat/vB.
    pub fee: Option<Figure<FeeRate>>,
    /// Fee rate with its decimals.
    pub precise_fee: Option<Figure<FeeRate>>,
    /// Prices by currency.
    pub prices: Arc<Prices>,
    /// Figures of the mining pool.
    pub pool: Option<Figure<PoolStats>>,
    /// Picture of the pool, with the pool's id as its name.
    pub pool_logo: Option<Arc<Logo>>,
    /// Figures of the miner.
    pub miner: Option<Figure<MinerStats>>,
    /// Balance of the wallet.
    pub balance: Option<Figure<Msats>>,
}

/// A fee rate as a source gives it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fee<'a> {
    /// Without decimals.
    Whole(&'a Figure<FeeRate>),
    /// With decimals.
    Precise(&'a Figure<FeeRate>),
}

impl<'a> Fee<'a> {
    /// The rate as a figure of its source.
    pub fn figure(self) -> &'a Figure<FeeRate> {
        match self {
            Fee::Whole(figure) | Fee::Precise(figure) => figure,
        }
    }

    /// The rate with its source and age.
    pub fn datum(self) -> &'a Datum<FeeRate> {
        &self.figure().datum
    }
}

impl Market {
    /// Returns whether a height, a fee rate or a price is known.
    pub fn knows_chain_or_prices(&self) -> bool {
        let fees = self.fee.is_some() || self.precise_fee.is_some();
        self.height.is_some() || fees || !self.prices.is_empty()
    }

    /// Stores a value that needs no verdict; returns whether it differs from the one before.
    pub fn learn(&mut self, source: SourceId, observation: Observation, seen: Seen) -> bool {
        match observation {
            Observation::Pool(polled) => figures::replace(&mut self.pool, polled, source, seen),
            Observation::Miner(polled) => figures::replace(&mut self.miner, polled, source, seen),
            Observation::Balance(polled) => {
                figures::replace(&mut self.balance, polled, source, seen)
            }
            Observation::PoolLogo(logo) => {
                let differs = self.pool_logo.as_ref() != Some(&logo);
                self.pool_logo = Some(logo);
                differs
            }
            _ => false,
        }
    }

    /// The newest fee rate; of two equally new ones the preferred precision.
    ///
    /// Age goes first, because the setting decides which of the two a source reports.
    pub fn current_fee(&self, preferred: FeePrecision) -> Option<Fee<'_>> {
        let whole = self.fee.as_ref().map(Fee::Whole);
        let precise = self.precise_fee.as_ref().map(Fee::Precise);
        let (preferred, other) = match preferred {
            FeePrecision::Precise => (precise, whole),
            FeePrecision::Whole => (whole, precise),
        };
        match (preferred, other) {
            (Some(preferred), Some(other)) => {
                let newer = newness(other) > newness(preferred);
                Some(if newer { other } else { preferred })
            }
            (preferred, other) => preferred.or(other),
        }
    }
}

/// Orders fee rates by time.
fn newness(fee: Fee<'_>) -> (u8, i128) {
    let seen = fee.datum().seen;
    match seen {
        Seen::At(_) | Seen::Aged { .. } => (2, seen.moment().unwrap_or_default()),
        Seen::Before(Some(moment)) => (1, moment.unix_ms.into()),
        Seen::Before(None) => (0, 0),
    }
}

fn nanos(time: Duration) -> i128 {
    // Half of the range, so that differences do not overflow.
    i128::try_from(time.as_nanos()).unwrap_or(i128::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_age_of_a_value_has_a_limit() {
        const MS: Duration = Duration::from_millis(1);
        const NOON: i64 = 1_767_268_800_000;
        let at = |unix_ms| Some(UtcTime { unix_ms });
        let limit = Duration::from_secs(60);
        let (uptime, now) = (100_000, NOON);
        let rows = [
            (Seen::At(40_000 * MS), at(now), Some(100_001)),
            (Seen::At(90_000 * MS), None, Some(150_001)),
            // Reported 90 s after the start, but true before that.
            (Seen::ago(30_000 * MS, 90_000 * MS), None, Some(120_001)),
            (Seen::ago(95_000 * MS, 90_000 * MS), None, Some(55_001)),
            (Seen::ago(900_000 * MS, 90_000 * MS), None, Some(0)),
            (Seen::Before(at(NOON - 60_000)), at(now), Some(100_001)),
            (Seen::Before(at(NOON - 60_001)), at(now), Some(100_000)),
            (Seen::Before(at(NOON - 900_000)), at(now), Some(100_000)),
            // The wall clock was put back since.
            (Seen::Before(at(NOON + 5_000)), at(now), Some(165_001)),
            (Seen::Before(at(NOON)), None, None),
            (Seen::Before(None), at(now), None),
        ];
        for (seen, utc, old_ms) in rows {
            let now = Now {
                uptime: uptime * MS,
                utc,
            };
            let datum = Datum {
                value: (),
                source: SourceId::Relay,
                seen,
            };
            let old = old_ms.map(|ms: u32| ms * MS);
            assert_eq!(datum.old_from(limit, now), old, "{seen:?}");
        }
    }
}
