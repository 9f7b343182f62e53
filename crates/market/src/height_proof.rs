//! Blocks that sources have proven.
//!
//! A proof is a header with the work that its height requires.

use core::time::Duration;

use chain::BlockHash;

use crate::{
    height_history::HeightHistory,
    source_id::SourceId,
    values::{Datum, Seen},
};

/// A block at the end of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tip {
    /// Its height.
    pub height: u32,
    /// Its hash.
    pub hash: BlockHash,
    /// Time in its header, Unix seconds.
    pub time: u32,
}

/// The source, or one of its peers, that has proven a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProofOrigin {
    /// The source.
    pub source: SourceId,
    /// Index of the peer; 0 if the source has a single connection.
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
    /// It is part of the chain.
    InChain,
    /// Its work was checked, but it does not link to the chain: its height is a claim.
    Unlinked,
    /// The chain has another block at its height, or more work without it.
    OffChain,
}

/// The newest block that an origin has proven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// Its position.
    pub position: ChainPosition,
    /// Its hash.
    pub hash: BlockHash,
    /// Time in its header, Unix seconds.
    pub time: u32,
    /// Its height, and the heights that the origin has proven before.
    pub history: HeightHistory,
    /// Uptime of the newest report.
    pub reported: Duration,
}

impl Proof {
    /// Its height.
    pub fn height(&self) -> u32 {
        self.history.height().unwrap_or_default()
    }

    /// The block.
    pub fn tip(&self) -> Tip {
        Tip {
            height: self.height(),
            hash: self.hash,
            time: self.time,
        }
    }

    /// The same proof with a later block of the chain, if that is higher.
    pub fn raised_to(&self, floor: Option<Tip>) -> Proof {
        let is_higher = |floor: &Tip| {
            self.position == ChainPosition::InChain && self.history.height() < Some(floor.height)
        };
        let mut raised = self.clone();
        if let Some((floor, since)) = floor.filter(is_higher).zip(self.history.since()) {
            raised.hash = floor.hash;
            raised.time = floor.time;
            raised.history = HeightHistory::default();
            raised.history.record(floor.height, since);
        }
        raised
    }

    /// Its height with source and age.
    pub fn datum(&self, source: SourceId) -> Datum<u32> {
        Datum {
            value: self.height(),
            source,
            seen: Seen::At(self.reported),
        }
    }
}
