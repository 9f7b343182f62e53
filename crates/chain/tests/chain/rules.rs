//! Each rule broken, competing branches, and bounds.

use bitcoin::{CompactTarget, block::Version};
use chain::{
    BlockHash, Header,
    anchor::{Anchor, BadAnchor, genesis},
    chain::{Chain, ChainChange, HEADERS_MAX, InvalidHeader, REORG_MAX},
    network::{Network, PERIOD},
    rules::HeaderRefusal,
};
use proptest::prelude::*;

use crate::{
    mined::without_work,
    support::{self, branch, mine, mine_with},
};

/// Target of regtest.
const EASY: u32 = 0x207f_ffff;

/// Time of the first block.
const START: u32 = 1_800_000_000;

fn regtest() -> Chain {
    Chain::new(Network::Regtest, Anchor::built_in(Network::Regtest))
}

fn with(blocks: u32) -> (Chain, Vec<Header>) {
    let mut chain = regtest();
    let headers = branch(chain.tip(), START, blocks, 0);
    assert_eq!(
        chain.accept(&headers, None),
        Ok(ChainChange::Longer(blocks))
    );
    (chain, headers)
}

fn refused(rule: HeaderRefusal) -> Result<ChainChange, InvalidHeader> {
    Err(InvalidHeader {
        index: 0,
        rule,
        change: ChainChange::Known,
    })
}

#[test]
fn a_broken_rule_changes_nothing() {
    let (chain, headers) = with(20);
    let tip = chain.tip();
    let time = headers[19].time + 600;
    let bits = CompactTarget::from_consensus(EASY);
    let no_work = without_work(mine(tip, time, 1));
    let of_bits = |bits| mine_with(tip, time, 1, CompactTarget::from_consensus(bits), |_| {});
    let median = chain.median_time().unwrap();
    assert_eq!(median, headers[14].time);
    let at = |time| mine(tip, time, 1);
    // Of two broken rules, the one that Bitcoin Core reports is named.
    let early_and_old = mine_with(tip, time + 7201, 1, bits, |header| {
        header.version = Version::from_consensus(1);
    });
    #[rustfmt::skip]
    let rows = [
        (mine(BlockHash::from_raw_hash(*no_work.block_hash().as_raw_hash()), time, 1), HeaderRefusal::Unconnected),
        (no_work, HeaderRefusal::NoWork),
        (of_bits(0x207f_fffe), HeaderRefusal::WrongBits),
        (of_bits(0x1f7f_ffff), HeaderRefusal::WrongBits),
        (at(median), HeaderRefusal::TooOld),
        (at(START), HeaderRefusal::TooOld),
        (at(time + 7201), HeaderRefusal::Future),
        (early_and_old, HeaderRefusal::Future),
    ];
    for (header, why) in rows {
        let mut after = chain.clone();
        assert_eq!(after.accept(&[header], Some(time)), refused(why), "{why}");
        assert_eq!(after, chain);
    }
    for (time_now, header) in [
        (None, at(u32::MAX)),
        (Some(time), at(time + 7200)),
        (Some(time), at(median + 1)),
    ] {
        let mut after = chain.clone();
        assert_eq!(
            after.accept(&[header], time_now),
            Ok(ChainChange::Longer(1))
        );
    }
    let easier = mine_with(tip, time, 1, bits, |header| {
        header.bits = CompactTarget::from_consensus(0x2100_ffff);
    });
    assert_eq!(
        chain.clone().accept(&[easier], None),
        refused(HeaderRefusal::WrongBits)
    );
}

#[test]
fn an_invalid_difficulty_is_refused_for_any_hash() {
    let (chain, headers) = with(1);
    for bits in [
        0,
        0x0180_0001,
        0x0480_0001,
        0x2300_0001,
        0x2200_0100,
        0x2101_0000,
        0xFF7F_FFFF,
    ] {
        let mut header = mine(chain.tip(), headers[0].time + 600, 1);
        header.bits = CompactTarget::from_consensus(bits);
        let result = chain.clone().accept(&[header], None);
        assert_eq!(result, refused(HeaderRefusal::WrongBits), "{bits:08x}");
    }
}

