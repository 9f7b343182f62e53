//! Test headers: genuine ones, and mined ones.

use std::{fs, path::PathBuf, str::FromStr};

use bitcoin::{
    BlockHash, CompactTarget, TxMerkleNode,
    block::{Header, Version},
    hashes::Hash,
};
use chain::{HEADER_BYTES, anchor::Anchor, chain::Chain, header, network::Network};
use serde_json::Value;

use crate::mined::with_work;

/// Reads a file of genuine data.
pub fn file(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/headers");
    fs::read(folder.join(name)).unwrap()
}

/// The headers of a file.
pub fn headers(name: &str) -> Vec<Header> {
    let bytes = file(name);
    let (chunks, rest) = bytes.as_chunks::<HEADER_BYTES>();
    assert!(rest.is_empty());
    chunks.iter().map(|bytes| header(bytes).unwrap()).collect()
}

/// A document of genuine data.
pub fn json(name: &str) -> Vec<Value> {
    serde_json::from_slice(&file(name)).unwrap()
}

/// Hash of the last block of each period, and the target of the next one in decimal digits.
pub fn checkpoints() -> Vec<(BlockHash, String)> {
    let text = String::from_utf8(file("electrum-checkpoints.json")).unwrap();
    let words: Vec<&str> = text
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let pairs = words.chunks_exact(2);
    pairs
        .map(|pair| (hash(pair[0]), pair[1].to_owned()))
        .collect()
}

/// The header in the field `header`.
pub fn header_of(document: &Value) -> Header {
    let hex = document["header"].as_str().unwrap();
    let bytes: Vec<u8> = (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        .collect();
    header(&bytes).unwrap()
}

/// A hash as printed.
pub fn hash(text: &str) -> BlockHash {
    BlockHash::from_str(text).unwrap()
}

/// A chain that starts before genuine headers, the first of which starts a period.
pub fn chain_before(first: &Header, height: u32) -> Chain {
    let text = format!(
        "{}:{}:{:08x}",
        height - 1,
        first.prev_blockhash,
        first.bits.to_consensus()
    );
    Chain::new(Network::Main, Anchor::parse(&text, Network::Main).unwrap())
}

/// Mines a regtest block, which takes two tries on average.
pub fn mine(before: BlockHash, time: u32, salt: u8) -> Header {
    mine_with(
        before,
        time,
        salt,
        CompactTarget::from_consensus(0x207f_ffff),
        |_| {},
    )
}

/// Mines a block after `change` was applied to it.
pub fn mine_with(
    before: BlockHash,
    time: u32,
    salt: u8,
    bits: CompactTarget,
    change: impl Fn(&mut Header),
) -> Header {
    let mut header = Header {
        version: Version::from_consensus(0x2000_0000),
        prev_blockhash: before,
        merkle_root: TxMerkleNode::from_byte_array([salt; 32]),
        time,
        bits,
        nonce: 0,
    };
    change(&mut header);
    with_work(header)
}

/// A number of blocks after a block, ten minutes apart.
pub fn branch(mut before: BlockHash, start: u32, count: u32, salt: u8) -> Vec<Header> {
    let mut mined = Vec::new();
    for at in 0..count {
        let header = mine(before, start + at * 600, salt);
        before = header.block_hash();
        mined.push(header);
    }
    mined
}
