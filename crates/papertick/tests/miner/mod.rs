//! A chain that a test makes by itself, where a try or two makes a block.

use chain::{BlockHash, Header, Target, Version, anchor::genesis, network::Network};

/// What time it is when a test begins, Unix seconds: 2026-01-01.
pub const START: u32 = 1_767_225_600;

/// Whoever makes blocks on a network of one's own, where a try or two makes one.
#[derive(Debug, Clone)]
pub struct Miner {
    pub headers: Vec<Header>,
    way: u32,
}

impl Miner {
    pub fn with(count: u32) -> Miner {
        let mut miner = Miner {
            headers: vec![genesis(Network::Regtest)],
            way: 0,
        };
        miner.mine(count);
        miner
    }

    pub fn mine(&mut self, count: u32) {
        for _ in 0..count {
            self.mine_at(START - 4000 + self.headers.len() as u32 + self.way);
        }
    }

    pub fn mine_at(&mut self, time: u32) {
        let parent = self.headers[self.headers.len() - 1];
        let mut header = Header {
            version: Version::from_consensus(4),
            prev_blockhash: parent.block_hash(),
            time,
            nonce: 0,
            ..parent
        };
        while !Target::from_compact(header.bits).is_met_by(header.block_hash()) {
            header.nonce += 1;
        }
        self.headers.push(header);
    }

    /// Goes another way after so many blocks less, and some more.
    pub fn reorganise(&mut self, less: u32) {
        self.headers.truncate(self.headers.len() - less as usize);
        self.way += 1;
        self.mine(less + 1);
    }

    pub fn tip(&self) -> BlockHash {
        self.headers[self.headers.len() - 1].block_hash()
    }

    pub fn height(&self) -> u32 {
        self.headers.len() as u32 - 1
    }
}
