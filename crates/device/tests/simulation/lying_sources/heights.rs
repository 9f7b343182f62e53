//! Reference implementation of the rules for heights, from all claims and proofs, second by second.
//!
//! It gets the same inputs as the device but reads no result of the device. It knows which blocks are valid, because the
//! test mined them.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use market::{HeightState, ProofOrigin, source_id::SourceId};

use super::blocks::{BlockId, Blocks, Flaw};

/// How long a source may contradict the shown height, s.
pub const PATIENCE: u64 = 120;

/// How long two blocks may compete, s.
const RIVALRY: u64 = 600;

/// Age of a stale height, s.
const OLD: u64 = 90 * 60;

/// The values of a source, each with its first second.
type History<T> = Vec<(u64, T)>;

/// The expected result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    pub shown: u32,
    pub state: HeightState,
    pub contested: bool,
}

/// All claims and proofs.
#[derive(Debug)]
pub struct Heights {
    pub now: u64,
    /// Unix time, s. `None` if it is unknown.
    pub unix: Option<i64>,
    /// Only proofs count.
    pub strict: bool,
    /// Enabled sources.
    pub enabled: BTreeSet<SourceId>,
    disconnected: BTreeSet<SourceId>,
    /// Disconnected peers, while other peers are connected.
    left_peers: BTreeSet<ProofOrigin>,
    /// Sources that were disconnected and have sent no proof since.
    unproven: BTreeSet<SourceId>,
    claims: BTreeMap<SourceId, History<u32>>,
    proofs: BTreeMap<ProofOrigin, History<(u32, BlockId)>>,
    /// The longest chain; of two equally long ones the first.
    chain: Vec<BlockId>,
    /// Last time of each height.
    last_seen: BTreeMap<u32, u64>,
    /// The newest block of the explorer may not link to the chain: the result is not checked then.
    pub unlinked: bool,
    /// No checks until this second.
    unchecked_until: u64,
}

impl Heights {
    pub fn new(enabled: BTreeSet<SourceId>) -> Heights {
        Heights {
            now: 0,
            unix: None,
            strict: false,
            enabled,
            disconnected: BTreeSet::new(),
            left_peers: BTreeSet::new(),
            unproven: BTreeSet::new(),
            claims: BTreeMap::new(),
            proofs: BTreeMap::new(),
            chain: vec![0],
            last_seen: BTreeMap::new(),
            unlinked: false,
            unchecked_until: 0,
        }
    }

    pub fn claim(&mut self, source: SourceId, height: u32) {
        self.disconnected.remove(&source);
        self.last_seen.insert(height, self.now);
        record(self.claims.entry(source).or_default(), self.now, height);
    }

    /// A source sends blocks; the last one is its newest.
    pub fn prove(&mut self, origin: ProofOrigin, ids: &[BlockId], blocks: &Blocks) {
        let is_early = |id: &BlockId| {
            let is_known = self.chain.contains(id);
            !is_known && self.unix.is_some_and(|unix| blocks.time(*id) > unix + 7200)
        };
        let is_flawed = |id: &&BlockId| blocks.flaw(**id).is_some();
        let may_be_early = |id: BlockId| matches!(blocks.flaw(id), None | Some(Flaw::OldVersion));
        let bad = ids.iter().position(|id| is_flawed(&id) || is_early(id));
        let waits = bad.is_some_and(|bad| is_early(&ids[bad]) && may_be_early(ids[bad]));
        let good = &ids[..bad.unwrap_or(ids.len())];
        let before = blocks.parent(ids[0]);
        let Some(fork) = self.chain.iter().position(|id| *id == before) else {
            return self.prove_unlinked(origin, ids, blocks);
        };
        let longer = [&self.chain[..=fork], good].concat();
        if longer.len() > self.chain.len() {
            self.chain = longer;
        }
        match bad {
            // A source with a block from the future may be right, and the wall clock wrong.
            Some(_) if waits => self.wait_for_time(origin),
            Some(_) => {}
            None => {
                self.disconnected.remove(&origin.source);
                if self.unproven.remove(&origin.source) {
                    let before = self.proofs.keys().filter(|it| it.source == origin.source);
                    self.left_peers.extend(before);
                }
                self.left_peers.remove(&origin);
                self.link(origin.source);
                let tip = ids[ids.len() - 1];
                let history = self.proofs.entry(origin).or_default();
                record(history, self.now, (blocks.height(tip), tip));
                self.last_seen.insert(blocks.height(tip), self.now);
            }
        }
    }

