//! The cost of verifying headers, compared with hashing them with the same crate.

use std::{fs, path::PathBuf};

use bitcoin::hashes::{Hash, sha256d};
use chain::{HEADER_BYTES, Header, anchor::Anchor, chain::Chain, header, network::Network};
use divan::{Bencher, counter::ItemsCount};

/// Height of the first header of the file.
const FIRST: u32 = 822_528;

fn main() {
    divan::main();
}

fn bytes() -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/headers");
    fs::read(folder.join("mainnet-822528-830592.bin")).unwrap_or_default()
}

fn headers(bytes: &[u8]) -> Vec<Header> {
    bytes
        .chunks_exact(HEADER_BYTES)
        .filter_map(header)
        .collect()
}

/// Baseline: only double SHA-256 of every header.
#[divan::bench]
fn hash_8065(bencher: Bencher) {
    let bytes = bytes();
    bencher
        .counter(ItemsCount::new(bytes.len() / HEADER_BYTES))
        .bench(|| {
            bytes
                .chunks_exact(HEADER_BYTES)
                .map(|header| sha256d::Hash::hash(header).to_byte_array()[31])
                .fold(0, |all, byte| all | byte)
        });
}

/// From message bytes to a chain, with all checks.
#[divan::bench]
fn verify_8065(bencher: Bencher) {
    let bytes = bytes();
    let all = headers(&bytes);
    let anchor = Anchor {
        next: FIRST,
        hash: all[0].prev_blockhash,
        bits: all[0].bits,
        ..Anchor::before_genesis(Network::Main)
    };
    bencher.counter(ItemsCount::new(all.len())).bench(|| {
        let mut chain = Chain::new(Network::Main, anchor);
        for message in bytes.chunks(2000 * HEADER_BYTES) {
            let result = chain.accept(&headers(message), None);
            assert!(result.is_ok(), "{result:?}");
        }
        chain
    });
}

/// One more block, as it arrives every ten minutes.
#[divan::bench]
fn one_more(bencher: Bencher) {
    let all = headers(&bytes());
    let anchor = Anchor {
        next: FIRST,
        hash: all[0].prev_blockhash,
        bits: all[0].bits,
        ..Anchor::before_genesis(Network::Main)
    };
    let mut chain = Chain::new(Network::Main, anchor);
    let (newest, before) = all
        .split_last()
        .unwrap_or_else(|| unreachable!("there are headers"));
    let result = chain.accept(before, None);
    assert!(result.is_ok(), "{result:?}");
    bencher
        .with_inputs(|| chain.clone())
        .bench_refs(|chain| chain.accept(&[*newest], None));
}
