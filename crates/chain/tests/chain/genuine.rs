//! Headers of the real networks.

use bitcoin::{CompactTarget, Target, TxMerkleNode, block::Version};
use chain::{
    Header, Work, alone,
    anchor::Anchor,
    bytes,
    chain::{Chain, ChainChange, HEADERS_MAX},
    network::{Network, PERIOD},
    rules::HeaderRefusal,
};
use std::str::FromStr;

use crate::support::{chain_before, checkpoints, hash, header_of, headers, json};

/// Headers per message.
const MESSAGE: usize = 2000;

fn accept_all(chain: &mut Chain, headers: &[Header]) {
    for message in headers.chunks(MESSAGE) {
        let change = chain.accept(message, None);
        assert_eq!(change, Ok(ChainChange::Longer(message.len() as u32)));
        assert!(chain.headers().len() < HEADERS_MAX);
    }
}

#[test]
fn the_first_blocks_form_a_chain() {
    let headers = headers("mainnet-0-4099.bin");
    let mut chain = Chain::new(Network::Main, Anchor::before_genesis(Network::Main));
    assert_eq!((chain.height(), chain.newest()), (Some(0), headers.first()));
    accept_all(&mut chain, &headers[1..]);
    assert_eq!(chain.height(), Some(4099));
    assert_eq!(chain.tip(), headers[4099].block_hash());
    assert_eq!(chain.newest(), Some(&headers[4099]));
}

#[test]
fn four_periods_and_their_changes_of_difficulty() {
    let headers = headers("mainnet-822528-830592.bin");
    let mut chain = chain_before(&headers[0], 822_528);
    accept_all(&mut chain, &headers);
    assert_eq!(chain.height(), Some(830_592));
    for height in [830_592, 830_591, 830_500] {
        let block = headers[(height - 822_528) as usize];
        assert_eq!(chain.hash(height), Some(block.block_hash()), "{height}");
    }
    assert_eq!(chain.hash(830_593), None);
    assert_eq!(chain.hash(0), None);
}

#[test]
fn work_is_the_sum_of_all_blocks() {
    let headers = headers("mainnet-822528-830592.bin");
    let first = headers[0];
    let work = Work::from_hex("0x624c18bf09286e431639df40").unwrap();
    let anchor = Anchor {
        next: 822_528,
        hash: first.prev_blockhash,
        bits: first.bits,
        work,
    };
    let mut chain = Chain::new(Network::Main, anchor);
    accept_all(&mut chain, &headers);
    let all = headers
        .iter()
        .fold(work, |work, header| work + header.work());
    assert_eq!(chain.work(), all);
}

#[test]
fn the_built_in_anchor_is_the_newest_checkpoint() {
    let checkpoints = checkpoints();
    let anchor = Anchor::built_in(Network::Main);
    assert_eq!(anchor.next, checkpoints.len() as u32 * PERIOD);
    assert_eq!(anchor.hash, checkpoints.last().unwrap().0);
    // The work of a period is that of its target times its number of blocks.
    let mut work = Work::from_be_bytes([0; 32]);
    let mut target = Network::Main.limit();
    for (_, next) in &checkpoints {
        for _ in 0..PERIOD {
            work = work + target.to_work();
        }
        target = of_decimal(next);
    }
    assert_eq!(anchor.work, work);
    assert_eq!(anchor.bits, target.to_compact_lossy());
}

/// A target from decimal digits, truncated to the precision of a header.
fn of_decimal(text: &str) -> Target {
    let mut bytes = [0_u8; 32];
    for digit in text.bytes() {
        let mut carry = u32::from(digit - b'0');
        for byte in bytes.iter_mut().rev() {
            let sum = u32::from(*byte) * 10 + carry;
            *byte = (sum % 256) as u8;
            carry = sum / 256;
        }
    }
    Target::from_compact(Target::from_be_bytes(bytes).to_compact_lossy())
}