    /// Blocks that do not link to the chain: those of an explorer count if there is no better source.
    fn prove_unlinked(&mut self, origin: ProofOrigin, ids: &[BlockId], blocks: &Blocks) {
        let unix = self.unix;
        let is_early = |id: BlockId| unix.is_some_and(|unix| blocks.time(id) > unix + 7200);
        let has_work =
            |id: BlockId| !matches!(blocks.flaw(id), Some(Flaw::NoWork | Flaw::OldVersion));
        let bad = ids.iter().find(|id| !has_work(**id) || is_early(**id));
        let waits = |id: BlockId| blocks.flaw(id) != Some(Flaw::NoWork) && is_early(id);
        let is_fresh = |id: BlockId| unix.is_none_or(|unix| unix - blocks.time(id) < OLD as i64);
        let tips = self.proofs.values().filter_map(|history| history.last());
        let is_current = tips
            .map(|(_, (_, id))| *id)
            .any(|id| self.chain.contains(&id) && is_fresh(id));
        match bad {
            _ if origin.source != SourceId::Explorer => {}
            Some(id) if waits(*id) => self.wait_for_time(origin),
            Some(_) => {}
            None => self.unlinked |= !is_current,
        }
    }

    fn wait_for_time(&mut self, origin: ProofOrigin) {
        if !self.strict {
            self.proofs.remove(&origin);
            self.link(origin.source);
        }
    }

    /// The blocks of the explorer link to the chain again. The age of its proof is unknown for a while.
    fn link(&mut self, source: SourceId) {
        if self.unlinked && source == SourceId::Explorer {
            self.unlinked = false;
            self.unchecked_until = self.now + OLD;
        }
    }

    pub fn disconnect(&mut self, source: SourceId) {
        self.claims.remove(&source);
        self.disconnected.insert(source);
        self.unproven.insert(source);
        self.left_peers.retain(|origin| origin.source != source);
    }

    /// A peer disconnects: its proof stays, but it no longer agrees or disputes.
    pub fn disconnect_peer(&mut self, origin: ProofOrigin) {
        if !self.disconnected.contains(&origin.source) {
            self.left_peers.insert(origin);
        }
    }

    pub fn reconnect(&mut self, source: SourceId) {
        self.disconnected.remove(&source);
    }

    /// A source is disabled.
    pub fn disable(&mut self, source: SourceId) {
        self.enabled.remove(&source);
        self.claims.remove(&source);
        self.disconnected.remove(&source);
        self.unproven.remove(&source);
        self.left_peers.retain(|origin| origin.source != source);
        self.proofs.retain(|origin, _| origin.source != source);
    }

    /// Removes old proofs of disconnected sources.
    pub fn advance(&mut self) {
        let (enabled, disconnected) = (&self.enabled, &self.disconnected);
        let is_connected =
            |source: SourceId| enabled.contains(&source) && !disconnected.contains(&source);
        let (now, strict) = (self.now, self.strict);
        self.proofs.retain(|origin, history| {
            strict
                || is_connected(origin.source)
                || since(history, |(height, _)| height) + OLD > now
        });
    }

    /// The highest proven height.
    pub fn proven(&self, blocks: &Blocks) -> u32 {
        let tips = self.proofs.values().map(|history| newest(history).0);
        let chain = self.chain.iter().map(|id| blocks.height(*id));
        tips.chain(chain).max().unwrap()
    }

    /// When any source has reported a height last.
    pub fn last_seen(&self, height: u32) -> Option<u64> {
        self.last_seen.get(&height).copied()
    }

    /// The lowest acceptable height without proofs: claims a few blocks higher are believed.
    pub fn claimed(&self, shown: u32) -> Option<u32> {
        let is_known = !self.unlinked && self.now >= self.unchecked_until;
        let is_open = self.proofs.is_empty() && is_known && !self.strict;
        let claims = self.claims.values().map(newest);
        let claims = claims.filter(|claim| is_open && (shown..=shown + 100).contains(claim));
        claims.max()
    }

