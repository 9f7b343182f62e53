//! A miner on regtest, where a block needs one or two attempts; and real blocks.

#[path = "../../../chain/tests/mined/mod.rs"]
pub(crate) mod mined;

use chain::{
    BlockHash, Header, Work,
    anchor::{Anchor, genesis},
    network::Network,
};
use market::ChainSpec;

use mined::{mined, with_work};

/// Start of the tests, Unix seconds: 2026-01-01.
pub(crate) const START: u32 = 1_767_225_600;

/// A miner.
#[derive(Debug, Clone)]
pub(crate) struct Miner {
    headers: Vec<Header>,
    /// Makes the blocks of a fork differ.
    branch: u32,
}

impl Miner {
    pub(crate) fn new() -> Miner {
        // A first block that differs from the genesis block.
        let mut first = genesis(Network::Regtest);
        first.time += 1;
        Miner {
            headers: vec![with_work(first)],
            branch: 0,
        }
    }

    /// Mines blocks.
    pub(crate) fn mine(&mut self, count: u32) {
        for _ in 0..count {
            let time = START - 3600 + self.headers.len() as u32 * 10 + self.branch;
            self.mine_at(time);
        }
    }

    /// Mines blocks, one per second.
    pub(crate) fn mine_fast(&mut self, count: u32) {
        for _ in 0..count {
            let time = START - 3600 + self.headers.len() as u32 + self.branch;
            self.mine_at(time);
        }
    }

    /// Mines a block with a time.
    pub(crate) fn mine_at(&mut self, time: u32) {
        let parent = &self.headers[self.headers.len() - 1];
        self.headers.push(mined(parent, time));
    }

    /// The chain with its first block as the anchor at a height.
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

    /// Removes blocks, so that the next ones start a fork.
    pub(crate) fn fork(&mut self, less: u32) {
        self.headers.truncate(self.headers.len() - less as usize);
        self.branch += 1;
    }

    /// The newest headers.
    pub(crate) fn newest(&self, count: usize) -> Vec<Header> {
        self.headers[self.headers.len() - count..].to_vec()
    }

    /// Hash of the newest block.
    pub(crate) fn tip(&self) -> BlockHash {
        self.headers[self.headers.len() - 1].block_hash()
    }
}