#[test]
fn a_branch_wins_only_with_more_work() {
    let headers = headers("mainnet-822528-830592.bin");
    let stale = json("stale-headers.json");
    let inside: Vec<_> = stale
        .iter()
        .filter(|block| (822_528..830_592).contains(&block["height"].as_u64().unwrap()))
        .collect();
    assert_eq!(inside.len(), 9);
    for block in inside {
        let place = (block["height"].as_u64().unwrap() - 822_528) as usize;
        let loser = header_of(block);
        let mut chain = chain_before(&headers[0], 822_528);
        accept_all(&mut chain, &headers[..place]);
        assert_eq!(chain.accept(&[loser], None), Ok(ChainChange::Longer(1)));
        // Equal work: the first one received stays.
        assert_eq!(
            chain.accept(&[headers[place]], None),
            Ok(ChainChange::Weaker)
        );
        assert_eq!(chain.tip(), loser.block_hash());
        let best = &headers[place..place + 2];
        assert_eq!(chain.accept(best, None), Ok(ChainChange::Reorganised(1)));
        assert_eq!(chain.tip(), best[1].block_hash());
        assert_eq!(chain.height(), Some(822_528 + place as u32 + 1));
        // The losing block arrives late.
        assert_eq!(chain.accept(&[loser], None), Ok(ChainChange::Weaker));
        // The chain is as if the losing block had never existed.
        let mut straight = chain_before(&headers[0], 822_528);
        accept_all(&mut straight, &headers[..place + 2]);
        assert_eq!(chain, straight);
    }
}

#[test]
fn each_genuine_header_passes_alone() {
    for (name, first) in [
        ("mainnet-437466-437479.bin", 437_466),
        ("mainnet-554390-554408.bin", 554_390),
        ("mainnet-562621-562639.bin", 562_621),
    ] {
        // The end of an earlier period, from the list of all of them.
        let before = headers("mainnet-period-ends-0-832608.bin");
        let periods = (first / PERIOD) as usize;
        let (end, start) = (before[2 * periods - 1], before[2 * periods]);
        let text = format!(
            "{}:{}:{:08x}",
            periods as u32 * PERIOD - 1,
            end.block_hash(),
            start.bits.to_consensus()
        );
        let anchor = Anchor::parse(&text, Network::Main).unwrap();
        for (at, header) in headers(name).iter().enumerate() {
            let height = first + at as u32;
            let checked = alone::check(Network::Main, &anchor, header, height, Some(header.time));
            assert_eq!(checked, Ok(header.block_hash()), "{height}");
        }
    }
}

fn explored(block: &serde_json::Value) -> Header {
    let number = |name: &str| block[name].as_u64().unwrap() as u32;
    Header {
        version: Version::from_consensus(number("version") as i32),
        prev_blockhash: hash(block["previousblockhash"].as_str().unwrap()),
        merkle_root: TxMerkleNode::from_str(block["merkle_root"].as_str().unwrap()).unwrap(),
        time: number("timestamp"),
        bits: CompactTarget::from_consensus(number("bits")),
        nonce: number("nonce"),
    }
}

#[test]
fn a_header_of_an_explorer_is_a_proof_and_any_changed_bit_is_noticed() {
    let blocks = json("explorer-blocks.json");
    let headers: Vec<Header> = blocks.iter().map(explored).collect();
    assert_eq!(headers[1].prev_blockhash, headers[0].block_hash());
    // The period of both headers.
    let checkpoints = checkpoints();
    let period = 921_744 / PERIOD as usize;
    let anchor = Anchor {
        next: period as u32 * PERIOD,
        hash: checkpoints[period - 1].0,
        bits: of_decimal(&checkpoints[period - 1].1).to_compact_lossy(),
        work: Work::from_be_bytes([0; 32]),
    };
    let check = |header: &Header, height| {
        alone::check(Network::Main, &anchor, header, height, Some(1_762_000_000))
    };
    for (block, header) in blocks.iter().zip(&headers) {
        let height = block["height"].as_u64().unwrap() as u32;
        let id = hash(block["id"].as_str().unwrap());
        assert_eq!(check(header, height), Ok(id));
        for bit in 0..8 * chain::HEADER_BYTES {
            let mut changed = bytes(header);
            changed[bit / 8] ^= 1 << (bit % 8);
            let changed = chain::header(&changed).unwrap();
            let refused = check(&changed, height).unwrap_err();
            let expected = [HeaderRefusal::NoWork, HeaderRefusal::WrongBits];
            assert!(expected.contains(&refused), "bit {bit}: {refused}");
        }
        assert_eq!(check(header, 900_000), Err(HeaderRefusal::Unconnected));
    }
    let early = Some(headers[0].time - 2 * 3600 - 1);
    let future = alone::check(Network::Main, &anchor, &headers[0], 921_744, early);
    assert_eq!(future, Err(HeaderRefusal::Future));
}
