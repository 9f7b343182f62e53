//! What the sources say of the height of the chain, since when, and on what grounds.
//!
//! A *claim* is a number; a *proof* is a header with the work that its height must have taken. A source stands for
//! whoever it is fed by, because at most one of each runs; one that asks several has as many origins.

use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    vec::Vec,
};
use core::{cmp::Reverse, time::Duration};

use chain::BlockHash;

use super::{
    source_id::SourceId,
    until::Until,
    values::{Datum, Seen},
};
use crate::limits::{CONTEST_TIME, RIVAL_TIME, TIP_AGE_MAX};

/// Most heights that a trail keeps: more than a chain grows by while anybody waits for a verdict.
const TRAIL_MAX: usize = 32;

/// Longest time for which anybody waits for a verdict.
const TRAIL_TIME: Duration = RIVAL_TIME;

/// The newest heights of a voice, each with the uptime at which it was said first; oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trail {
    newest: VecDeque<(Duration, u32)>,
    /// Since when heights have come so fast that some were forgotten before the longest wait was over.
    hasty: Option<Duration>,
}

impl Trail {
    /// Takes note of what is said now; of two heights at one moment the later one counts.
    pub fn say(&mut self, height: u32, at: Duration) {
        if self.height() == Some(height) {
            return;
        }
        if self.since() == Some(at) {
            self.newest.pop_back();
        }
        // What was said before it may be the same.
        if self.height() == Some(height) {
            return;
        }
        if self.newest.len() == TRAIL_MAX {
            let forgotten = self.newest.pop_front().map(|(forgotten, _)| forgotten);
            let forgotten = forgotten.filter(|forgotten| *forgotten + TRAIL_TIME > at);
            self.hasty = self.hasty.or(forgotten).filter(|_| forgotten.is_some());
        }
        self.newest.push_back((at, height));
    }

    /// What is said; none before anything was.
    pub fn height(&self) -> Option<u32> {
        self.newest.back().map(|(_, height)| *height)
    }

    /// Since when that is said.
    pub fn since(&self) -> Option<Duration> {
        self.newest.back().map(|(at, _)| *at)
    }

    /// What was said at a moment.
    fn at(&self, moment: Duration) -> Option<u32> {
        let before = self.newest.iter().rev().find(|(at, _)| *at <= moment);
        before.map(|(_, height)| *height)
    }

    /// Since when, from a moment on, more than this height has been said for the first time, whatever was said after it;
    /// none if it never was.
    pub fn above_since(&self, height: u32, from: Duration) -> Option<Duration> {
        let is_above = |said: u32| said > height;
        // Who has said so much meanwhile that the beginning is forgotten is not believed any longer for that.
        let is_forgotten =
            self.newest.len() == TRAIL_MAX && self.newest.front().is_some_and(|(at, _)| *at > from);
        if is_forgotten || self.at(from).is_some_and(is_above) {
            return Some(from);
        }
        let mut later = self.newest.iter().filter(|(at, _)| *at > from);
        later.find(|(_, said)| is_above(*said)).map(|(at, _)| *at)
    }

    /// Since when this and another say different heights without a break; none while they agree, or one of them is
    /// silent.
    pub fn apart_since(&self, other: &Trail) -> Option<Duration> {
        let both = self.newest.iter().chain(&other.newest);
        let mut moments: Vec<Duration> = both.map(|(at, _)| *at).collect();
        moments.sort_unstable();
        let apart = |moment: &Duration| match (self.at(*moment), other.at(*moment)) {
            (Some(one), Some(two)) => one != two,
            (None, _) | (_, None) => false,
        };
        let since = moments.into_iter().rev().take_while(apart).last()?;
        // Whoever says ever other heights has not begun with the oldest that is remembered.
        let began = [self, other]
            .into_iter()
            .filter(|trail| trail.newest.front().map(|(at, _)| *at) == Some(since));
        began
            .map(|trail| trail.hasty.unwrap_or(since))
            .chain([since])
            .min()
    }
}

/// The source, or the peer of a source, that has proven something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProofOrigin {
    /// Which source.
    pub source: SourceId,
    /// Place among those that it asks; nought where it asks one.
    pub place: u8,
}

