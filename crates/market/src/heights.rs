//! The block height: reports and headers of all sources, and the height that follows from them.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};
use core::{mem, time::Duration};

use chain::{Header, Work, chain::Chain, network::Network, rules::HeaderRefusal};

use super::{
    doubts,
    headers::{HeadersReach, Judged, KeptChain, Reorganisations},
    height::{self, HeightGate, HeightNews},
    limits::{CATCH_UP_BLOCKS, CLOCK_STEP_MIN, LEAD_BLOCKS, TIP_AGE_MAX},
    now::{Now, UtcTime},
    proof::{ChainSpec, HeaderRun, Shown},
    since::Since,
    source_id::SourceId,
    truth::{Doubt, HeightState, HeightTruth, Proven},
    until::Until,
    values::{Datum, Seen},
    verdict::{self, Admits, Believed, HeightVerdict},
    voices::{ChainPosition, Proof, ProofOrigin, Tip, Trail, Voices},
};

/// What the settings demand of a height.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeightRules {
    /// Whether a claim may be shown.
    pub admits: Admits,
    /// Doubtful heights are marked.
    pub marks: bool,
    /// A source that can prove a height is planned. Only then a claim is marked.
    pub proof: bool,
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
    chain: Option<KeptChain>,
    voices: Voices,
    gate: HeightGate,
    /// Checked headers of each source whose headers do not reach the chain.
    runs: BTreeMap<SourceId, HeaderRun>,
    believed: Believed,
    rules: HeightRules,
    verdict: HeightVerdict,
    /// A block was proven when the verdict was made.
    was_proven: bool,
    weak: Since,
    doubts: Vec<Doubt>,
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
        let believed = Believed {
            datum: known.filter(|known| height::is_possible(known.value, now.utc)),
            trail: Trail::default(),
        };
        let (voices, anchor) = (Voices::default(), chain.as_ref().map(|chain| &chain.anchor));
        let verdict = verdict::height(&voices, None, &believed, anchor, rules.admits, now);
        let mut heights = Heights {
            chain: chain.map(KeptChain::new),
            voices,
            gate: HeightGate::default(),
            runs: BTreeMap::new(),
            believed,
            rules,
            verdict,
            was_proven: false,
            weak: Since::default(),
            doubts: Vec::new(),
            announced: None,
            wall: now.start(),
        };
        heights.update(now);
        heights
    }

    /// Continues the chain of an earlier run. Ignored if the blocks are invented.
    pub fn resume(&mut self, chain: Chain) {
        if let Some(kept) = &mut self.chain {
            kept.resume(chain);
        }
    }

    /// Replaces the rules. [`Heights::update`] applies them.
    pub fn set_rules(&mut self, rules: HeightRules) {
        self.rules = rules;
    }

    /// The chain of headers; `None` if the blocks are invented.
    pub fn chain(&self) -> Option<&Chain> {
        self.chain.as_ref().map(KeptChain::chain)
    }

    /// Network and anchor of the chain; `None` if the blocks are invented.
    pub fn spec(&self) -> Option<&ChainSpec> {
        self.chain.as_ref().map(KeptChain::spec)
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

    /// The height to store: the one shown or, if that is withheld until it is proven, the one believed.
    pub fn remembered(&self) -> Option<&Datum<u32>> {
        self.shown().or(self.believed.datum.as_ref())
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
    pub fn doubts(&self) -> &[Doubt] {
        &self.doubts
    }

    /// How the height is proven, as the screens show it.
    pub fn truth(&self, now: Now) -> HeightTruth {
        let proven = self.best_proof().map(|proof| {
            let tip = proof.tip();
            let minute = |secs: i64| secs.div_euclid(60);
            // Whole minutes of the wall clock, because all screens turn with them.
            let made = minute(tip.time.into());
            let age = now.utc.map(|utc| minute(utc.unix_secs()) - made);
            let [first, second, ..]: [u8; 32] = *tip.hash.as_ref();
            Proven {
                agreeing: self.voices.with(tip).count(),
                // Hashes are written with their last byte first.
                hash_end: u16::from_le_bytes([first, second]),
                // The time of a block may be somewhat ahead.
                age_mins: age.map(|age| u64::try_from(age).unwrap_or_default()),
            }
        });
        HeightTruth {
            state: self.verdict.state,
            proven,
        }
    }

    /// Number of sources with a claim or a proof.
    pub fn source_count(&self) -> usize {
        self.voices.count()
    }

    /// The best proven block.
    pub fn proven(&self) -> Option<Tip> {
        self.best_proof().map(|proof| proof.tip())
    }

    /// Newest proven block of each source that has proven any.
    pub fn proofs(&self) -> Vec<(SourceId, Tip)> {
        let witnesses = self.voices.witnesses();
        let proofs = witnesses.map(|(origin, proof)| (origin.source, proof.tip()));
        proofs.collect()
    }

    /// Work up to and including a block; `None` unless it is the newest of the chain.
    pub fn work(&self, tip: Tip) -> Option<Work> {
        self.chain.as_ref()?.work(tip.hash)
    }

    /// Reorganisations in this run.
    pub fn reorganisations(&self) -> Reorganisations {
        let chain = self.chain.as_ref();
        chain.map(KeptChain::reorganisations).unwrap_or_default()
    }

    /// The heights that sources claim.
    pub fn claims(&self) -> Vec<Claimed> {
        let claims = self.voices.claims().filter_map(|claim| claim.datum());
        let claims = claims.map(|datum| Claimed {
            source: datum.source,
            height: datum.value,
            seen: datum.seen,
        });
        claims.collect()
    }

    /// Uptime at which the verdict changes without a report.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.verdict.until
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
        self.voices.come(source);
    }

    /// Records that the connection of a source is lost.
    pub fn disconnect(&mut self, source: SourceId) {
        self.voices.leave(source);
    }

    /// Records that one peer of a source is no longer connected.
    pub fn disconnect_peer(&mut self, origin: ProofOrigin) {
        self.voices.part(origin);
    }

    /// Records that a source starts again, possibly with other peers.
    pub fn restart(&mut self, source: SourceId) {
        self.voices.begin_anew(source);
    }

    /// Drops all that a source has reported.
    pub fn remove(&mut self, source: SourceId) {
        self.voices.forget(source);
        self.runs.remove(&source);
    }

    /// Records a height that a source claims. It is held to the rules for claims or, if there is a proof, to that.
    pub fn claim(&mut self, source: SourceId, height: u32, now: Now) -> HeightOutcome {
        self.voices.claim(source, height, now.uptime);
        if self.voices.best().is_some() {
            return self.claim_beside_proof(height, now);
        }
        match self.accept(source, height, now) {
            Err(reason) => {
                self.update(now);
                dropped(reason)
            }
            Ok(is_block) => {
                self.believed.take(source, height, now.uptime);
                let differs = self.update(now);
                self.accept_others(now);
                HeightOutcome {
                    is_new_block: differs && is_block && self.announce(),
                    dropped: None,
                }
            }
        }
    }

    /// Checks headers of a source that fetches the chain piece by piece and needs the answer to fetch the next piece.
    ///
    /// They count as a proof only once the newest block has arrived: nobody wants to watch the chain grow from its
    /// anchor.
    pub fn judge(
        &mut self,
        origin: ProofOrigin,
        headers: &[Header],
        reach: HeadersReach,
        now: Now,
    ) -> (Judged, HeightOutcome) {
        let Some(kept) = self.chain.as_mut() else {
            return (Judged::default(), HeightOutcome::default());
        };
        let result = kept.hear(headers, now.utc);
        let judged = kept.judged(&result);
        let before = self.height();
        if result.is_new {
            self.place_proofs(now);
        }
        match result.refused {
            // The source has a newer block than the last one that could be checked.
            Some(HeaderRefusal::Future) => self.wait_for_time(origin),
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
        (judged, outcome)
    }

    /// Records headers that a source reports, the newest at a height.
    ///
    /// They prove the height if they link to the chain, or to earlier headers of the source. Others prove their work, and
    /// that they are at their height is a claim.
    pub fn report_headers(
        &mut self,
        source: SourceId,
        height: u32,
        headers: &[Header],
        now: Now,
    ) -> HeightOutcome {
        let Some((kept, first)) = self.chain.as_ref().zip(headers.first()) else {
            return HeightOutcome::default();
        };
        let Some(own) = kept.height_after(&first.prev_blockhash) else {
            return self.report_loose_headers(source, height, headers, now);
        };
        if height.checked_sub(headers.len() as u32 - 1) != Some(own) {
            return dropped(HeaderRefusal::Unconnected.name());
        }
        self.runs.remove(&source);
        let (_, outcome) = self.judge(source.into(), headers, HeadersReach::Newest, now);
        outcome
    }

    /// Decides again which height is shown; returns whether it is another one.
    pub fn update(&mut self, now: Now) -> bool {
        let before = self.height();
        let mut until = Until::after(now.uptime);
        // Proofs of sources that do not go on from them expire, unless only proofs may be shown.
        if self.admits() == Admits::Claims {
            let planned = &self.rules.planned;
            self.voices
                .expire(|source| planned.contains(&source), &mut until);
        }
        self.make_verdict(until.first(), now);
        let is_proven = self.voices.best().is_some();
        if mem::replace(&mut self.was_proven, is_proven) && !is_proven {
            self.accept_others(now);
        }
        self.height() != before
    }

    fn make_verdict(&mut self, until: Option<Duration>, now: Now) {
        let anchor = self.chain.as_ref().map(|chain| &chain.spec().anchor);
        self.wall = now.start();
        let (floor, admits) = (self.floor(), self.admits());
        let verdict = verdict::height(&self.voices, floor, &self.believed, anchor, admits, now);
        doubts::follow_height(&mut self.weak, verdict.state, now.uptime);
        self.doubts = match self.chain {
            Some(_) => doubts::of_height(&verdict, self.weak, &self.rules),
            // Invented blocks mislead nobody.
            None => Vec::new(),
        };
        self.verdict = verdict;
        let deadlines = [self.verdict.until, until].into_iter().flatten();
        self.verdict.until = deadlines.min();
        // A block that turned out not to exist must not silence the real ones.
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
        let (_, proof) = verdict::proof(&self.voices, self.floor())?;
        Some(proof)
    }

    fn floor(&self) -> Option<Tip> {
        self.chain.as_ref().and_then(KeptChain::floor)
    }

    /// What may be shown. Invented blocks cannot be proven.
    fn admits(&self) -> Admits {
        match self.chain {
            Some(_) => self.rules.admits,
            None => Admits::Claims,
        }
    }

    /// A claim that is ahead of the proof is shown for a while.
    fn claim_beside_proof(&mut self, height: u32, now: Now) -> HeightOutcome {
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

    /// Applies the rules for claims; returns whether an accepted height is a new block.
    ///
    /// # Errors
    /// The reason for which the height is not accepted.
    fn accept(&mut self, source: SourceId, height: u32, now: Now) -> Result<bool, &'static str> {
        let known = self.verdict.shown.as_ref();
        let known = known.or(self.believed.datum.as_ref());
        match self.gate.judge(known, source, height, now) {
            HeightNews::Lower => Err("lower-height"),
            HeightNews::Ahead => Err("height-ahead"),
            HeightNews::Block => Ok(true),
            HeightNews::First | HeightNews::Same | HeightNews::CatchUp | HeightNews::Corrected => {
                Ok(false)
            }
        }
    }

    /// Accepts claims of other sources that are somewhat above the accepted one, so that the order of reports does not
    /// matter.
    fn accept_others(&mut self, now: Now) {
        while let Some(shown) = self.height() {
            let is_near = |height: u32| {
                height > shown
                    && height - shown <= CATCH_UP_BLOCKS
                    && height::is_possible(height, now.utc)
            };
            let claims = self.voices.claims();
            let near = claims.filter_map(|claim| {
                let datum = claim.datum().filter(|datum| is_near(datum.value))?;
                Some((datum, claim.trail.since()))
            });
            let lowest = near.min_by_key(|(datum, _)| (datum.value, datum.source));
            let Some((datum, since)) = lowest else {
                return;
            };
            // It keeps its age, and is accepted no earlier than the one before it.
            let since = since.max(self.believed.trail.since());
            self.believed.take_datum(datum, since.unwrap_or(now.uptime));
            self.update(now);
        }
    }

    /// Records a proof.
    fn prove(&mut self, origin: ProofOrigin, tip: Tip, position: ChainPosition, now: Now) {
        self.voices.prove(origin, tip, position, now.uptime);
        match position {
            ChainPosition::InChain | ChainPosition::Loose => {
                // If the proof is withdrawn, claims are compared with it.
                self.believed.take(origin.source, tip.height, now.uptime);
                self.gate = HeightGate::default();
            }
            ChainPosition::Beside => {}
        }
        self.place_proofs(now);
    }

    /// Updates the position of every proven block relative to the chain.
    fn place_proofs(&mut self, now: Now) {
        let Some(kept) = &self.chain else { return };
        let is_current = self.is_current(now);
        self.voices.place(|height, hash, before| {
            if kept.has(height, hash) {
                return ChainPosition::InChain;
            }
            match before {
                ChainPosition::Loose if !is_current => ChainPosition::Loose,
                ChainPosition::Loose | ChainPosition::InChain | ChainPosition::Beside => {
                    ChainPosition::Beside
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
        self.voices
            .proofs()
            .any(|(_, proof)| proof.standing == ChainPosition::InChain && is_fresh(proof.time))
    }

    /// Headers that do not link to the chain.
    fn report_loose_headers(
        &mut self,
        source: SourceId,
        height: u32,
        headers: &[Header],
        now: Now,
    ) -> HeightOutcome {
        let Some(kept) = &self.chain else {
            return HeightOutcome::default();
        };
        if !height::is_possible(height, now.utc) {
            return dropped("height-ahead");
        }
        let run = self.runs.entry(source).or_default();
        let result = run.hear(&kept.recent(), height, headers, now.utc);
        let is_current = self.is_current(now);
        let tip = match result {
            Ok(Shown::Known) => return HeightOutcome::default(),
            // While the chain is current, other headers must show where they link to it.
            Ok(Shown::Linked(_) | Shown::Loose(..)) if is_current => {
                self.runs.remove(&source);
                return dropped(HeaderRefusal::Unconnected.name());
            }
            Ok(Shown::Linked(tip)) => tip,
            Ok(Shown::Loose(tip, run)) => {
                if let Err(reason) = self.accept(source, height, now) {
                    return dropped(reason);
                }
                self.runs.insert(source, run);
                tip
            }
            Err(refusal) => {
                if refusal == HeaderRefusal::Future {
                    self.wait_for_time(source.into());
                    self.update(now);
                }
                return dropped(refusal.name());
            }
        };
        let before = self.height();
        self.voices.claim(source, height, now.uptime);
        self.prove(source.into(), tip, ChainPosition::Loose, now);
        self.update(now);
        HeightOutcome {
            is_new_block: self.is_new_block(before),
            dropped: None,
        }
    }

    /// Drops the older proof of a source whose newest header cannot be checked yet, so that its claims count meanwhile.
    fn wait_for_time(&mut self, origin: ProofOrigin) {
        if self.admits() == Admits::Claims {
            self.voices.withdraw(origin);
        }
    }
}

fn dropped(reason: &'static str) -> HeightOutcome {
    HeightOutcome {
        is_new_block: false,
        dropped: Some(reason),
    }
}
