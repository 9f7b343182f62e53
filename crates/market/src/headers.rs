//! The chain that is kept: whoever has headers hands them in, and is told what comes next.
//!
//! A source that fetches a chain piece by piece says when it has handed in its newest block; what it has proven counts
//! from then on, so that nobody sees the chain grow from its anchor.

use alloc::vec::Vec;

use chain::{
    BlockHash, Header, Work,
    chain::{Chain, ChainChange, Refused},
    rules::HeaderRefusal,
};

use super::{
    proof::ChainSpec,
    voices::{ChainPosition, Tip},
};
use crate::now::UtcTime;

/// Most headers that are looked at in one message; as many as a node sends at once.
pub const MESSAGE_HEADERS_MAX: usize = 2000;

/// Whether more headers will follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadersReach {
    /// More of them will follow.
    More,
    /// The last of them is the newest block of whoever sent them.
    Newest,
}

/// What came of headers, for whoever sent them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Judged {
    /// Why they were not all taken.
    pub refused: Option<HeaderRefusal>,
    /// They changed the chain.
    pub is_new: bool,
    /// The last of them that was taken is the newest block that is kept.
    pub is_tip: bool,
    /// Height of the newest block that is kept; none where there is no chain, or nothing but what comes before it.
    pub height: Option<u32>,
    /// Some blocks that are kept, newest first and ever farther apart; empty where there is no chain.
    pub locator: Vec<BlockHash>,
}

/// Blocks that others took the place of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reorganisations {
    /// How often, in this run.
    pub count: u32,
    /// How many of them the last time.
    pub last_depth: u32,
}

/// Result of checking headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadersResult {
    /// The last of them that keeps the rules, and where it stands.
    pub last: Option<(Tip, ChainPosition)>,
    /// Why the next one was not taken.
    pub refused: Option<HeaderRefusal>,
    /// They changed the chain.
    pub is_new: bool,
}

/// The chain that is kept.
#[derive(Debug, Clone)]
pub struct KeptChain {
    spec: ChainSpec,
    chain: Chain,
    /// The newest block of an earlier run.
    resumed: Option<Tip>,
    reorganisations: Reorganisations,
}

impl KeptChain {
    /// The chain of nothing but what is taken for granted.
    pub fn new(spec: ChainSpec) -> KeptChain {
        KeptChain {
            spec,
            chain: Chain::new(spec.network, spec.anchor),
            resumed: None,
            reorganisations: Reorganisations::default(),
        }
    }

    /// Goes on with the chain of an earlier run, unless it is one of another network.
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

    /// The newest block of an earlier run, as long as it is part of the chain: it was proven once.
    pub fn floor(&self) -> Option<Tip> {
        self.resumed.filter(|tip| self.has(tip.height, tip.hash))
    }

    /// Which chain it is.
    pub fn spec(&self) -> &ChainSpec {
        &self.spec
    }

    /// The same, beginning with the oldest header that is kept: what is judged by it is judged more strictly.
    pub fn recent(&self) -> ChainSpec {
        ChainSpec {
            network: self.spec.network,
            anchor: self.chain.base(),
        }
    }

    /// The headers.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Work up to and including a block; none unless it is the newest one.
    pub fn work(&self, hash: BlockHash) -> Option<Work> {
        (self.chain.tip() == hash).then(|| self.chain.work())
    }

    /// Blocks that others took the place of.
    pub fn reorganisations(&self) -> Reorganisations {
        self.reorganisations
    }

    /// Height of a block that comes after one that is kept.
    pub fn height_after(&self, hash: &BlockHash) -> Option<u32> {
        self.chain.height_after(hash)
    }

    /// Tells whether a block is part of it.
    pub fn has(&self, height: u32, hash: BlockHash) -> bool {
        self.chain.hash(height) == Some(hash)
    }

    /// Takes headers that follow each other, oldest first.
    pub fn hear(&mut self, headers: &[Header], utc: Option<UtcTime>) -> HeadersResult {
        let headers = &headers[..headers.len().min(MESSAGE_HEADERS_MAX)];
        let before = headers.first().map(|first| first.prev_blockhash);
        let first = before.and_then(|before| self.chain.height_after(&before));
        let tip = self.chain.tip();
        let now = utc.and_then(|utc| u32::try_from(utc.unix_secs()).ok());
        let (taken, refused, news) = match self.chain.accept(headers, now) {
            Ok(news) => (headers.len(), None, news),
            Err(Refused { at, why, news }) => (at, Some(why), news),
        };
        if let ChainChange::Reorganised(depth) = news {
            self.reorganisations.count = self.reorganisations.count.saturating_add(1);
            self.reorganisations.last_depth = depth;
        }
        let last = first.zip(headers[..taken].last()).map(|(first, last)| Tip {
            height: first + (taken as u32 - 1),
            hash: last.block_hash(),
            time: last.time,
        });
        let stands = |tip: Tip| match self.has(tip.height, tip.hash) {
            true => (tip, ChainPosition::InChain),
            false => (tip, ChainPosition::Beside),
        };
        HeadersResult {
            last: last.map(stands),
            refused,
            is_new: self.chain.tip() != tip,
        }
    }

    /// What is told to whoever sent headers.
    pub fn judged(&self, heard: &HeadersResult) -> Judged {
        Judged {
            refused: heard.refused,
            is_new: heard.is_new,
            is_tip: heard
                .last
                .is_some_and(|(tip, _)| tip.hash == self.chain.tip()),
            height: self.chain.height(),
            locator: self.chain.locator(),
        }
    }
}
