//! The block height: the reports of all sources, and the height that is shown.
//!
//! `claims` handles claimed heights, `headers` headers, `marks` decides when the height is marked.

mod claims;
mod headers;
mod marks;

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};
use core::{mem, time::Duration};

use chain::{Work, chain::Chain, network::Network};

use crate::{
    claim_filter::{self, ClaimFilter},
    condition_timer::ConditionTimer,
    header_chain::{ChainSpec, HeaderChain, Reorganisations},
    header_run::HeaderRun,
    height_history::HeightHistory,
    height_proof::{Proof, ProofOrigin, Tip},
    height_reports::HeightReports,
    height_verdict::{self, AcceptedHeight, HeightPolicy, HeightVerdict},
    limits::{CATCH_UP_BLOCKS, CLOCK_STEP_MIN, LEAD_BLOCKS},
    next_deadline::NextDeadline,
    now::{Now, UtcTime},
    source_id::SourceId,
    truth::{HeightState, HeightTruth, MarkReason, Proven},
    values::{Datum, Seen},
};

/// What the settings demand of a height.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeightRules {
    /// Whether a claim may be shown.
    pub policy: HeightPolicy,
    /// Doubtful heights are marked.
    pub marks: bool,
    /// A source that can prove a height is planned. Only then a claim is marked.
    pub has_prover: bool,
    /// The planned sources.
    pub planned: BTreeSet<SourceId>,
}

/// A height that a source claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claimed {
    /// The source.
    pub source: SourceId,
    /// The height.
    pub height: u32,
    /// When the source reported it first.
    pub seen: Seen,
}

/// What a report of a source changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeightOutcome {
    /// The height shown is a new block, or a few.
    pub is_new_block: bool,
    /// Why the report was dropped.
    pub dropped: Option<&'static str>,
}

/// All that is known of the height.
#[derive(Debug, Clone)]
pub struct Heights {
    /// The chain that is followed; `None` if the blocks are invented.
    chain: Option<HeaderChain>,
    reports: HeightReports,
    claim_filter: ClaimFilter,
    /// Checked headers of each source whose headers do not reach the chain.
    runs: BTreeMap<SourceId, HeaderRun>,
    accepted: AcceptedHeight,
    rules: HeightRules,
    verdict: HeightVerdict,
    /// A block was proven when the verdict was made.
    was_proven: bool,
    weak: ConditionTimer,
    mark_reasons: Vec<MarkReason>,
    /// The highest block that was reported as new.
    announced: Option<u32>,
    /// Wall clock at the start of the device, as known when the verdict was made.
    wall: Option<UtcTime>,
}

impl Heights {
    /// Starts with the height of an earlier run.
    pub fn new(
        chain: Option<ChainSpec>,
        known: Option<Datum<u32>>,
        rules: HeightRules,
        now: Now,
    ) -> Heights {
        let accepted = AcceptedHeight {
            datum: known.filter(|known| claim_filter::is_possible(known.value, now.utc)),
            history: HeightHistory::default(),
        };
        let reports = HeightReports::default();
        let anchor = chain.as_ref().map(|chain| &chain.anchor);
        let verdict = height_verdict::decide(&reports, None, &accepted, anchor, rules.policy, now);
        let mut heights = Heights {
            chain: chain.map(HeaderChain::new),
            reports,
            claim_filter: ClaimFilter::default(),
            runs: BTreeMap::new(),
            accepted,
            rules,
            verdict,
            was_proven: false,
            weak: ConditionTimer::default(),
            mark_reasons: Vec::new(),
            announced: None,
            wall: now.start(),
        };
        heights.update(now);
        heights
    }

    /// Continues the chain of an earlier run. Ignored if the blocks are invented.
    pub fn resume(&mut self, chain: Chain) {
        if let Some(known) = &mut self.chain {
            known.resume(chain);
        }
    }

    /// Replaces the rules. [`Heights::update`] applies them.
    pub fn set_rules(&mut self, rules: HeightRules) {
        self.rules = rules;
    }

    /// The chain of headers; `None` if the blocks are invented.
    pub fn chain(&self) -> Option<&Chain> {
        self.chain.as_ref().map(HeaderChain::chain)
    }

    /// Network and anchor of the chain; `None` if the blocks are invented.
    pub fn spec(&self) -> Option<&ChainSpec> {
        self.chain.as_ref().map(HeaderChain::spec)
    }

    /// Network of the chain; `None` if the blocks are invented.
    pub fn network(&self) -> Option<Network> {
        self.spec().map(|spec| spec.network)
    }

    /// Median time of the newest blocks, Unix seconds; `None` if too few are known.
    pub fn median_time(&self) -> Option<u32> {
        self.chain().and_then(Chain::median_time)
    }

    /// The height that is shown.
    pub fn shown(&self) -> Option<&Datum<u32>> {
        self.verdict.shown.as_ref()
    }

    /// The height to store: the one shown or, if that is withheld until it is proven, the accepted one.
    pub fn remembered(&self) -> Option<&Datum<u32>> {
        self.shown().or(self.accepted.datum.as_ref())
    }

    /// How good the height is.
    pub fn state(&self) -> HeightState {
        self.verdict.state
    }

    /// Whether doubtful values are marked. Invented ones never are.
    pub fn are_marked(&self) -> bool {
        self.rules.marks && self.chain.is_some()
    }

    /// Reasons for marks on the height.
    pub fn mark_reasons(&self) -> &[MarkReason] {
        &self.mark_reasons
    }

    /// How the height is proven, as the screens show it.
    pub fn truth(&self, now: Now) -> HeightTruth {
        let proven = self.proven();
        HeightTruth {
            state: self.verdict.state,
            proven: proven.map(|tip| Proven::new(tip, self.reports.origins_of(tip).count(), now)),
        }
    }

