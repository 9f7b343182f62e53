//! The verdict on the height: which height is shown, and how good it is. It depends on the reports alone.
//!
//! A claim never overrules a proof. It may be slightly ahead of the proof for a while, because a number arrives before the
//! header. A source that contradicts the shown height for longer makes it disputed.

use core::time::Duration;

use chain::anchor::Anchor;

use crate::{
    height_history::HeightHistory,
    height_proof::{ChainPosition, Proof, ProofOrigin, Tip},
    height_reports::{HeightClaim, HeightReports},
    limits::{CONTEST_TIME, LEAD_BLOCKS, RIVAL_TIME, TIP_AGE_MAX},
    next_deadline::NextDeadline,
    now::Now,
    source_id::SourceId,
    truth::HeightState,
    values::{Datum, Seen},
};

/// The claimed height that has passed the rules for claims.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AcceptedHeight {
    /// The newest height; at the start, that of an earlier run.
    pub datum: Option<Datum<u32>>,
    /// The heights accepted in this run.
    pub history: HeightHistory,
}

impl AcceptedHeight {
    /// Accepts a height that was reported now.
    pub fn accept(&mut self, source: SourceId, height: u32, uptime: Duration) {
        let datum = Datum {
            value: height,
            source,
            seen: Seen::At(uptime),
        };
        self.accept_datum(datum, uptime);
    }

    /// Accepts a height that was reported earlier.
    pub fn accept_datum(&mut self, datum: Datum<u32>, uptime: Duration) {
        self.history.record(datum.value, uptime);
        self.datum = Some(datum);
    }
}

/// The height that is shown, and how good it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeightVerdict {
    /// The height that is shown.
    pub shown: Option<Datum<u32>>,
    /// How good it is.
    pub state: HeightState,
    /// A source has contradicted it for too long, or it is below the anchor of the chain.
    pub is_contested: bool,
    /// It was reported in this run.
    pub is_of_this_run: bool,
    /// Uptime at which the verdict changes without a report.
    pub next_deadline: Option<Duration>,
}

/// What may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeightPolicy {
    /// Claims and proofs.
    AllowClaims,
    /// Only blocks that are proven and link to the chain.
    RequireProof,
}

/// The best proof and its source. It is at least as high as `floor`, a block of the chain that an earlier run has proven.
pub fn best_proof(reports: &HeightReports, floor: Option<Tip>) -> Option<(SourceId, Proof)> {
    let (source, proof) = reports.best_proof()?;
    Some((source, proof.raised_to(floor)))
}

/// Decides which height is shown. A claim below the anchor is contested; `anchor` is `None` if there is no chain.
pub fn decide(
    reports: &HeightReports,
    floor: Option<Tip>,
    accepted: &AcceptedHeight,
    anchor: Option<&Anchor>,
    policy: HeightPolicy,
    now: Now,
) -> HeightVerdict {
    let mut deadline = NextDeadline::after(now.uptime);
    let proof = best_proof(reports, floor).filter(|(_, proof)| match policy {
        HeightPolicy::AllowClaims => true,
        // The height of an unlinked block is a claim.
        HeightPolicy::RequireProof => proof.position != ChainPosition::Unlinked,
    });
    let proof = proof.as_ref().map(|(source, proof)| (*source, proof));
    let lead = match policy {
        HeightPolicy::AllowClaims => {
            proof.and_then(|(_, proof)| leading_claim(reports, proof, &mut deadline))
        }
        HeightPolicy::RequireProof => None,
    };
    let (shown, history) = match (lead, proof, policy) {
        (Some(claim), ..) => (claim.datum(), &claim.history),
        (None, Some((source, proof)), _) => (Some(proof.datum(source)), &proof.history),
        (None, None, HeightPolicy::AllowClaims) => (accepted.datum.clone(), &accepted.history),
        (None, None, HeightPolicy::RequireProof) => (None, &accepted.history),
    };
    let best = proof.map(|(_, proof)| proof);
    let shown_proof = best.filter(|_| lead.is_none());
    let mut contested = false;
    let state = match &shown {
        None => HeightState::Unknown,
        Some(shown) => {
            let is_below_anchor =
                shown_proof.is_none() && anchor.is_some_and(|anchor| shown.value + 1 < anchor.next);
            contested = is_contested(reports, best, history, &mut deadline) || is_below_anchor;
            let block_time = shown_proof.map(|proof| proof.time);
            if is_stale(shown, history, block_time, now, &mut deadline) {
                HeightState::Stale
            } else if contested {
                HeightState::Disputed
            } else {
                match shown_proof {
                    None => HeightState::Claimed,
                    // Without the time, the block may be one of the future.
                    Some(proof) if now.utc.is_some() && is_agreed(reports, proof) => {
                        HeightState::Proven
                    }
                    Some(_) => HeightState::Alone,
                }
            }
        }
    };
    HeightVerdict {
        shown,
        state,
        is_contested: contested,
        is_of_this_run: history.since().is_some(),
        next_deadline: deadline.first(),
    }
}

