//! What must be said of the height, in plain rules: what everybody has said, second by second, and what follows from it.
//!
//! It takes what the device takes, and believes the device nothing; which blocks are sound it knows of who made them.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use market::{HeightState, ProofOrigin, source_id::SourceId};

use super::blocks::{Blocks, Flaw, Id};

/// Seconds for which somebody may say something else than what is shown.
pub const PATIENCE: u64 = 120;

/// Seconds for which two blocks may stand against each other.
const RIVALRY: u64 = 600;

/// Seconds after which a height is old.
const OLD: u64 = 90 * 60;

/// What a voice has said, each since a second; nothing before the first.
type Past<T> = Vec<(u64, T)>;

/// What is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    pub shown: u32,
    pub state: HeightState,
    pub contested: bool,
}

/// All that was said of the height.
#[derive(Debug)]
pub struct Heights {
    pub now: u64,
    /// Unix seconds; none where nobody knows them.
    pub unix: Option<i64>,
    /// Nothing but proofs counts.
    pub strict: bool,
    /// Who is asked.
    pub asked: BTreeSet<SourceId>,
    away: BTreeSet<SourceId>,
    /// Peers that have left, while others are there.
    left: BTreeSet<ProofOrigin>,
    /// Sources that were away, and of whom nobody has proven anything since.
    anew: BTreeSet<SourceId>,
    claims: BTreeMap<SourceId, Past<u32>>,
    proofs: BTreeMap<ProofOrigin, Past<(u32, Id)>>,
    /// The chain with most blocks; of two that are as long the one that was heard first.
    chain: Vec<Id>,
    /// When anybody has said a height last.
    said: BTreeMap<u32, u64>,
    /// The explorer's newest block may be loose: what comes of that is left open.
    pub loose: bool,
    /// Second until which that is so.
    open_until: u64,
}

impl Heights {
    pub fn new(asked: BTreeSet<SourceId>) -> Heights {
        Heights {
            now: 0,
            unix: None,
            strict: false,
            asked,
            away: BTreeSet::new(),
            left: BTreeSet::new(),
            anew: BTreeSet::new(),
            claims: BTreeMap::new(),
            proofs: BTreeMap::new(),
            chain: vec![0],
            said: BTreeMap::new(),
            loose: false,
            open_until: 0,
        }
    }

    pub fn claim(&mut self, source: SourceId, height: u32) {
        self.away.remove(&source);
        self.said.insert(height, self.now);
        say(self.claims.entry(source).or_default(), self.now, height);
    }

    /// Somebody sends blocks, the newest of which is the newest that they have.
    pub fn prove(&mut self, origin: ProofOrigin, ids: &[Id], blocks: &Blocks) {
        let is_early = |id: &Id| {
            let is_known = self.chain.contains(id);
            !is_known && self.unix.is_some_and(|unix| blocks.time(*id) > unix + 7200)
        };
        let is_flawed = |id: &&Id| blocks.flaw(**id).is_some();
        let may_be_early = |id: Id| matches!(blocks.flaw(id), None | Some(Flaw::OldVersion));
        let bad = ids.iter().position(|id| is_flawed(&id) || is_early(id));
        let waits = bad.is_some_and(|bad| is_early(&ids[bad]) && may_be_early(ids[bad]));
        let good = &ids[..bad.unwrap_or(ids.len())];
        let before = blocks.parent(ids[0]);
        let Some(fork) = self.chain.iter().position(|id| *id == before) else {
            return self.prove_loosely(origin, ids, blocks);
        };
        let longer = [&self.chain[..=fork], good].concat();
        if longer.len() > self.chain.len() {
            self.chain = longer;
        }
        match bad {
            // Who has a block from the future may have the newest of all; only the clock does not know the time.
            Some(_) if waits => self.wait_for_time(origin),
            Some(_) => {}
            None => {
                self.away.remove(&origin.source);
                if self.anew.remove(&origin.source) {
                    let before = self.proofs.keys().filter(|it| it.source == origin.source);
                    self.left.extend(before);
                }
                self.left.remove(&origin);
                self.fasten(origin.source);
                let tip = ids[ids.len() - 1];
                let past = self.proofs.entry(origin).or_default();
                say(past, self.now, (blocks.height(tip), tip));
                self.said.insert(blocks.height(tip), self.now);
            }
        }
    }

