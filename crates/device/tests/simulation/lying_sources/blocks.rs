//! Valid and invalid blocks on regtest, where mining takes one or two attempts.

#[path = "../../../../chain/tests/mined/mod.rs"]
mod mined;

use chain::{
    CompactTarget, Header, Version, Work,
    anchor::{Anchor, genesis},
    network::Network,
};
use market::ChainSpec;

use mined::{with_work, without_work};

/// Height of the anchor.
pub const ANCHOR: u32 = 900_000;

/// Index of a block.
pub type BlockId = usize;

/// How a block breaks the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    NoWork,
    WrongBits,
    TooOld,
    OldVersion,
}

/// A block.
#[derive(Debug)]
struct Block {
    header: Header,
    height: u32,
    parent: BlockId,
    flaw: Option<Flaw>,
}

/// All blocks.
#[derive(Debug)]
pub struct Blocks(Vec<Block>);

impl Blocks {
    /// The anchor alone.
    pub fn new(time: u32) -> Blocks {
        let mut header = genesis(Network::Regtest);
        header.time = time;
        let header = with_work(header);
        let (height, parent, flaw) = (ANCHOR, 0, None);
        Blocks(vec![Block {
            header,
            height,
            parent,
            flaw,
        }])
    }

    /// The chain specification with the anchor.
    pub fn chain(&self) -> ChainSpec {
        let anchor = self.0[0].header;
        ChainSpec {
            network: Network::Regtest,
            anchor: Anchor {
                next: ANCHOR + 1,
                hash: anchor.block_hash(),
                bits: anchor.bits,
                work: Work::from_be_bytes([0; 32]),
            },
        }
    }

    /// Mines a block after `parent`, at `time` or later.
    pub fn make(&mut self, parent: BlockId, time: u32, flaw: Option<Flaw>) -> BlockId {
        let before = &self.0[parent];
        let height = before.height + 1;
        let mut header = Header {
            // Makes two blocks with the same parent differ.
            version: Version::from_consensus(4 + i32::try_from(self.0.len()).unwrap()),
            prev_blockhash: before.header.block_hash(),
            time: time.max(before.header.time + 1),
            nonce: 0,
            ..before.header
        };
        match flaw {
            None | Some(Flaw::NoWork) => {}
            Some(Flaw::WrongBits) => header.bits = CompactTarget::from_consensus(0x2070_0000),
            Some(Flaw::TooOld) => header.time = self.0[0].header.time,
            Some(Flaw::OldVersion) => header.version = Version::from_consensus(1),
        }
        let header = match flaw {
            Some(Flaw::NoWork) => without_work(header),
            _ => with_work(header),
        };
        self.0.push(Block {
            header,
            height,
            parent,
            flaw,
        });
        self.0.len() - 1
    }

    /// A block and its ancestors, oldest first, without the anchor.
    pub fn path(&self, tip: BlockId) -> Vec<BlockId> {
        let steps = std::iter::successors(Some(tip), |id| Some(self.0[*id].parent));
        let mut path: Vec<BlockId> = steps.take_while(|id| *id > 0).collect();
        path.reverse();
        path
    }

    /// The ancestor `blocks` before a block, or the anchor.
    pub fn before(&self, mut id: BlockId, blocks: u32) -> BlockId {
        (0..blocks).for_each(|_| id = self.0[id].parent);
        id
    }

    pub fn headers(&self, ids: &[BlockId]) -> Vec<Header> {
        ids.iter().map(|id| self.0[*id].header).collect()
    }

    pub fn height(&self, id: BlockId) -> u32 {
        self.0[id].height
    }

    pub fn flaw(&self, id: BlockId) -> Option<Flaw> {
        self.0[id].flaw
    }
}
