//! Blocks on a network of one's own, where a try or two makes one; and genuine ones.

#[path = "../../../chain/tests/mined/mod.rs"]
pub(crate) mod mined;

use chain::{
    BlockHash, Header, Work,
    anchor::{Anchor, genesis},
    network::Network,
};
use market::ChainSpec;

use mined::{mined, worked};

/// When the lives begin, Unix seconds: 2026-01-01.
pub(crate) const START: u32 = 1_767_225_600;

/// Whoever makes blocks.
#[derive(Debug, Clone)]
pub(crate) struct Miner {
    headers: Vec<Header>,
    /// Makes its blocks others than those of a miner that went another way.
    way: u32,
}

impl Miner {
    pub(crate) fn new() -> Miner {
        // A block that no chain begins with.
        let mut first = genesis(Network::Regtest);
        first.time += 1;
        Miner {
            headers: vec![worked(first)],
            way: 0,
        }
    }

    /// Makes blocks.
    pub(crate) fn mine(&mut self, count: u32) {
        for _ in 0..count {
            let time = START - 3600 + self.headers.len() as u32 * 10 + self.way;
            self.mine_at(time);
        }
    }

    /// Makes blocks, one a second.
    pub(crate) fn mine_fast(&mut self, count: u32) {
        for _ in 0..count {
            let time = START - 3600 + self.headers.len() as u32 + self.way;
            self.mine_at(time);
        }
    }

    /// Makes a block of a time.
    pub(crate) fn mine_at(&mut self, time: u32) {
        let parent = &self.headers[self.headers.len() - 1];
        self.headers.push(mined(parent, time));
    }

    /// The chain that it makes blocks of, of which no more is known than where it begins, at a height.
    pub(crate) fn chain(&self, height: u32) -> ChainSpec {
        ChainSpec {
            network: Network::Regtest,
            anchor: Anchor {
                next: height + 1,
                hash: self.headers[0].block_hash(),
                bits: self.headers[0].bits,
                work: Work::from_be_bytes([0; 32]),
            },
        }
    }

    /// Goes another way after so many blocks less.
    pub(crate) fn fork(&mut self, less: u32) {
        self.headers.truncate(self.headers.len() - less as usize);
        self.way += 1;
    }

    /// The newest headers.
    pub(crate) fn newest(&self, count: usize) -> Vec<Header> {
        self.headers[self.headers.len() - count..].to_vec()
    }

    /// The hash of the newest.
    pub(crate) fn tip(&self) -> BlockHash {
        self.headers[self.headers.len() - 1].block_hash()
    }
}