    /// Blocks that follow none of the chain: an explorer may be believed, where nobody knows better.
    fn prove_loosely(&mut self, origin: ProofOrigin, ids: &[Id], blocks: &Blocks) {
        let unix = self.unix;
        let is_early = |id: Id| unix.is_some_and(|unix| blocks.time(id) > unix + 7200);
        let has_work = |id: Id| !matches!(blocks.flaw(id), Some(Flaw::NoWork | Flaw::OldVersion));
        let bad = ids.iter().find(|id| !has_work(**id) || is_early(**id));
        let waits = |id: Id| blocks.flaw(id) != Some(Flaw::NoWork) && is_early(id);
        let is_fresh = |id: Id| unix.is_none_or(|unix| unix - blocks.time(id) < OLD as i64);
        let tips = self.proofs.values().filter_map(|past| past.last());
        let is_current = tips
            .map(|(_, (_, id))| *id)
            .any(|id| self.chain.contains(&id) && is_fresh(id));
        match bad {
            _ if origin.source != SourceId::Explorer => {}
            Some(id) if waits(*id) => self.wait_for_time(origin),
            Some(_) => {}
            None => self.loose |= !is_current,
        }
    }

    fn wait_for_time(&mut self, origin: ProofOrigin) {
        if !self.strict {
            self.proofs.remove(&origin);
            self.fasten(origin.source);
        }
    }

    /// The block of a source is not loose any more; since when it counts nobody can tell, as long as anything is judged by
    /// that.
    fn fasten(&mut self, source: SourceId) {
        if self.loose && source == SourceId::Explorer {
            self.loose = false;
            self.open_until = self.now + OLD;
        }
    }

    pub fn leave(&mut self, source: SourceId) {
        self.claims.remove(&source);
        self.away.insert(source);
        self.anew.insert(source);
        self.left.retain(|origin| origin.source != source);
    }

    /// A peer leaves: what it has proven stays true, and it is a witness of nothing.
    pub fn part(&mut self, origin: ProofOrigin) {
        if !self.away.contains(&origin.source) {
            self.left.insert(origin);
        }
    }

    pub fn come(&mut self, source: SourceId) {
        self.away.remove(&source);
    }

    /// A source is asked no more.
    pub fn forget(&mut self, source: SourceId) {
        self.asked.remove(&source);
        self.claims.remove(&source);
        self.away.remove(&source);
        self.anew.remove(&source);
        self.left.retain(|origin| origin.source != source);
        self.proofs.retain(|origin, _| origin.source != source);
    }

    /// Takes away the old proofs of those who cannot tell newer ones.
    pub fn pass(&mut self) {
        let (asked, away) = (&self.asked, &self.away);
        let is_there = |source: SourceId| asked.contains(&source) && !away.contains(&source);
        let (now, strict) = (self.now, self.strict);
        self.proofs.retain(|origin, past| {
            strict || is_there(origin.source) || since(past, |(height, _)| height) + OLD > now
        });
    }

    /// The height up to which anything that was heard is proven.
    pub fn proven(&self, blocks: &Blocks) -> u32 {
        let tips = self.proofs.values().map(|past| newest(past).0);
        let chain = self.chain.iter().map(|id| blocks.height(*id));
        tips.chain(chain).max().unwrap()
    }

    /// When anybody has said a height last.
    pub fn said(&self, height: u32) -> Option<u64> {
        self.said.get(&height).copied()
    }

