//! Headers: the proofs of heights.

use chain::{Header, rules::HeaderRefusal};

use super::{HeightOutcome, Heights, dropped};
use crate::{
    claim_filter::{self, ClaimFilter},
    header_chain::{HeadersReach, HeadersReply},
    header_run::RunChange,
    height_proof::{ChainPosition, ProofOrigin, Tip},
    height_verdict::HeightPolicy,
    limits::TIP_AGE_MAX,
    now::Now,
    source_id::SourceId,
};

impl Heights {
    /// Adds headers of a source that fetches the chain piece by piece and needs the reply to fetch the next piece.
    ///
    /// They count as a proof only once the newest block has arrived, so that the height does not grow block by block from
    /// the anchor.
    pub fn add_headers(
        &mut self,
        origin: ProofOrigin,
        headers: &[Header],
        reach: HeadersReach,
        now: Now,
    ) -> (HeadersReply, HeightOutcome) {
        let Some(chain) = self.chain.as_mut() else {
            return (HeadersReply::default(), HeightOutcome::default());
        };
        let result = chain.add(headers, now.utc);
        let reply = chain.reply(&result);
        let before = self.height();
        if result.is_new {
            self.update_positions(now);
        }
        match result.refused {
            // The source has a newer block than the last one that could be checked.
            Some(HeaderRefusal::Future) => self.await_time(origin),
            // A source that breaks the rules proves nothing, although the headers before are valid.
            Some(refusal) if refusal.is_fault() => {}
            Some(_) | None => {
                if let Some((tip, position)) = result.last.filter(|_| reach == HeadersReach::Newest)
                {
                    self.prove(origin, tip, position, now);
                }
            }
        }
        self.update(now);
        let outcome = HeightOutcome {
            is_new_block: self.is_new_block(before),
            // The source uses this refusal to find where the chains part.
            dropped: result
                .refused
                .filter(|refusal| *refusal != HeaderRefusal::Unconnected)
                .map(HeaderRefusal::name),
        };
        (reply, outcome)
    }

    /// Records headers that a source reports, the newest at a height.
    ///
    /// They prove the height if they link to the chain or to earlier headers of the source. Otherwise they prove their
    /// work, and their height is a claim.
    pub fn report_headers(
        &mut self,
        source: SourceId,
        height: u32,
        headers: &[Header],
        now: Now,
    ) -> HeightOutcome {
        let Some((chain, first)) = self.chain.as_ref().zip(headers.first()) else {
            return HeightOutcome::default();
        };
        let Some(own) = chain.height_after(&first.prev_blockhash) else {
            return self.report_unlinked_headers(source, height, headers, now);
        };
        if height.checked_sub(headers.len() as u32 - 1) != Some(own) {
            return dropped(HeaderRefusal::Unconnected.name());
        }
        self.runs.remove(&source);
        let (_, outcome) = self.add_headers(source.into(), headers, HeadersReach::Newest, now);
        outcome
    }

    /// Records a proof.
    fn prove(&mut self, origin: ProofOrigin, tip: Tip, position: ChainPosition, now: Now) {
        self.reports.prove(origin, tip, position, now.uptime);
        match position {
            ChainPosition::InChain | ChainPosition::Unlinked => {
                // If the proof expires, claims are compared with it.
                self.accepted.accept(origin.source, tip.height, now.uptime);
                self.claim_filter = ClaimFilter::default();
            }
            ChainPosition::OffChain => {}
        }
        self.update_positions(now);
    }

    /// Updates the position of every proven block relative to the chain.
    fn update_positions(&mut self, now: Now) {
        let Some(chain) = &self.chain else { return };
        let is_current = self.is_current(now);
        self.reports.update_positions(|height, hash, before| {
            if chain.has(height, hash) {
                return ChainPosition::InChain;
            }
            match before {
                ChainPosition::Unlinked if !is_current => ChainPosition::Unlinked,
                ChainPosition::Unlinked | ChainPosition::InChain | ChainPosition::OffChain => {
                    ChainPosition::OffChain
                }
            }
        });
    }

    /// Returns whether a source has proven that the chain reaches the present.
    fn is_current(&self, now: Now) -> bool {
        let age_max = i64::try_from(TIP_AGE_MAX.as_secs()).unwrap_or(i64::MAX);
        let is_fresh = |time: u32| {
            let utc = now.utc.map(|utc| utc.unix_secs());
            utc.is_none_or(|utc| utc - i64::from(time) < age_max)
        };
        self.reports
            .proofs()
            .any(|(_, proof)| proof.position == ChainPosition::InChain && is_fresh(proof.time))
    }

    /// Records headers that do not link to the chain.
    fn report_unlinked_headers(
        &mut self,
        source: SourceId,
        height: u32,
        headers: &[Header],
        now: Now,
    ) -> HeightOutcome {
        let Some(chain) = &self.chain else {
            return HeightOutcome::default();
        };
        if !claim_filter::is_possible(height, now.utc) {
            return dropped("height-ahead");
        }
        let run = self.runs.entry(source).or_default();
        let result = run.add(&chain.recent_spec(), height, headers, now.utc);
        let is_current = self.is_current(now);
        let tip = match result {
            Ok(RunChange::Known) => return HeightOutcome::default(),
            // While the chain is current, other headers must show where they link to it.
            Ok(RunChange::Linked(_) | RunChange::Unlinked(..)) if is_current => {
                self.runs.remove(&source);
                return dropped(HeaderRefusal::Unconnected.name());
            }
            Ok(RunChange::Linked(tip)) => tip,
            Ok(RunChange::Unlinked(tip, run)) => {
                if let Err(reason) = self.accept(source, height, now) {
                    return dropped(reason);
                }
                self.runs.insert(source, run);
                tip
            }
            Err(refusal) => {
                if refusal == HeaderRefusal::Future {
                    self.await_time(source.into());
                    self.update(now);
                }
                return dropped(refusal.name());
            }
        };
        let before = self.height();
        self.reports.claim(source, height, now.uptime);
        self.prove(source.into(), tip, ChainPosition::Unlinked, now);
        self.update(now);
        HeightOutcome {
            is_new_block: self.is_new_block(before),
            dropped: None,
        }
    }

    /// Drops the older proof of a source whose newest header cannot be checked yet, so that its claims count meanwhile.
    fn await_time(&mut self, origin: ProofOrigin) {
        if self.policy() == HeightPolicy::AllowClaims {
            self.reports.remove_proof(origin);
        }
    }
}