    /// The best proven block.
    pub fn proven(&self) -> Option<Tip> {
        self.best_proof().map(|proof| proof.tip())
    }

    /// Newest proven block of each source that has proven any.
    pub fn proofs(&self) -> Vec<(SourceId, Tip)> {
        let counted = self.reports.counted_proofs();
        let proofs = counted.map(|(origin, proof)| (origin.source, proof.tip()));
        proofs.collect()
    }

    /// Work up to and including a block; `None` unless it is the newest of the chain.
    pub fn work(&self, tip: Tip) -> Option<Work> {
        self.chain.as_ref()?.work(tip.hash)
    }

    /// Reorganisations in this run.
    pub fn reorganisations(&self) -> Reorganisations {
        let chain = self.chain.as_ref();
        chain.map(HeaderChain::reorganisations).unwrap_or_default()
    }

    /// The heights that sources claim.
    pub fn claims(&self) -> Vec<Claimed> {
        let claims = self.reports.claims().filter_map(|claim| claim.datum());
        let claims = claims.map(|datum| Claimed {
            source: datum.source,
            height: datum.value,
            seen: datum.seen,
        });
        claims.collect()
    }

    /// Uptime at which the verdict changes without a report.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.verdict.next_deadline
    }

    /// Returns whether the wall clock was set since the verdict was made.
    pub fn is_clock_stepped(&self, now: Now) -> bool {
        match self.wall.zip(now.start()) {
            Some((before, after)) => {
                let step_ms = before.unix_ms.abs_diff(after.unix_ms);
                Duration::from_millis(step_ms) > CLOCK_STEP_MIN
            }
            None => self.wall.is_some() != now.start().is_some(),
        }
    }

    /// Records that a source is connected.
    pub fn connect(&mut self, source: SourceId) {
        self.reports.connect(source);
    }

    /// Records that the connection of a source is lost.
    pub fn disconnect(&mut self, source: SourceId) {
        self.reports.disconnect(source);
    }

    /// Records that one peer of a source is no longer connected.
    pub fn disconnect_peer(&mut self, origin: ProofOrigin) {
        self.reports.disconnect_peer(origin);
    }

    /// Records that a source starts again, possibly with other peers.
    pub fn restart(&mut self, source: SourceId) {
        self.reports.restart(source);
    }

    /// Drops all that a source has reported.
    pub fn remove(&mut self, source: SourceId) {
        self.reports.remove(source);
        self.runs.remove(&source);
    }

    /// Decides again which height is shown; returns whether it is another one.
    pub fn update(&mut self, now: Now) -> bool {
        let before = self.height();
        let mut deadline = NextDeadline::after(now.uptime);
        // If only proofs may be shown, they do not expire.
        if self.policy() == HeightPolicy::AllowClaims {
            self.reports.expire(&self.rules.planned, &mut deadline);
        }
        self.make_verdict(deadline.first(), now);
        let is_proven = self.reports.best_proof().is_some();
        if mem::replace(&mut self.was_proven, is_proven) && !is_proven {
            self.accept_others(now);
        }
        self.height() != before
    }

    fn make_verdict(&mut self, deadline: Option<Duration>, now: Now) {
        let anchor = self.chain.as_ref().map(|chain| &chain.spec().anchor);
        self.wall = now.start();
        let (floor, policy) = (self.resumed_tip(), self.policy());
        self.verdict =
            height_verdict::decide(&self.reports, floor, &self.accepted, anchor, policy, now);
        let deadlines = [self.verdict.next_deadline, deadline].into_iter().flatten();
        self.verdict.next_deadline = deadlines.min();
        self.weak
            .set(marks::is_weak(self.verdict.state), now.uptime);
        self.mark_reasons = match self.chain {
            Some(_) => marks::reasons(&self.verdict, self.weak.since(), &self.rules),
            // Invented blocks need no mark.
            None => Vec::new(),
        };
        // A block that turned out not to exist must not keep real ones from being announced.
        let announced = self.announced.zip(self.height());
        if announced.is_some_and(|(announced, shown)| shown.saturating_add(LEAD_BLOCKS) < announced)
        {
            self.announced = None;
        }
    }

    fn height(&self) -> Option<u32> {
        self.shown().map(|shown| shown.value)
    }

    /// The best proof. It is at least as high as the newest block of an earlier run, if that is in the chain.
    fn best_proof(&self) -> Option<Proof> {
        let (_, proof) = height_verdict::best_proof(&self.reports, self.resumed_tip())?;
        Some(proof)
    }

    fn resumed_tip(&self) -> Option<Tip> {
        self.chain.as_ref().and_then(HeaderChain::resumed_tip)
    }

    /// What may be shown. Invented blocks cannot be proven.
    fn policy(&self) -> HeightPolicy {
        match self.chain {
            Some(_) => self.rules.policy,
            None => HeightPolicy::AllowClaims,
        }
    }

    /// Returns whether the height that is shown is a new block, or a few, and was not announced before.
    fn is_new_block(&mut self, before: Option<u32>) -> bool {
        let step = self.height().zip(before);
        let step = step.map_or(0, |(after, before)| after.saturating_sub(before));
        (1..=CATCH_UP_BLOCKS).contains(&step) && self.announce()
    }

    /// Returns whether the height was not announced before. A claim may be withdrawn until it is proven, and a
    /// reorganisation repeats heights.
    fn announce(&mut self) -> bool {
        let height = self.height();
        let is_new = self.announced.is_none() || height > self.announced;
        if is_new {
            self.announced = height;
        }
        is_new
    }
}

fn dropped(reason: &'static str) -> HeightOutcome {
    HeightOutcome {
        is_new_block: false,
        dropped: Some(reason),
    }
}