impl From<SourceId> for ProofOrigin {
    fn from(source: SourceId) -> ProofOrigin {
        ProofOrigin { source, place: 0 }
    }
}

/// Position of a proven block relative to the best chain. Smaller is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChainPosition {
    /// It is part of the chain that is kept.
    InChain,
    /// Its work was checked, and nothing that is kept comes before it: that it is at its height is a claim.
    Loose,
    /// The chain that is kept has another block in its place, or more work without it.
    Beside,
}

/// The newest block that an origin has proven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// Where it stands.
    pub standing: ChainPosition,
    /// Its hash.
    pub hash: BlockHash,
    /// When it was made by its own word, Unix seconds.
    pub time: u32,
    /// Its height, and those of the blocks before it.
    pub trail: Trail,
    /// Uptime at which it was last told.
    pub told: Duration,
}

impl Proof {
    /// Its height.
    pub fn height(&self) -> u32 {
        self.trail.height().unwrap_or_default()
    }

    /// The block.
    pub fn tip(&self) -> Tip {
        Tip {
            height: self.height(),
            hash: self.hash,
            time: self.time,
        }
    }

    /// The same of a block that comes after it in the chain that is kept; itself where there is none.
    pub fn raised_to(&self, floor: Option<Tip>) -> Proof {
        let is_higher = |floor: &Tip| {
            self.standing == ChainPosition::InChain && self.trail.height() < Some(floor.height)
        };
        let mut raised = self.clone();
        if let Some((floor, since)) = floor.filter(is_higher).zip(self.trail.since()) {
            raised.hash = floor.hash;
            raised.time = floor.time;
            raised.trail = Trail::default();
            raised.trail.say(floor.height, since);
        }
        raised
    }

    /// Its height, as the value that it is.
    pub fn datum(&self, source: SourceId) -> Datum<u32> {
        Datum {
            value: self.height(),
            source,
            seen: Seen::At(self.told),
        }
    }
}

/// The heights that a source claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeightClaim {
    /// The source.
    pub source: SourceId,
    /// The newest heights, each with the time of the first report.
    pub trail: Trail,
}

impl HeightClaim {
    /// The newest height, seen when it was reported first.
    pub fn datum(&self) -> Option<Datum<u32>> {
        Some(Datum {
            value: self.trail.height()?,
            source: self.source,
            seen: Seen::At(self.trail.since()?),
        })
    }
}

/// All voices, by their sources.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Voices {
    claims: BTreeMap<SourceId, HeightClaim>,
    proofs: BTreeMap<ProofOrigin, Proof>,
    /// Sources that cannot be reached.
    away: BTreeSet<SourceId>,
    /// Origins that are asked no more, while others of their source are.
    parted: BTreeSet<ProofOrigin>,
    /// Sources of which others may be asked than before, of whom nobody has proven anything yet.
    anew: BTreeSet<SourceId>,
}

impl Voices {
    /// A source names a height.
    pub fn claim(&mut self, source: SourceId, height: u32, at: Duration) {
        self.come(source);
        let claim = self.claims.entry(source).or_insert_with(|| HeightClaim {
            source,
            trail: Trail::default(),
        });
        claim.trail.say(height, at);
        let proof = self.proofs.get_mut(&source.into());
        if let Some(proof) = proof.filter(|proof| proof.height() == height) {
            proof.told = at;
        }
    }

    /// Somebody has proven a height.
    pub fn prove(&mut self, origin: ProofOrigin, tip: Tip, standing: ChainPosition, at: Duration) {
        self.come(origin.source);
        if self.anew.remove(&origin.source) {
            // Of those who were asked before, nobody knows who is still there.
            let before = self.proofs.keys().filter(|it| it.source == origin.source);
            self.parted.extend(before);
        }
        self.parted.remove(&origin);
        let known = self.proofs.remove(&origin);
        let mut trail = known.map(|proof| proof.trail).unwrap_or_default();
        trail.say(tip.height, at);
        let proof = Proof {
            standing,
            hash: tip.hash,
            time: tip.time,
            trail,
            told: at,
        };
        self.proofs.insert(origin, proof);
    }

