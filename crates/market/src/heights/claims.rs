//! Claimed heights.

use super::{HeightOutcome, Heights, dropped};
use crate::{
    claim_filter::{self, ClaimVerdict},
    limits::CATCH_UP_BLOCKS,
    now::Now,
    source_id::SourceId,
};

impl Heights {
    /// Records a height that a source claims. If there is a proof, the claim is compared with that; otherwise the rules for
    /// claims apply.
    pub fn claim(&mut self, source: SourceId, height: u32, now: Now) -> HeightOutcome {
        self.reports.claim(source, height, now.uptime);
        if self.reports.best_proof().is_some() {
            return self.compare_with_proof(height, now);
        }
        match self.accept(source, height, now) {
            Err(reason) => {
                self.update(now);
                dropped(reason)
            }
            Ok(is_block) => {
                self.accepted.accept(source, height, now.uptime);
                let differs = self.update(now);
                self.accept_others(now);
                HeightOutcome {
                    is_new_block: differs && is_block && self.announce(),
                    dropped: None,
                }
            }
        }
    }

    /// A claim that is ahead of the proof is shown for a while.
    fn compare_with_proof(&mut self, height: u32, now: Now) -> HeightOutcome {
        let before = self.height();
        self.update(now);
        HeightOutcome {
            is_new_block: self.is_new_block(before),
            dropped: match self.height() {
                Some(shown) if shown < height => Some("height-unproven"),
                Some(shown) if shown > height => Some("lower-height"),
                Some(_) | None => None,
            },
        }
    }

    /// Applies the rules for claims; returns whether an accepted height is a new block.
    ///
    /// # Errors
    /// The reason for which the height is not accepted.
    pub(super) fn accept(
        &mut self,
        source: SourceId,
        height: u32,
        now: Now,
    ) -> Result<bool, &'static str> {
        let known = self.verdict.shown.as_ref();
        let known = known.or(self.accepted.datum.as_ref());
        match self.claim_filter.check(known, source, height, now) {
            ClaimVerdict::Lower => Err("lower-height"),
            ClaimVerdict::Ahead => Err("height-ahead"),
            ClaimVerdict::Block => Ok(true),
            ClaimVerdict::First
            | ClaimVerdict::Same
            | ClaimVerdict::CatchUp
            | ClaimVerdict::Corrected => Ok(false),
        }
    }

    /// Accepts claims of other sources that are somewhat above the accepted one, so that the order of reports does not
    /// matter.
    pub(super) fn accept_others(&mut self, now: Now) {
        while let Some(shown) = self.height() {
            let is_near = |height: u32| {
                height > shown
                    && height - shown <= CATCH_UP_BLOCKS
                    && claim_filter::is_possible(height, now.utc)
            };
            let claims = self.reports.claims();
            let near = claims.filter_map(|claim| {
                let datum = claim.datum().filter(|datum| is_near(datum.value))?;
                Some((datum, claim.history.since()))
            });
            let lowest = near.min_by_key(|(datum, _)| (datum.value, datum.source));
            let Some((datum, since)) = lowest else {
                return;
            };
            // It keeps its age, and is accepted no earlier than the one before it.
            let since = since.max(self.accepted.history.since());
            self.accepted
                .accept_datum(datum, since.unwrap_or(now.uptime));
            self.update(now);
        }
    }
}