#[test]
fn an_obsolete_version_is_refused_from_its_first_height() {
    let tip = genesis(Network::Regtest).block_hash();
    let cases = [
        (i32::MIN, false),
        (-1, false),
        (1, false),
        (2, false),
        (3, false),
        (4, true),
        (0x2000_0000, true),
        (i32::MAX, true),
    ];
    for (version, is_taken) in cases {
        let mut chain = Chain::new(Network::Regtest, Anchor::before_genesis(Network::Regtest));
        let bits = CompactTarget::from_consensus(EASY);
        let header = mine_with(tip, START, 0, bits, |header| {
            header.version = Version::from_consensus(version);
        });
        let expected = if is_taken {
            Ok(ChainChange::Longer(1))
        } else {
            refused(HeaderRefusal::OldVersion)
        };
        assert_eq!(chain.accept(&[header], None), expected, "{version}");
    }
}

#[test]
fn headers_before_a_bad_one_are_accepted() {
    let mut chain = regtest();
    let mut headers = branch(chain.tip(), START, 5, 0);
    headers[3] = without_work(headers[3]);
    let rule = HeaderRefusal::NoWork;
    let change = ChainChange::Longer(3);
    assert_eq!(
        chain.accept(&headers, None),
        Err(InvalidHeader {
            index: 3,
            rule,
            change
        })
    );
    assert_eq!(chain.height(), Some(3));
    // The index counts from the first header received, known or not.
    let change = ChainChange::Known;
    assert_eq!(
        chain.accept(&headers[1..], None),
        Err(InvalidHeader {
            index: 2,
            rule,
            change
        })
    );
}

#[test]
fn one_to_six_blocks_are_replaced_by_more_work() {
    for depth in 1..=6 {
        let (chain, headers) = with(20);
        let fork = 20 - depth as usize;
        let other = branch(
            headers[fork - 1].block_hash(),
            headers[fork].time + 1,
            depth + 1,
            1,
        );
        let mut all_at_once = chain.clone();
        assert_eq!(
            all_at_once.accept(&other, None),
            Ok(ChainChange::Reorganised(depth))
        );
        assert_eq!(all_at_once.height(), Some(21));
        assert_eq!(all_at_once.tip(), other[depth as usize].block_hash());
        // Equal work does not win.
        let mut chain = chain;
        let before = chain.clone();
        assert_eq!(
            chain.accept(&other[..depth as usize], None),
            Ok(ChainChange::Weaker)
        );
        assert_eq!(chain, before);
        // If the last header is bad, the ones before it still win.
        let mut longer = other.clone();
        longer.push(mine_with(
            other[0].block_hash(),
            START,
            1,
            other[0].bits,
            |_| {},
        ));
        let rule = HeaderRefusal::Unconnected;
        let (index, change) = (longer.len() - 1, ChainChange::Reorganised(depth));
        let mut weaker = other[..depth as usize].to_vec();
        weaker.push(headers[0]);
        let refused = InvalidHeader {
            index: depth as usize,
            rule,
            change: ChainChange::Weaker,
        };
        assert_eq!(chain.accept(&weaker, None), Err(refused));
        assert_eq!(chain, before);
        assert_eq!(
            chain.accept(&longer, None),
            Err(InvalidHeader {
                index,
                rule,
                change
            })
        );
        assert_eq!(chain, all_at_once);
        // Headers that overlap the chain count from where they differ.
        let mut whole = vec![headers[fork - 2], headers[fork - 1]];
        whole.extend(&other);
        assert_eq!(
            before.clone().accept(&whole, None),
            Ok(ChainChange::Reorganised(depth))
        );
    }
}

