//! Headers with work and without, on a network of one's own, where a try or two is enough; for tests of several crates.

#![allow(dead_code, reason = "no test needs all of it")]

use chain::{Header, Target, Version};

/// A block of a time, after its parent.
pub fn mined(parent: &Header, time: u32) -> Header {
    worked(Header {
        version: Version::from_consensus(4),
        prev_blockhash: parent.block_hash(),
        time,
        nonce: 0,
        ..*parent
    })
}

/// The same with work, by the next nonce that has it.
pub fn worked(mut header: Header) -> Header {
    while !is_met(&header) {
        header.nonce = header.nonce.wrapping_add(1);
    }
    header
}

/// The same without work, by the next nonce that lacks it.
pub fn unworked(mut header: Header) -> Header {
    while is_met(&header) {
        header.nonce = header.nonce.wrapping_add(1);
    }
    header
}

/// Tells whether a block has the work that it claims.
fn is_met(header: &Header) -> bool {
    Target::from_compact(header.bits).is_met_by(header.block_hash())
}