    /// Says of every block that was proven where it stands now.
    pub fn place(&mut self, stands: impl Fn(u32, BlockHash, ChainPosition) -> ChainPosition) {
        for proof in self.proofs.values_mut() {
            proof.standing = stands(proof.height(), proof.hash, proof.standing);
        }
    }

    /// A source can be reached.
    pub fn come(&mut self, source: SourceId) {
        self.away.remove(&source);
    }

    /// A source cannot be reached: it claims nothing any more, and says nothing against anybody. What it has proven
    /// stays true.
    pub fn leave(&mut self, source: SourceId) {
        self.unsay(source);
        self.away.insert(source);
        self.begin_anew(source);
        // Where nobody is left, what the last ones have proven is what there is.
        self.parted.retain(|origin| origin.source != source);
    }

    /// A source asks others, or the same ones anew: once one of them has proven something, those who have not are no
    /// witnesses.
    pub fn begin_anew(&mut self, source: SourceId) {
        self.anew.insert(source);
    }

    /// One of those that a source asks is asked no more: what it has proven stays true, and it is a witness of nothing.
    pub fn part(&mut self, origin: ProofOrigin) {
        if !self.away.contains(&origin.source) && self.proofs.contains_key(&origin) {
            self.parted.insert(origin);
        }
    }

    /// Nobody asks a source any more.
    pub fn forget(&mut self, source: SourceId) {
        self.unsay(source);
        self.away.remove(&source);
        self.anew.remove(&source);
        self.proofs.retain(|origin, _| origin.source != source);
        self.parted.retain(|origin| origin.source != source);
    }

    fn unsay(&mut self, source: SourceId) {
        self.claims.remove(&source);
    }

    /// Takes away what is old of those who cannot go on from it: who is away, and who is not asked.
    pub fn expire(&mut self, is_asked: impl Fn(SourceId) -> bool, until: &mut Until) {
        let away = &self.away;
        self.proofs.retain(|origin, proof| {
            let is_there = is_asked(origin.source) && !away.contains(&origin.source);
            let since = proof.trail.since().unwrap_or_default();
            is_there || !until.is_over(since + TIP_AGE_MAX)
        });
    }

    /// What somebody has proven says nothing about what they tell now.
    pub fn withdraw(&mut self, origin: ProofOrigin) {
        self.proofs.remove(&origin);
    }

    /// What the sources claim.
    pub fn claims(&self) -> impl Iterator<Item = &HeightClaim> {
        self.claims.values()
    }

    /// What was proven.
    pub fn proofs(&self) -> impl Iterator<Item = (ProofOrigin, &Proof)> {
        self.proofs.iter().map(|(origin, proof)| (*origin, proof))
    }

    /// What those have proven who have not left.
    pub fn witnesses(&self) -> impl Iterator<Item = (ProofOrigin, &Proof)> {
        self.proofs()
            .filter(|(origin, _)| !self.parted.contains(origin))
    }

    /// What those have proven who can be asked what they say now.
    pub fn present(&self) -> impl Iterator<Item = &Proof> {
        let present = self.witnesses();
        let present = present.filter(|(origin, _)| !self.away.contains(&origin.source));
        present.map(|(_, proof)| proof)
    }

    /// Number of sources that claim or prove something.
    pub fn count(&self) -> usize {
        let claim = self.claims.keys().copied();
        let prove = self.proofs.keys().map(|origin| origin.source);
        claim.chain(prove).collect::<BTreeSet<SourceId>>().len()
    }

    /// The highest block that is proven and that nothing better stands in the place of, part of the chain that is kept if
    /// there is such a one; of equally high ones that of the owner's node, then that which was proven first.
    pub fn best(&self) -> Option<(SourceId, &Proof)> {
        let order = |(origin, proof): &(ProofOrigin, &Proof)| {
            (
                proof.standing,
                Reverse(proof.height()),
                origin.source != SourceId::Node,
                proof.trail.since(),
            )
        };
        let best = self.proofs().min_by_key(order);
        best.map(|(origin, proof)| (origin.source, proof))
    }

    /// Those who have proven a block at its height, and have not left.
    pub fn with(&self, tip: Tip) -> impl Iterator<Item = ProofOrigin> {
        let same = self
            .witnesses()
            .filter(move |(_, proof)| proof.tip() == tip);
        same.map(|(origin, _)| origin)
    }
}

