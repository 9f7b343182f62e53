//! Regtest headers with and without work, for tests of several crates. A try or two finds either.

#![allow(dead_code, reason = "each test target uses a part of it")]

use chain::{Header, Target, Version};

/// A mined block with a given time.
pub fn mined(parent: &Header, time: u32) -> Header {
    with_work(Header {
        version: Version::from_consensus(4),
        prev_blockhash: parent.block_hash(),
        time,
        nonce: 0,
        ..*parent
    })
}

/// Sets the next nonce that meets the target.
pub fn with_work(mut header: Header) -> Header {
    while !is_met(&header) {
        header.nonce = header.nonce.wrapping_add(1);
    }
    header
}

/// Sets the next nonce that misses the target.
pub fn without_work(mut header: Header) -> Header {
    while is_met(&header) {
        header.nonce = header.nonce.wrapping_add(1);
    }
    header
}

/// Returns whether a block meets its target.
fn is_met(header: &Header) -> bool {
    Target::from_compact(header.bits).is_met_by(header.block_hash())
}
