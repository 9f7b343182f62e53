//! Validates chains of block headers, so that a height carries its own proof.
//!
//! Headers prove work, not that the content of the blocks is valid; a chain cannot be forged without doing the work.
//! `network` has the rules that differ between networks, `anchor` where validation starts, `rules` the checks of one
//! header, `chain` a chain and its reorganisations, `alone` the check of a single header.
//!
//! **Invariant:** no I/O, no clock, no random numbers; time is an argument.
//! **Invariant:** for any input, a chain stores at most [`chain::HEADERS_MAX`] headers.
#![warn(missing_docs)]
#![no_std]

extern crate alloc;

pub mod alone;
pub mod anchor;
pub mod chain;
pub mod network;
pub mod rules;

pub use bitcoin::{
    BlockHash, CompactTarget, Target, TxMerkleNode, Work,
    block::{Header, Version},
};

use bitcoin::hashes::Hash;

/// Bytes of a header.
pub const HEADER_BYTES: usize = 80;

/// Decodes a header. `None` unless it has exactly [`HEADER_BYTES`] bytes.
pub fn header(bytes: &[u8]) -> Option<Header> {
    let bytes: &[u8; HEADER_BYTES] = bytes.try_into().ok()?;
    let (version, rest) = bytes.split_first_chunk::<4>()?;
    let (previous, rest) = rest.split_first_chunk::<32>()?;
    let (merkle_root, rest) = rest.split_first_chunk::<32>()?;
    let (time, rest) = rest.split_first_chunk::<4>()?;
    let (bits, rest) = rest.split_first_chunk::<4>()?;
    let (nonce, _) = rest.split_first_chunk::<4>()?;
    Some(Header {
        version: Version::from_consensus(i32::from_le_bytes(*version)),
        prev_blockhash: BlockHash::from_byte_array(*previous),
        merkle_root: TxMerkleNode::from_byte_array(*merkle_root),
        time: u32::from_le_bytes(*time),
        bits: CompactTarget::from_consensus(u32::from_le_bytes(*bits)),
        nonce: u32::from_le_bytes(*nonce),
    })
}

/// Encodes a header.
pub fn bytes(header: &Header) -> [u8; HEADER_BYTES] {
    let fields = [
        &header.version.to_consensus().to_le_bytes()[..],
        header.prev_blockhash.as_byte_array(),
        header.merkle_root.as_byte_array(),
        &header.time.to_le_bytes(),
        &header.bits.to_consensus().to_le_bytes(),
        &header.nonce.to_le_bytes(),
    ];
    let mut bytes = [0; HEADER_BYTES];
    let mut at = 0;
    for field in fields {
        bytes[at..at + field.len()].copy_from_slice(field);
        at += field.len();
    }
    bytes
}

/// The hash of a header.
pub(crate) fn hash(header: &Header) -> BlockHash {
    BlockHash::hash(&bytes(header))
}