/// The highest claim that is slightly ahead of the proof. A claim may lead for a limited time.
fn leading_claim<'a>(
    reports: &'a HeightReports,
    proof: &Proof,
    deadline: &mut NextDeadline,
) -> Option<&'a HeightClaim> {
    let ahead = proof.height() + 1..=proof.height().saturating_add(LEAD_BLOCKS);
    let height = |claim: &HeightClaim| claim.history.height();
    let is_ahead =
        |claim: &&HeightClaim| height(claim).is_some_and(|height| ahead.contains(&height));
    let proven = proof.history.since().unwrap_or_default();
    let mut best: Option<&HeightClaim> = None;
    for claim in reports.claims().filter(is_ahead) {
        // A claim that falls back in between does not get more time.
        let above = claim.history.above_since(proof.height(), proven);
        let differs = claim.history.differs_since(&proof.history);
        let since = above.into_iter().chain(differs).min();
        let is_over = since.is_some_and(|since| deadline.has_passed(since + CONTEST_TIME));
        if !is_over && best.is_none_or(|best| height(claim) > height(best)) {
            best = Some(claim);
        }
    }
    best
}

/// Returns whether the owner's node or two other origins have the block.
fn is_agreed(reports: &HeightReports, proof: &Proof) -> bool {
    let is_node = |origin: ProofOrigin| origin.source == SourceId::Node;
    reports.origins_of(proof.tip()).any(is_node) || reports.origins_of(proof.tip()).count() > 1
}

/// Returns whether a source has contradicted the shown height for too long.
fn is_contested(
    reports: &HeightReports,
    best: Option<&Proof>,
    shown: &HeightHistory,
    deadline: &mut NextDeadline,
) -> bool {
    let claims = reports.claims().map(|claim| (&claim.history, CONTEST_TIME));
    // An older block of the chain is no contradiction.
    let unlinked = reports
        .connected_proofs()
        .filter(|proof| proof.position == ChainPosition::Unlinked);
    let proofs = unlinked.map(|proof| (&proof.history, RIVAL_TIME));
    let mut is_contested = false;
    for (history, patience) in claims.chain(proofs) {
        let since = match shown.height() {
            Some(_) => history.differs_since(shown),
            // The shown height is from an earlier run.
            None => history.since(),
        };
        is_contested |= since.is_some_and(|since| deadline.has_passed(since + patience));
    }
    for rival in reports.connected_proofs() {
        let is_rival = best
            .is_some_and(|best| rival.hash != best.hash && is_high_enough(rival, best.height()));
        let since = rival.history.since().filter(|_| is_rival);
        is_contested |= since.is_some_and(|since| deadline.has_passed(since + RIVAL_TIME));
    }
    is_contested
}

/// Returns whether a block is high enough to compete with the best one.
fn is_high_enough(rival: &Proof, best: u32) -> bool {
    match rival.position {
        ChainPosition::InChain | ChainPosition::Unlinked => rival.height() == best,
        ChainPosition::OffChain => rival.height() >= best,
    }
}

/// Returns whether the height, the newest change of it, or the block is too old.
fn is_stale(
    shown: &Datum<u32>,
    history: &HeightHistory,
    block_time: Option<u32>,
    now: Now,
    deadline: &mut NextDeadline,
) -> bool {
    let Some(since) = history.since() else {
        return true;
    };
    let old_from = shown.old_from(TIP_AGE_MAX, now);
    let is_old = old_from.is_some_and(|old| deadline.has_passed(old));
    let is_unchanged = deadline.has_passed(since + TIP_AGE_MAX);
    let left = now.utc.zip(block_time).map(|(utc, block_time)| {
        let fresh_ms = i64::from(block_time) * 1000 + TIP_AGE_MAX.as_millis() as i64;
        Duration::from_millis(fresh_ms.saturating_sub(utc.unix_ms).max(0).unsigned_abs())
    });
    let is_old_block = left.is_some_and(|left| deadline.has_passed(now.uptime + left));
    is_old || is_unchanged || is_old_block
}
