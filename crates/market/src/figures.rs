//! Figures that are polled from the mining pool, the miner, the wallet and the explorer.
//!
//! A figure belongs to the identity it was polled for. After a change to another identity there is no figure, neither in
//! memory nor on disk, until that identity is polled.

use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    now::Now,
    source_id::SourceId,
    values::{Datum, Market, Seen},
};

/// Failed polls in a row after which a figure is marked as stale.
const STALE_AFTER_POLLS: u32 = 3;

/// Least age of a figure that is marked as stale after failed polls.
const STALE_AFTER_FAILURES: Duration = Duration::from_secs(30);

/// Failed polls in a row after which a pool or a miner is offline: it has no figures any more.
const OFFLINE_AFTER_POLLS: u32 = 6;

/// Poll periods after which a figure is stale although no poll has failed, because the source does not run.
const STALE_AFTER_PERIODS: u32 = 4;

/// Least age of a figure that is stale although no poll has failed.
const STALE_WITHOUT_POLLS: Duration = Duration::from_secs(10 * 60);

/// What a source polls: a wallet, a user of a pool, a miner, or an explorer.
///
/// It is stored as a fingerprint (FNV-1a): a user may be an API key and a host may hold a password, which are not to be stored
/// with the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FigureIdentity(u64);

impl FigureIdentity {
    /// The fingerprint of these parts, in this order.
    pub fn of(parts: &[&str]) -> FigureIdentity {
        const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const PRIME: u64 = 0x0000_0100_0000_01b3;
        // The byte 0xFF is in no text, so that it separates the parts.
        let bytes = parts.iter().flat_map(|part| part.bytes().chain([u8::MAX]));
        FigureIdentity(bytes.fold(OFFSET, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(PRIME)
        }))
    }
}

/// A figure as a source has polled it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Polled<T> {
    /// The identity it was polled for.
    pub identity: FigureIdentity,
    /// The figure.
    pub value: T,
}

/// The newest figure of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure<T> {
    /// The value with its source and its age.
    pub datum: Datum<T>,
    /// The identity it was polled for.
    pub identity: FigureIdentity,
    /// Polls that have failed since.
    pub failed_polls: u32,
}

impl<T> Figure<T> {
    /// Uptime from which on the figure is stale; `None` if its age is unknown.
    pub fn stale_from(&self, age_max: Duration, now: Now) -> Option<Duration> {
        self.datum.old_from(self.lifetime(age_max), now)
    }

    /// Age up to which the figure is fresh; `age_max` if its source answers.
    pub fn lifetime(&self, age_max: Duration) -> Duration {
        match self.failed_polls {
            STALE_AFTER_POLLS.. => age_max.min(STALE_AFTER_FAILURES),
            _ => age_max,
        }
    }
}

/// Age up to which a figure is fresh that is polled this often.
pub fn polled_age_max(poll_secs: u32) -> Duration {
    let periods = Duration::from_secs(u64::from(poll_secs)) * STALE_AFTER_PERIODS;
    periods.max(STALE_WITHOUT_POLLS)
}

impl Market {
    /// Drops the figures that belong to another identity than the one that is polled now, or to a source that is not
    /// polled.
    pub fn retain_figures(&mut self, polled: impl Fn(SourceId) -> Option<FigureIdentity>) {
        let [pool, miner, wallet, explorer] = [
            SourceId::Pool,
            SourceId::Miner,
            SourceId::Wallet,
            SourceId::Explorer,
        ]
        .map(polled);
        self.pool.take_if(|figure| Some(figure.identity) != pool);
        self.miner.take_if(|figure| Some(figure.identity) != miner);
        self.balance
            .take_if(|figure| Some(figure.identity) != wallet);
        for fee in [&mut self.fee, &mut self.precise_fee] {
            fee.take_if(|figure| {
                figure.datum.source == SourceId::Explorer && Some(figure.identity) != explorer
            });
        }
    }

    /// Identities of the figures that are known: of pool, miner and wallet.
    pub fn identities(&self) -> [Option<FigureIdentity>; 3] {
        [
            self.pool.as_ref().map(|figure| figure.identity),
            self.miner.as_ref().map(|figure| figure.identity),
            self.balance.as_ref().map(|figure| figure.identity),
        ]
    }

    /// Counts a failed poll of a source; a pool or a miner that is offline by it loses its figures.
    pub fn poll_failed(&mut self, source: SourceId) {
        if source == SourceId::Pool {
            count_failure(&mut self.pool, Some(OFFLINE_AFTER_POLLS));
        } else if source == SourceId::Miner {
            count_failure(&mut self.miner, Some(OFFLINE_AFTER_POLLS));
        } else if source == SourceId::Wallet {
            count_failure(&mut self.balance, None);
        }
    }
}

/// Makes a polled value the newest figure; returns whether it differs from the one before it.
pub fn replace<T: PartialEq>(
    place: &mut Option<Figure<T>>,
    polled: Polled<T>,
    source: SourceId,
    seen: Seen,
) -> bool {
    let differs = place
        .as_ref()
        .is_none_or(|known| known.datum.value != polled.value);
    *place = Some(Figure {
        datum: Datum {
            value: polled.value,
            source,
            seen,
        },
        identity: polled.identity,
        failed_polls: 0,
    });
    differs
}

fn count_failure<T>(place: &mut Option<Figure<T>>, offline_after: Option<u32>) {
    let Some(figure) = place else { return };
    figure.failed_polls = figure.failed_polls.saturating_add(1);
    if offline_after.is_some_and(|most| figure.failed_polls >= most) {
        *place = None;
    }
}
