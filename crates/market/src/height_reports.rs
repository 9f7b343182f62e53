//! What the sources report about the height of the chain: claims and proofs.
//!
//! A *claim* is a height as a number, a *proof* a header with the work that its height requires. A source has one claim.
//! A source that is connected to several peers has one proof per peer.

use alloc::collections::{BTreeMap, BTreeSet};
use core::{cmp::Reverse, time::Duration};

use chain::BlockHash;

use crate::{
    height_history::HeightHistory,
    height_proof::{ChainPosition, Proof, ProofOrigin, Tip},
    limits::TIP_AGE_MAX,
    next_deadline::NextDeadline,
    source_id::SourceId,
    values::{Datum, Seen},
};

/// The heights that a source claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeightClaim {
    /// The source.
    pub source: SourceId,
    /// The newest heights.
    pub history: HeightHistory,
}

impl HeightClaim {
    /// The newest height, seen when it was reported first.
    pub fn datum(&self) -> Option<Datum<u32>> {
        Some(Datum {
            value: self.history.height()?,
            source: self.source,
            seen: Seen::At(self.history.since()?),
        })
    }
}

/// Claims and proofs of all sources.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeightReports {
    claims: BTreeMap<SourceId, HeightClaim>,
    proofs: BTreeMap<ProofOrigin, Proof>,
    /// Sources without a connection.
    disconnected: BTreeSet<SourceId>,
    /// Peers without a connection of sources that have other peers.
    disconnected_peers: BTreeSet<ProofOrigin>,
    /// Sources that may have other peers than before, until the first of these proves a block.
    restarted: BTreeSet<SourceId>,
}

impl HeightReports {
    /// Records the claim of a source.
    pub fn claim(&mut self, source: SourceId, height: u32, at: Duration) {
        self.connect(source);
        let claim = self.claims.entry(source).or_insert_with(|| HeightClaim {
            source,
            history: HeightHistory::default(),
        });
        claim.history.record(height, at);
        let proof = self.proofs.get_mut(&source.into());
        if let Some(proof) = proof.filter(|proof| proof.height() == height) {
            proof.reported = at;
        }
    }

    /// Records a proof.
    pub fn prove(&mut self, origin: ProofOrigin, tip: Tip, position: ChainPosition, at: Duration) {
        self.connect(origin.source);
        if self.restarted.remove(&origin.source) {
            // Which of the earlier peers are still connected is unknown.
            let before = self.proofs.keys().filter(|it| it.source == origin.source);
            self.disconnected_peers.extend(before);
        }
        self.disconnected_peers.remove(&origin);
        let known = self.proofs.remove(&origin);
        let mut history = known.map(|proof| proof.history).unwrap_or_default();
        history.record(tip.height, at);
        let proof = Proof {
            position,
            hash: tip.hash,
            time: tip.time,
            history,
            reported: at,
        };
        self.proofs.insert(origin, proof);
    }

    /// Updates the position of every proven block, from its height, hash and position so far.
    pub fn update_positions(
        &mut self,
        position: impl Fn(u32, BlockHash, ChainPosition) -> ChainPosition,
    ) {
        for proof in self.proofs.values_mut() {
            proof.position = position(proof.height(), proof.hash, proof.position);
        }
    }

    /// Records that a source is connected.
    pub fn connect(&mut self, source: SourceId) {
        self.disconnected.remove(&source);
    }

    /// Records that the connection of a source is lost. Its claim is dropped and contradicts no other source. Its proofs
    /// stay valid.
    pub fn disconnect(&mut self, source: SourceId) {
        self.claims.remove(&source);
        self.disconnected.insert(source);
        self.restart(source);
        // Without any peer, the proofs of all earlier peers count.
        self.disconnected_peers
            .retain(|origin| origin.source != source);
    }

    /// Records that a source starts again, possibly with other peers. Once one of these proves a block, the peers that
    /// have not do not count any more.
    pub fn restart(&mut self, source: SourceId) {
        self.restarted.insert(source);
    }

    /// Records that one peer of a source is no longer connected. Its proof stays valid, but does not count as agreement.
    pub fn disconnect_peer(&mut self, origin: ProofOrigin) {
        if !self.disconnected.contains(&origin.source) && self.proofs.contains_key(&origin) {
            self.disconnected_peers.insert(origin);
        }
    }

    /// Drops all reports of a source.
    pub fn remove(&mut self, source: SourceId) {
        self.claims.remove(&source);
        self.disconnected.remove(&source);
        self.restarted.remove(&source);
        self.proofs.retain(|origin, _| origin.source != source);
        self.disconnected_peers
            .retain(|origin| origin.source != source);
    }

    /// Drops the proof of an origin, because the origin may have a newer block by now.
    pub fn remove_proof(&mut self, origin: ProofOrigin) {
        self.proofs.remove(&origin);
    }

    /// Drops old proofs of sources that are not planned or not connected, which cannot be followed by newer ones.
    pub fn expire(&mut self, planned: &BTreeSet<SourceId>, deadline: &mut NextDeadline) {
        let disconnected = &self.disconnected;
        self.proofs.retain(|origin, proof| {
            let source = &origin.source;
            let is_running = planned.contains(source) && !disconnected.contains(source);
            let since = proof.history.since().unwrap_or_default();
            is_running || !deadline.has_passed(since + TIP_AGE_MAX)
        });
    }

    /// All claims.
    pub fn claims(&self) -> impl Iterator<Item = &HeightClaim> {
        self.claims.values()
    }

    /// All proofs.
    pub fn proofs(&self) -> impl Iterator<Item = (ProofOrigin, &Proof)> {
        self.proofs.iter().map(|(origin, proof)| (*origin, proof))
    }

    /// Proofs without those of disconnected peers.
    pub fn counted_proofs(&self) -> impl Iterator<Item = (ProofOrigin, &Proof)> {
        self.proofs()
            .filter(|(origin, _)| !self.disconnected_peers.contains(origin))
    }

    /// Proofs of the connected sources.
    pub fn connected_proofs(&self) -> impl Iterator<Item = &Proof> {
        let counted = self.counted_proofs();
        let connected = counted.filter(|(origin, _)| !self.disconnected.contains(&origin.source));
        connected.map(|(_, proof)| proof)
    }

    /// The best proof: by position, then the highest block, then the one of the owner's node, then the first.
    pub fn best_proof(&self) -> Option<(SourceId, &Proof)> {
        let order = |(origin, proof): &(ProofOrigin, &Proof)| {
            (
                proof.position,
                Reverse(proof.height()),
                origin.source != SourceId::Node,
                proof.history.since(),
            )
        };
        let best = self.proofs().min_by_key(order);
        best.map(|(origin, proof)| (origin.source, proof))
    }

    /// Origins that have proven a block, without disconnected peers.
    pub fn origins_of(&self, tip: Tip) -> impl Iterator<Item = ProofOrigin> {
        let same = self
            .counted_proofs()
            .filter(move |(_, proof)| proof.tip() == tip);
        same.map(|(origin, _)| origin)
    }
}