#[test]
fn old_headers_are_dropped_and_their_work_is_kept() {
    let mut chain = regtest();
    let headers = branch(chain.tip(), START, 3 * PERIOD, 0);
    let mut longest = 0;
    for message in headers.chunks(100) {
        chain.accept(message, None).unwrap();
        longest = longest.max(chain.headers().len());
        assert_eq!(
            chain.height().unwrap() + 1,
            chain.base().next + chain.headers().len() as u32
        );
    }
    assert!(longest < HEADERS_MAX, "{longest}");
    assert_eq!(chain.height(), Some(3 * PERIOD));
    let all = headers
        .iter()
        .fold(genesis(Network::Regtest).work(), |work, header| {
            work + header.work()
        });
    assert_eq!(chain.work(), all);
    let stored = chain
        .headers()
        .fold(chain.base().work, |work, header| work + header.work());
    assert_eq!(stored, all);
    let first = chain.headers().next().unwrap();
    assert_eq!(chain.base().hash, first.prev_blockhash);
    // A branch from before all stored headers is not connected.
    let old = branch(headers[10].block_hash(), START, 1, 9);
    assert_eq!(
        chain.accept(&old, None),
        refused(HeaderRefusal::Unconnected)
    );
    // A reorganisation of the greatest depth is always possible.
    let fork = headers.len() - REORG_MAX as usize;
    let other = branch(
        headers[fork - 1].block_hash(),
        headers[fork].time,
        REORG_MAX + 1,
        9,
    );
    assert_eq!(
        chain.accept(&other, None),
        Ok(ChainChange::Reorganised(REORG_MAX))
    );
}

#[test]
fn a_locator_reaches_the_start_in_growing_steps() {
    let (chain, headers) = with(100);
    let locator = chain.locator();
    let heights: Vec<u32> = locator
        .iter()
        .filter_map(|hash| (0..=100).find(|height| chain.hash(*height) == Some(*hash)))
        .collect();
    assert_eq!(
        heights,
        [
            100, 99, 98, 97, 96, 95, 94, 93, 92, 91, 89, 85, 77, 61, 29, 0
        ]
    );
    assert_eq!(locator.len(), 16);
    assert_eq!(locator[15], genesis(Network::Regtest).block_hash());
    assert_eq!(locator[0], headers[99].block_hash());
    let empty = Chain::new(Network::Main, Anchor::built_in(Network::Main));
    assert_eq!(empty.locator(), [empty.base().hash]);
}

#[test]
fn an_anchor_is_the_end_of_a_period_with_a_hash_and_a_difficulty() {
    let built_in = Anchor::built_in(Network::Main);
    let hash = "00000000000000000001b315e72169bef4867bf780527aa97c625ee9c001dc5d";
    let parsed = Anchor::parse(&format!("953567:{hash}:170240c3"), Network::Main).unwrap();
    assert_eq!(parsed.height(), Some(953_567));
    assert_eq!(
        (parsed.next, parsed.hash, parsed.bits),
        (built_in.next, built_in.hash, built_in.bits)
    );
    #[rustfmt::skip]
    let rows = [
        ("", BadAnchor::Form),
        ("953567", BadAnchor::Form),
        (&format!("953567:{hash}"), BadAnchor::Form),
        (&format!("953567:{hash}:170240c3:"), BadAnchor::Form),
        (&format!("+953567:{hash}:170240c3"), BadAnchor::Form),
        (&format!("953566:{hash}:170240c3"), BadAnchor::Height(953_566)),
        (&format!("4294967295:{hash}:170240c3"), BadAnchor::Height(u32::MAX)),
        ("953567:0001:170240c3", BadAnchor::Hash("0001".into())),
        // An additional leading digit makes it larger than any block of this difficulty.
        (&format!("953567:1{}:170240c3", &hash[1..]), BadAnchor::Hash(format!("1{}", &hash[1..]))),
        (&format!("953567:{hash}:"), BadAnchor::Bits("".into())),
        (&format!("953567:{hash}:+70240c3"), BadAnchor::Bits("+70240c3".into())),
        (&format!("953567:{hash}:1e00ffff"), BadAnchor::Bits("1e00ffff".into())),
        (&format!("953567:{hash}:17824040"), BadAnchor::Bits("17824040".into())),
    ];
    for (text, why) in rows {
        assert_eq!(Anchor::parse(text, Network::Main), Err(why), "{text}");
    }
    let own = genesis(Network::Regtest).block_hash();
    assert!(Anchor::parse(&format!("7:{own}:207fffff"), Network::Regtest).is_ok());
    assert!(Anchor::parse(&format!("7:{own}:207fffff"), Network::Main).is_err());
}