    /// The least that is shown where nothing is proven: whoever says a few blocks more than that is believed.
    pub fn claimed(&self, shown: u32) -> Option<u32> {
        let is_known = !self.loose && self.now >= self.open_until;
        let is_open = self.proofs.is_empty() && is_known && !self.strict;
        let claims = self.claims.values().map(newest);
        let claims = claims.filter(|claim| is_open && (shown..=shown + 100).contains(claim));
        claims.max()
    }

    /// What is shown and how good it is; none where nothing is proven, or nobody can tell.
    pub fn verdict(&self, blocks: &Blocks) -> Option<Verdict> {
        // The best block is one of the chain, high, of the owner's node, and an old one: in this order.
        let best = self.proofs.iter().min_by_key(|(origin, past)| {
            let (height, id) = newest(past);
            let is_node = origin.source == SourceId::Node;
            let since = since(past, |(height, _)| height);
            (!self.chain.contains(&id), Reverse(height), !is_node, since)
        });
        let (_, best_said) = best.filter(|_| !self.loose && self.now >= self.open_until)?;
        let (proven, block) = newest(best_said);
        let best: Past<u32> = best_said
            .iter()
            .map(|(at, (height, _))| (*at, *height))
            .collect();
        // A claim may be ahead by two blocks, for two minutes; who falls back in between does not begin anew.
        let from = since(best_said, |(height, _)| height);
        let leads = |claim: &&Past<u32>| {
            let is_near = (proven + 1..=proven + 2).contains(&newest(claim));
            let was_above = |second| at(claim, second).is_some_and(|said| said > proven);
            let is_long = self.now >= PATIENCE && (from..=self.now - PATIENCE).any(was_above);
            is_near && !self.strict && !is_long && !self.are_apart(claim, &best, PATIENCE)
        };
        let highest = |claim: &&Past<u32>| newest(claim);
        let lead = self.claims.values().rev().filter(leads).max_by_key(highest);
        let shown = lead.unwrap_or(&best);
        let contradicts = |claim| self.are_apart(claim, shown, PATIENCE);
        let witnesses = || {
            let proofs = self.proofs.iter();
            proofs.filter(|(origin, _)| !self.left.contains(origin))
        };
        let rivals = witnesses().filter(|(origin, past)| {
            let (height, id) = newest(past);
            let is_old = since(past, |(height, _)| height) + RIVALRY <= self.now;
            height >= proven && id != block && is_old && !self.away.contains(&origin.source)
        });
        let contested = self.claims.values().any(contradicts) || rivals.count() > 0;
        let made = self.unix.map(|unix| unix - blocks.time(block));
        let is_old_block = lead.is_none() && made.is_some_and(|age| age >= OLD as i64);
        let same = witnesses().filter(|(_, past)| newest(past).1 == block);
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

    /// Tells whether two have said different things in each of the last seconds.
    fn are_apart(&self, one: &Past<u32>, two: &Past<u32>, seconds: u64) -> bool {
        let differ = |second| {
            let both = at(one, second).zip(at(two, second));
            both.is_some_and(|(one, two)| one != two)
        };
        self.now >= seconds && (self.now - seconds..=self.now).all(differ)
    }
}

/// Of what is said in one second the last counts.
fn say<T: Copy + PartialEq>(past: &mut Past<T>, now: u64, said: T) {
    past.retain(|(at, _)| *at < now);
    past.push((now, said));
}

fn at(past: &Past<u32>, second: u64) -> Option<u32> {
    let before = past.iter().rev().find(|(at, _)| *at <= second);
    before.map(|(_, said)| *said)
}

fn newest<T: Copy>(past: &Past<T>) -> T {
    past[past.len() - 1].1
}

/// Since when a voice says what it says.
fn since<T: Copy, H: PartialEq>(past: &Past<T>, height: impl Fn(T) -> H) -> u64 {
    let now = height(newest(past));
    let same = past
        .iter()
        .rev()
        .take_while(|(_, said)| height(*said) == now);
    same.last().map_or(0, |(at, _)| *at)
}
