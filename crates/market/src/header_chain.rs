//! The chain of headers that the clock follows.
//!
//! A source that fetches a chain piece by piece reports when its newest block has arrived. Its proof counts from then on, so
//! that the height does not grow block by block from the anchor.

use alloc::vec::Vec;

use chain::{
    BlockHash, Header, Work,
    anchor::Anchor,
    chain::{Chain, ChainChange, InvalidHeader},
    network::Network,
    rules::HeaderRefusal,
};

use crate::{
    height_proof::{ChainPosition, Tip},
    now::UtcTime,
};

/// Largest number of headers in one message, as in the Bitcoin protocol; more are ignored.
pub const MESSAGE_HEADERS_MAX: usize = 2000;

/// A chain: its rules and its first trusted block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainSpec {
    /// The network, which defines the rules.
    pub network: Network,
    /// The block from which the chain is checked.
    pub anchor: Anchor,
}

impl ChainSpec {
    /// The chain of a network, with the anchor of this release.
    pub fn built_in(network: Network) -> ChainSpec {
        ChainSpec {
            network,
            anchor: Anchor::built_in(network),
        }
    }
}

/// Whether more headers will follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadersReach {
    /// More headers will follow.
    More,
    /// The last header is the newest block of the source.
    Newest,
}

/// Answer to a source that has sent headers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeadersReply {
    /// Why a header was refused. The headers before it may have been added.
    pub refused: Option<HeaderRefusal>,
    /// The newest block of the chain has changed.
    pub is_new: bool,
    /// The last added header is the newest block of the chain.
    pub is_tip: bool,
    /// Height of the newest block of the chain; `None` if there is no chain or it has no block after the anchor.
    pub height: Option<u32>,
    /// Hashes of the chain, newest first, with growing distance; empty if there is no chain.
    pub locator: Vec<BlockHash>,
}

/// Reorganisations of the chain in this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reorganisations {
    /// Their number.
    pub count: u32,
    /// Number of blocks that the last one replaced.
    pub last_depth: u32,
}

/// Result of adding headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadersResult {
    /// The last valid header, and its position.
    pub last: Option<(Tip, ChainPosition)>,
    /// Why the next one was refused.
    pub refused: Option<HeaderRefusal>,
    /// The newest block of the chain has changed.
    pub is_new: bool,
}

/// The chain of headers.
#[derive(Debug, Clone)]
pub struct HeaderChain {
    spec: ChainSpec,
    chain: Chain,
    /// The newest block of an earlier run.
    resumed: Option<Tip>,
    reorganisations: Reorganisations,
}

impl HeaderChain {
    /// A chain that has only its anchor.
    pub fn new(spec: ChainSpec) -> HeaderChain {
        HeaderChain {
            spec,
            chain: Chain::new(spec.network, spec.anchor),
            resumed: None,
            reorganisations: Reorganisations::default(),
        }
    }

    /// Continues the chain of an earlier run, unless it is of another network.
    pub fn resume(&mut self, chain: Chain) {
        if chain.network() != self.spec.network {
            return;
        }
        let newest = chain.height().zip(chain.newest());
        self.resumed = newest.map(|(height, newest)| Tip {
            height,
            hash: chain.tip(),
            time: newest.time,
        });
        self.chain = chain;
    }

    /// The newest block of an earlier run, if it is still part of the chain. It was proven in that run.
    pub fn resumed_tip(&self) -> Option<Tip> {
        self.resumed.filter(|tip| self.has(tip.height, tip.hash))
    }

    /// Network and anchor.
    pub fn spec(&self) -> &ChainSpec {
        &self.spec
    }

    /// Network and oldest stored header. A check from there is stricter than one from the anchor.
    pub fn recent_spec(&self) -> ChainSpec {
        ChainSpec {
            network: self.spec.network,
            anchor: self.chain.base(),
        }
    }

    /// The headers.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Work up to and including a block; `None` unless it is the newest of the chain.
    pub fn work(&self, hash: BlockHash) -> Option<Work> {
        (self.chain.tip() == hash).then(|| self.chain.work())
    }

    /// Reorganisations in this run.
    pub fn reorganisations(&self) -> Reorganisations {
        self.reorganisations
    }

    /// Height of a block after a block of the chain; `None` if that is not stored.
    pub fn height_after(&self, hash: &BlockHash) -> Option<u32> {
        self.chain.height_after(hash)
    }

    /// Returns whether a block is part of the chain.
    pub fn has(&self, height: u32, hash: BlockHash) -> bool {
        self.chain.hash(height) == Some(hash)
    }

    /// Adds linked headers, oldest first.
    pub fn add(&mut self, headers: &[Header], utc: Option<UtcTime>) -> HeadersResult {
        let headers = &headers[..headers.len().min(MESSAGE_HEADERS_MAX)];
        let parent = headers.first().map(|first| first.prev_blockhash);
        let first = parent.and_then(|parent| self.chain.height_after(&parent));
        let tip = self.chain.tip();
        let now = utc.and_then(|utc| u32::try_from(utc.unix_secs()).ok());
        let (added, refused, change) = match self.chain.accept(headers, now) {
            Ok(change) => (headers.len(), None, change),
            Err(InvalidHeader {
                index,
                rule,
                change,
            }) => (index, Some(rule), change),
        };
        if let ChainChange::Reorganised(depth) = change {
            self.reorganisations.count = self.reorganisations.count.saturating_add(1);
            self.reorganisations.last_depth = depth;
        }
        let last = first.zip(headers[..added].last()).map(|(first, last)| Tip {
            height: first + (added as u32 - 1),
            hash: last.block_hash(),
            time: last.time,
        });
        let with_position = |tip: Tip| {
            if self.has(tip.height, tip.hash) {
                (tip, ChainPosition::InChain)
            } else {
                (tip, ChainPosition::OffChain)
            }
        };
        HeadersResult {
            last: last.map(with_position),
            refused,
            is_new: self.chain.tip() != tip,
        }
    }

    /// The answer to the source that has sent the headers.
    pub fn reply(&self, result: &HeadersResult) -> HeadersReply {
        HeadersReply {
            refused: result.refused,
            is_new: result.is_new,
            is_tip: result
                .last
                .is_some_and(|(tip, _)| tip.hash == self.chain.tip()),
            height: self.chain.height(),
            locator: self.chain.locator(),
        }
    }
}
