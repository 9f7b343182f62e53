//! A miner on regtest, where a block needs one or two attempts.

#[path = "../../../chain/tests/mined/mod.rs"]
pub mod mined;

use chain::{BlockHash, Header, anchor::genesis, network::Network};

use mined::mined;

/// Start of the tests, Unix seconds: 2026-01-01.
pub const START: u32 = 1_767_225_600;

#[derive(Debug, Clone)]
pub struct Miner {
    pub headers: Vec<Header>,
    branch: u32,
}

impl Miner {
    pub fn with(count: u32) -> Miner {
        let mut miner = Miner {
            headers: vec![genesis(Network::Regtest)],
            branch: 0,
        };
        miner.mine(count);
        miner
    }

    pub fn mine(&mut self, count: u32) {
        for _ in 0..count {
            self.mine_at(START - 4000 + self.headers.len() as u32 + self.branch);
        }
    }

    pub fn mine_at(&mut self, time: u32) {
        let parent = &self.headers[self.headers.len() - 1];
        self.headers.push(mined(parent, time));
    }

    /// Replaces blocks by a longer branch.
    pub fn reorganise(&mut self, less: u32) {
        self.headers.truncate(self.headers.len() - less as usize);
        self.branch += 1;
        self.mine(less + 1);
    }

    pub fn tip(&self) -> BlockHash {
        self.headers[self.headers.len() - 1].block_hash()
    }

    pub fn height(&self) -> u32 {
        self.headers.len() as u32 - 1
    }
}