proptest! {
    /// A chain that receives all branches ends with the one of most work, in any order.
    #[test]
    fn most_work_wins_in_any_order(
        forks in proptest::collection::vec((0_usize..30, 1_u32..40), 1..6),
        order in any::<u64>(),
    ) {
        let (mut chain, trunk) = with(30);
        let mut ends: Vec<Vec<Header>> = forks
            .iter()
            .enumerate()
            .map(|(salt, (fork, length))| {
                let mut end = trunk[..=*fork].to_vec();
                end.extend(branch(trunk[*fork].block_hash(), trunk[*fork].time + 600, *length, salt as u8 + 1));
                end
            })
            .collect();
        let longest = ends.iter().map(Vec::len).max().unwrap().max(30);
        let mut dice = order;
        ends.sort_by_key(|_| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            dice >> 33
        });
        for end in &ends {
            let before = chain.work();
            let news = chain.accept(end, None).unwrap();
            prop_assert!(chain.work() >= before);
            prop_assert_eq!(chain.work() > before, !matches!(news, ChainChange::Weaker | ChainChange::Known));
        }
        prop_assert_eq!(chain.height(), Some(longest as u32));
        for pair in chain.headers().collect::<Vec<_>>().windows(2) {
            prop_assert_eq!(pair[1].prev_blockhash, pair[0].block_hash());
        }
    }

    /// A mined header is accepted exactly if it keeps every rule; otherwise it is refused for a rule that it breaks.
    #[test]
    fn a_header_is_accepted_exactly_if_it_keeps_every_rule(
        version in prop_oneof![Just(1), Just(3), Just(4), Just(0x2000_0000), any::<i32>()],
        time in prop_oneof![-700..3_i64, 7190..7210_i64],
        bits in prop_oneof![4 => Just(EASY), 1 => Just(0x207f_fffe), 1 => Just(0x2070_0000)],
        is_linked in prop::bool::weighted(0.8),
        is_mined in prop::bool::weighted(0.8),
    ) {
        let (mut chain, headers) = with(20);
        // The median of the newest eleven; the time is 100 minutes after it.
        let (middle, now) = (headers[14].time, headers[14].time + 6000);
        let time = match time {
            ..3 => middle.saturating_add_signed(time as i32),
            _ => now + time as u32,
        };
        let unknown_block = mine(chain.tip(), START, 77).block_hash();
        let before = if is_linked { chain.tip() } else { unknown_block };
        let mut header = mine_with(before, time, 9, CompactTarget::from_consensus(bits), |header| {
            header.version = Version::from_consensus(version);
        });
        if !is_mined {
            header = without_work(header);
        }
        let mut broken = Vec::new();
        broken.extend((!is_linked).then_some(HeaderRefusal::Unconnected));
        broken.extend((!is_mined).then_some(HeaderRefusal::NoWork));
        broken.extend((bits != EASY).then_some(HeaderRefusal::WrongBits));
        broken.extend((time <= middle).then_some(HeaderRefusal::TooOld));
        broken.extend((time > now + 7200).then_some(HeaderRefusal::Future));
        broken.extend((version < 4).then_some(HeaderRefusal::OldVersion));
        let was = chain.clone();
        match chain.accept(&[header], Some(now)) {
            Ok(news) => prop_assert_eq!((news, broken), (ChainChange::Longer(1), vec![])),
            Err(refused) => {
                prop_assert!(broken.contains(&refused.rule), "{:?}, not {:?}", refused.rule, broken);
                prop_assert_eq!(chain, was);
            }
        }
    }
}

/// A genuine block with any changed bit is refused.
#[test]
fn a_genuine_block_with_a_changed_bit_is_refused() {
    let genuine = support::headers("mainnet-0-4099.bin");
    let mut chain = Chain::new(Network::Main, Anchor::before_genesis(Network::Main));
    chain.accept(&genuine[1..100], None).unwrap();
    let before = chain.clone();
    let block = chain::bytes(&genuine[100]);
    for bit in 0..block.len() * 8 {
        let mut other = block;
        other[bit / 8] ^= 1 << (bit % 8);
        let other = chain::header(&other).unwrap();
        assert!(chain.accept(&[other], None).is_err(), "bit {bit}");
        assert_eq!(chain, before, "bit {bit}");
    }
    assert_eq!(
        chain.accept(&genuine[100..101], None),
        Ok(ChainChange::Longer(1))
    );
}