/// The newest block of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tip {
    /// Its height.
    pub height: u32,
    /// Its hash.
    pub hash: BlockHash,
    /// When it was made by its own word, Unix seconds.
    pub time: u32,
}

const _: () = assert!(CONTEST_TIME.as_secs() <= TRAIL_TIME.as_secs());

#[cfg(test)]
mod tests {
    use super::*;

    fn trail(steps: &[(u64, u32)]) -> Trail {
        let mut trail = Trail::default();
        for (secs, height) in steps {
            trail.say(*height, Duration::from_secs(*secs));
        }
        trail
    }

    #[test]
    fn two_voices_are_apart_since_they_last_agreed() {
        type Steps = &'static [(u64, u32)];
        let rows: &[(Steps, Steps, Option<u64>)] = &[
            (&[(0, 1)], &[(5, 1)], None),
            (&[(0, 1)], &[], None),
            (&[(0, 1)], &[(5, 2)], Some(5)),
            (&[(0, 1), (10, 2)], &[(5, 1)], Some(10)),
            // One stands still, the other goes on.
            (&[(0, 1), (10, 2), (20, 3)], &[(5, 1)], Some(10)),
            (&[(0, 1), (10, 2), (20, 3)], &[(5, 1), (21, 2)], Some(10)),
            (&[(0, 1), (10, 2), (20, 3)], &[(5, 1), (21, 3)], None),
            (&[(0, 1), (10, 2), (20, 3)], &[(12, 2)], Some(20)),
            // Both change at once.
            (&[(0, 1), (10, 2)], &[(0, 1), (10, 3)], Some(10)),
        ];
        for (one, two, since) in rows {
            let (one, two) = (trail(one), trail(two));
            let since = since.map(Duration::from_secs);
            assert_eq!(one.apart_since(&two), since, "{one:?} {two:?}");
            assert_eq!(two.apart_since(&one), since, "{two:?} {one:?}");
        }
    }

    #[test]
    fn every_source_that_claims_or_proves_is_one_voice() {
        let mut voices = Voices::default();
        let at = Duration::from_secs(5);
        let tip = Tip {
            height: 900_000,
            hash: chain::anchor::genesis(chain::network::Network::Regtest).block_hash(),
            time: 0,
        };
        let peer = |place| ProofOrigin {
            source: SourceId::Peers,
            place,
        };
        voices.prove(SourceId::Node.into(), tip, ChainPosition::InChain, at);
        assert_eq!(voices.count(), 1);
        voices.claim(SourceId::Relay, 900_000, at);
        assert_eq!(voices.count(), 2);
        voices.claim(SourceId::Node, 900_000, at);
        assert_eq!(voices.count(), 2, "it has proven what it says");
        for place in 0..3 {
            voices.prove(peer(place), tip, ChainPosition::InChain, at);
            assert_eq!(voices.count(), 3, "all peers are one source");
        }
    }

    #[test]
    fn a_trail_is_bounded_and_keeps_the_newest() {
        let steps: Vec<(u64, u32)> = (0..100).map(|step| (u64::from(step), step)).collect();
        let trail = trail(&steps);
        assert_eq!(trail.newest.len(), TRAIL_MAX);
        assert_eq!(trail.height(), Some(99));
        assert_eq!(trail.since(), Some(Duration::from_secs(99)));
    }

    #[test]
    fn a_trail_reaches_back_as_far_as_anybody_waits() {
        let truth = trail(&[(0, 1)]);
        let counts: Vec<(u64, u32)> = (0..2000).map(|step| (step, 1 + step as u32)).collect();
        for until in [10, 100, 700, 1999] {
            let since = trail(&counts[..=until]).apart_since(&truth);
            let since = since.map(|since| since.as_secs()).unwrap();
            let until = until as u64;
            assert!(
                since <= 1.max(until.saturating_sub(600)),
                "{since} at {until}"
            );
        }
    }

    #[test]
    fn of_two_heights_at_one_moment_the_later_one_was_said() {
        assert_eq!(trail(&[(0, 1), (5, 2), (5, 3)]), trail(&[(0, 1), (5, 3)]));
        assert_eq!(trail(&[(0, 1), (5, 2), (5, 1)]), trail(&[(0, 1)]));
    }
}