    /// The shown height and its state. `None` without proofs, or if the result is not checked.
    pub fn verdict(&self, blocks: &Blocks) -> Option<Verdict> {
        // Order of preference: in the chain, highest, of the owner's node, oldest proof.
        let best = self.proofs.iter().min_by_key(|(origin, history)| {
            let (height, id) = newest(history);
            let is_node = origin.source == SourceId::Node;
            let since = since(history, |(height, _)| height);
            (!self.chain.contains(&id), Reverse(height), !is_node, since)
        });
        let (_, best_history) =
            best.filter(|_| !self.unlinked && self.now >= self.unchecked_until)?;
        let (proven, block) = newest(best_history);
        let best: History<u32> = best_history
            .iter()
            .map(|(at, (height, _))| (*at, *height))
            .collect();
        // A claim may be two blocks ahead for two minutes; alternating claims do not restart that time.
        let from = since(best_history, |(height, _)| height);
        let leads = |claim: &&History<u32>| {
            let is_near = (proven + 1..=proven + 2).contains(&newest(claim));
            let was_above = |second| at(claim, second).is_some_and(|value| value > proven);
            let is_long = self.now >= PATIENCE && (from..=self.now - PATIENCE).any(was_above);
            is_near && !self.strict && !is_long && !self.differ(claim, &best, PATIENCE)
        };
        let highest = |claim: &&History<u32>| newest(claim);
        let lead = self.claims.values().rev().filter(leads).max_by_key(highest);
        let shown = lead.unwrap_or(&best);
        let contradicts = |claim| self.differ(claim, shown, PATIENCE);
        let witnesses = || {
            let proofs = self.proofs.iter();
            proofs.filter(|(origin, _)| !self.left_peers.contains(origin))
        };
        let rivals = witnesses().filter(|(origin, history)| {
            let (height, id) = newest(history);
            let is_old = since(history, |(height, _)| height) + RIVALRY <= self.now;
            height >= proven && id != block && is_old && !self.disconnected.contains(&origin.source)
        });
        let contested = self.claims.values().any(contradicts) || rivals.count() > 0;
        let made = self.unix.map(|unix| unix - blocks.time(block));
        let is_old_block = lead.is_none() && made.is_some_and(|age| age >= OLD as i64);
        let same = witnesses().filter(|(_, history)| newest(history).1 == block);
        let has_node = same
            .clone()
            .any(|(origin, _)| origin.source == SourceId::Node);
        let is_agreed = self.unix.is_some() && (has_node || same.count() > 1);
        let state = match lead {
            _ if since(shown, |height| height) + OLD <= self.now || is_old_block => {
                HeightState::Stale
            }
            _ if contested => HeightState::Disputed,
            Some(_) => HeightState::Claimed,
            None if is_agreed => HeightState::Proven,
            None => HeightState::Alone,
        };
        Some(Verdict {
            shown: newest(shown),
            state,
            contested,
        })
    }

    /// Whether two sources have differed in each of the last seconds.
    fn differ(&self, one: &History<u32>, two: &History<u32>, seconds: u64) -> bool {
        let differ = |second| {
            let both = at(one, second).zip(at(two, second));
            both.is_some_and(|(one, two)| one != two)
        };
        self.now >= seconds && (self.now - seconds..=self.now).all(differ)
    }
}

/// Records a value; within a second the last one counts.
fn record<T: Copy + PartialEq>(history: &mut History<T>, now: u64, value: T) {
    history.retain(|(at, _)| *at < now);
    history.push((now, value));
}

fn at(history: &History<u32>, second: u64) -> Option<u32> {
    let before = history.iter().rev().find(|(at, _)| *at <= second);
    before.map(|(_, value)| *value)
}

fn newest<T: Copy>(history: &History<T>) -> T {
    history[history.len() - 1].1
}

/// Since when a source has its current height.
fn since<T: Copy, H: PartialEq>(history: &History<T>, height: impl Fn(T) -> H) -> u64 {
    let now = height(newest(history));
    let same = history
        .iter()
        .rev()
        .take_while(|(_, value)| height(*value) == now);
    same.last().map_or(0, |(at, _)| *at)
}
