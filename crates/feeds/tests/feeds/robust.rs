//! Arbitrary bytes, truncated messages and changed messages never break a parser.

use std::{fs, path::Path};

use feeds::{exchange, explorer, malformed::Malformed, miner, nostr::frame, pools, relay, release};
use proptest::{prelude::*, sample::Index};

use crate::{
    support::{answer_of, fixture, unhex},
    targets::{TARGETS, run},
};

/// Seeds of a fuzz target.
#[expect(clippy::disallowed_methods, reason = "seeds are files")]
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/seeds")
        .join(target);
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

#[test]
fn every_target_has_seeds_and_holds_for_them() {
    for (name, target) in TARGETS {
        let seeds = seeds(name);
        assert!(!seeds.is_empty(), "{name}");
        for seed in seeds {
            target(&seed);
        }
    }
}

/// A complete message, and whether a parser accepts it.
type Whole = (Vec<u8>, fn(&[u8]) -> bool);

#[test]
fn a_truncated_message_is_malformed() {
    let json = |name: &str| fixture(name).trim_ascii_end().to_vec();
    let relay_frames = [
        "81a36d7367a757656c636f6d65",
        "81a9626c6f636b66656532cb4029800000000000",
        "81a5707269636581a3555344a836343231312e3533",
    ];
    let event =
        serde_json::json!(["EVENT", "s", {"tags": [["d", "x"]], "content": "5"}]).to_string();
    let mut whole: Vec<Whole> = vec![
        (json("explorer/snapshot.json"), |bytes| {
            explorer::frame(bytes, true).is_ok()
        }),
        (json("exchange/ticker.json"), |bytes| {
            exchange::frame(bytes).is_ok()
        }),
        (json("miner/info.json"), |bytes| miner::body(bytes).is_ok()),
        (json("release/latest.json"), |bytes| {
            release::feed(bytes).is_ok()
        }),
        (br#"["USD","EUR"]"#.to_vec(), |bytes| {
            relay::currencies(bytes).is_ok()
        }),
        (event.into_bytes(), |bytes| frame::message(bytes).is_ok()),
    ];
    whole.extend(relay_frames.map(|frame| {
        let check: fn(&[u8]) -> bool = |bytes| relay::frame(bytes, true).is_ok();
        (unhex(frame), check)
    }));
    for (message, is_read) in whole {
        assert!(is_read(&message));
        for end in ends(&message) {
            assert!(
                !is_read(&message[..end]),
                "{end}: {}",
                String::from_utf8_lossy(&message)
            );
        }
    }
    for pool in pools::POOLS {
        let body = answer_of(pool.id).trim_ascii_end().to_vec();
        assert!(pool.body(&body).is_ok());
        assert!(
            ends(&body).all(|end| pool.body(&body[..end]).is_err()),
            "{}",
            pool.id
        );
    }
}

/// Positions of a truncation: all, or a hundred of a long message.
fn ends(message: &[u8]) -> impl Iterator<Item = usize> + use<> {
    (0..message.len()).step_by(1 + message.len() / 300)
}

#[derive(Debug, Clone)]
enum Change {
    Set(Index, u8),
    Insert(Index, u8),
    Remove(Index),
    Double(Index, Index),
    Cut(Index),
}

fn change() -> impl Strategy<Value = Change> {
    let byte = prop_oneof![
        any::<u8>(),
        proptest::sample::select(&b"\"[]{}:,0123456789.-+eE \\\x00\x81\xdb\xff"[..])
    ];
    prop_oneof![
        (any::<Index>(), byte.clone()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (any::<Index>(), byte).prop_map(|(at, byte)| Change::Insert(at, byte)),
        any::<Index>().prop_map(Change::Remove),
        (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Change::Double(from, to)),
        any::<Index>().prop_map(Change::Cut),
    ]
}

fn changed(mut message: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        let at = |index: &Index| index.index(message.len().max(1)).min(message.len());
        match change {
            Change::Set(index, byte) => {
                let at = at(index);
                if let Some(place) = message.get_mut(at) {
                    *place = *byte;
                }
            }
            Change::Insert(index, byte) => message.insert(at(index), *byte),
            Change::Remove(index) if !message.is_empty() => {
                message.remove(at(index));
            }
            Change::Remove(_) => {}
            Change::Double(from, to) => {
                let (from, to) = (at(from), at(to));
                let part = message[from.min(to)..from.max(to)].to_vec();
                message.splice(to..to, part);
            }
            Change::Cut(index) => message.truncate(at(index)),
        }
        message.truncate(64 * 1024);
    }
    message
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_bytes_break_a_parser(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for (_, target) in TARGETS {
            target(&bytes);
        }
    }
}

proptest! {
    #[test]
    fn no_change_breaks_a_parser(
        target in 0..TARGETS.len(),
        seed in any::<Index>(),
        changes in proptest::collection::vec(change(), 1..8),
    ) {
        let (name, _) = TARGETS[target];
        let seeds = seeds(name);
        run(name, &changed(seed.get(&seeds).clone(), &changes));
    }
}

/// A message padded with blanks up to the limit, and one byte beyond it.
#[test]
fn each_message_has_an_exact_length_limit() {
    type Read = fn(&[u8]) -> Result<(), Malformed>;
    #[rustfmt::skip]
    let rows: &[(&str, usize, Read)] = &[
        ("{}", 64 * 1024, |text| exchange::frame(text).map(drop)),
        ("{}", 256 * 1024, |text| { explorer::frame(text, true).map(drop) }),
        ("[]", 64 * 1024, |body| { explorer::projected_body(body, true).map(drop) }),
        ("870123", 32, |body| explorer::tip_body(body).map(drop)),
        ("{}", 16 * 1024, |body| miner::body(body).map(drop)),
        (r#"["EOSE","s"]"#, 256 * 1024, |text| { frame::message(text).map(drop) }),
        ("870123", 32, |body| relay::last_block(body).map(drop)),
        ("{}", release::FEED_BODY_MAX, |body| { release::feed(body).map(drop) }),
        ("00", 1024, |body| release::checksum(body).map(drop)),
        (r#"["USD"]"#, 1024, |body| relay::currencies(body).map(drop)),
        ("{}", 256 * 1024, |body| { let ocean = pools::find("ocean").unwrap(); ocean.body(body).map(drop) }),
    ];
    for (row, (text, limit, read)) in rows.iter().enumerate() {
        let padded = |length: usize| {
            [text, &*" ".repeat(length - text.len())]
                .concat()
                .into_bytes()
        };
        let too_long = Err(Malformed("too-long"));
        assert_ne!(read(&padded(*limit)), too_long, "row {row}");
        assert_eq!(read(&padded(limit + 1)), too_long, "row {row}");
    }
}
