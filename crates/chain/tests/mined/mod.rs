//! A block after another on a network of one's own, where a try or two makes one; for the tests of all crates.

use chain::{Header, Target, Version};

/// A block of a time, after its parent.
pub fn mined(parent: &Header, time: u32) -> Header {
    let mut header = Header {
        version: Version::from_consensus(4),
        prev_blockhash: parent.block_hash(),
        time,
        nonce: 0,
        ..*parent
    };
    while !is_met(&header) {
        header.nonce += 1;
    }
    header
}

/// Tells whether a block has the work that it claims.
pub fn is_met(header: &Header) -> bool {
    Target::from_compact(header.bits).is_met_by(header.block_hash())
}
