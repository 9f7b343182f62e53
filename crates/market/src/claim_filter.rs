//! Decides which claimed heights are accepted while there is no proof.
//!
//! The height grows, and no faster than time allows. A claim ahead of that needs a confirmation: another source near it, or
//! the same source with claims that keep growing as a chain does. So a single absurd report is not accepted, and no error is
//! permanent.

use alloc::collections::BTreeMap;
use core::time::Duration;

use crate::{
    limits::{CATCH_UP_BLOCKS, CLAIM_STEP_MIN, CLAIMS_ACCEPTED, REGRESSIONS_ACCEPTED},
    now::{Now, UtcTime},
    source_id::SourceId,
    values::{Datum, Seen},
};

/// The fourth halving: a height with a known time.
const ANCHOR_HEIGHT: u32 = 840_000;

/// Time of the block at [`ANCHOR_HEIGHT`].
const ANCHOR_TIME: UtcTime = UtcTime {
    unix_ms: 1_713_571_767_000,
};

/// Time between two blocks that the network aims at.
const BLOCK_TIME: Duration = Duration::from_secs(600);

/// Assumed time since the anchor if the wall clock is not set.
const LIFETIME: Duration = Duration::from_secs(25 * 365 * 24 * 60 * 60);

/// Verdict on a claimed height.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimVerdict {
    /// Accepted as the first height that this clock knows.
    First,
    /// Accepted: the height that is known.
    Same,
    /// Accepted: a new block, or a few.
    Block,
    /// Accepted: so many blocks that the clock was away. Causes no flash and no change of the screen.
    CatchUp,
    /// Accepted although lower than the known height, which must have been wrong.
    Corrected,
    /// Refused: lower than the known height, or 0.
    Lower,
    /// Refused: ahead of what time allows, and not confirmed.
    Ahead,
}

/// Applies the rules for claims.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClaimFilter {
    lower: u32,
    lower_reports: u32,
    ahead: BTreeMap<SourceId, AheadClaim>,
}

/// The newest claim of a source that is ahead of what time allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AheadClaim {
    height: u32,
    /// Number of claims that were higher than the one before and at least [`CLAIM_STEP_MIN`] later.
    steps: u32,
    /// Uptime of the newest of them.
    stepped: Duration,
}

impl ClaimFilter {
    /// Decides whether a claim is accepted, given the known height.
    pub fn check(
        &mut self,
        known: Option<&Datum<u32>>,
        source: SourceId,
        claimed: u32,
        now: Now,
    ) -> ClaimVerdict {
        if claimed == 0 {
            return ClaimVerdict::Lower;
        }
        if claimed > allowed(known, now) {
            if !is_possible(claimed, now.utc) || !self.is_confirmed(source, claimed, now.uptime) {
                return ClaimVerdict::Ahead;
            }
            *self = ClaimFilter::default();
            return match known {
                None => ClaimVerdict::First,
                Some(_) => ClaimVerdict::CatchUp,
            };
        }
        self.ahead.remove(&source);
        let Some(known) = known else {
            return ClaimVerdict::First;
        };
        if claimed >= known.value {
            self.lower_reports = 0;
            return match claimed - known.value {
                0 => ClaimVerdict::Same,
                1..=CATCH_UP_BLOCKS => ClaimVerdict::Block,
                _ => ClaimVerdict::CatchUp,
            };
        }
        self.check_lower(known, claimed)
    }

    /// A lower height is refused, but lower heights that keep growing are accepted after [`REGRESSIONS_ACCEPTED`] blocks.
    fn check_lower(&mut self, known: &Datum<u32>, claimed: u32) -> ClaimVerdict {
        let from_earlier_run = matches!(known.seen, Seen::Before(_));
        if from_earlier_run && known.value - claimed > CATCH_UP_BLOCKS {
            return ClaimVerdict::Corrected;
        }
        if claimed > self.lower || self.lower_reports == 0 {
            self.lower = claimed;
            self.lower_reports += 1;
        }
        if self.lower_reports >= REGRESSIONS_ACCEPTED {
            *self = ClaimFilter::default();
            return ClaimVerdict::Corrected;
        }
        ClaimVerdict::Lower
    }

    /// Returns whether a claim ahead of time is confirmed, and stores it to confirm later ones.
    fn is_confirmed(&mut self, source: SourceId, claimed: u32, uptime: Duration) -> bool {
        let near = |claim: &AheadClaim| claim.height.abs_diff(claimed) <= CATCH_UP_BLOCKS;
        let mut others = self.ahead.iter().filter(|(id, _)| **id != source);
        if others.any(|(_, claim)| near(claim)) {
            return true;
        }
        let first = AheadClaim {
            height: claimed,
            steps: 1,
            stepped: uptime,
        };
        let claim = self.ahead.entry(source).or_insert(first);
        if claimed < claim.height || !near(claim) {
            *claim = first;
        } else if claimed > claim.height {
            claim.height = claimed;
            // A counter grows too, but faster than a chain.
            if uptime.saturating_sub(claim.stepped) >= CLAIM_STEP_MIN {
                claim.stepped = uptime;
                claim.steps += 1;
            }
        }
        claim.steps >= CLAIMS_ACCEPTED
    }
}

/// Returns whether the chain can have this height at all.
pub fn is_possible(height: u32, utc: Option<UtcTime>) -> bool {
    height <= ceiling(None).max(ceiling(utc))
}

/// The greatest height that needs no confirmation.
fn allowed(known: Option<&Datum<u32>>, now: Now) -> u32 {
    let by_clock = ceiling(now.utc);
    let Some(known) = known else {
        return by_clock;
    };
    let by_age = |blocks: u32| known.value.saturating_add(blocks + CATCH_UP_BLOCKS);
    match known.age(now) {
        // The wall clock is wrong, and must not cause every block to be refused.
        Some(age) if known.value > by_clock => by_age(blocks_in(age)),
        // Many small steps must not lead beyond the wall clock.
        Some(age) => by_age(blocks_in(age)).min(by_clock),
        None => by_clock.max(by_age(0)),
    }
}

/// The greatest height that the wall clock allows.
fn ceiling(utc: Option<UtcTime>) -> u32 {
    // A wall clock from before the anchor is not set.
    let elapsed = utc.map_or(-1, |utc| utc.unix_ms - ANCHOR_TIME.unix_ms);
    let elapsed = u64::try_from(elapsed).map_or(LIFETIME, Duration::from_millis);
    ANCHOR_HEIGHT + blocks_in(elapsed) + CATCH_UP_BLOCKS
}

/// Largest number of blocks to expect in a time.
///
/// While the hash rate grows, there are a few more blocks than one every ten minutes. An eighth is more than in any year
/// since the anchor.
fn blocks_in(time: Duration) -> u32 {
    let aimed = time.as_secs() / BLOCK_TIME.as_secs();
    // The limit is far below half of the range, so that sums do not overflow.
    u32::try_from(aimed + aimed / 8).map_or(u32::MAX / 4, |blocks| blocks.min(u32::MAX / 4))
}

#[cfg(test)]
mod tests;
