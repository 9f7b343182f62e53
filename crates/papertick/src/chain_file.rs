//! The file of block headers that survives restarts.
//!
//! A file of another network or another anchor is ignored, because the configured anchor is the only trusted header.

use chain::{BlockHash, CompactTarget, HEADER_BYTES, Header, Work, anchor::Anchor, chain::Chain};
use market::ChainSpec;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use storage::series::Records;

/// The description in the file: the network, the anchor, and the block before the first header.
#[derive(Serialize, Deserialize)]
struct FileDescription {
    network: String,
    anchor: String,
    next: u32,
    hash: String,
    bits: u32,
    #[serde(with = "hex::serde")]
    work: [u8; 32],
}

/// The description in the file.
pub fn about(spec: &ChainSpec, chain: &Chain) -> Map<String, Value> {
    let base = chain.base();
    let about = json!(FileDescription {
        network: spec.network.name().to_owned(),
        anchor: anchor_text(&spec.anchor),
        next: base.next,
        hash: base.hash.to_string(),
        bits: base.bits.to_consensus(),
        work: base.work.to_be_bytes(),
    });
    about.as_object().cloned().unwrap_or_default()
}

/// The bytes of all headers, oldest first.
pub fn headers(chain: &Chain) -> Vec<u8> {
    let headers = chain.headers();
    let mut bytes = Vec::with_capacity(headers.len() * HEADER_BYTES);
    for header in headers {
        bytes.extend(chain::bytes(header));
    }
    bytes
}

/// The chain in a file; all headers are verified again. `None` if it is another chain than the configured one.
pub fn read(records: &Records, spec: &ChainSpec) -> Option<Chain> {
    let about = FileDescription::deserialize(records.about.as_ref()?).ok()?;
    if about.network != spec.network.name() || about.anchor != anchor_text(&spec.anchor) {
        return None;
    }
    let base = Anchor {
        next: about.next,
        hash: about.hash.parse::<BlockHash>().ok()?,
        bits: CompactTarget::from_consensus(about.bits),
        work: Work::from_be_bytes(about.work),
    };
    let headers: Vec<Header> = records
        .bytes
        .chunks_exact(HEADER_BYTES)
        .filter_map(chain::header)
        .collect();
    let mut chain = Chain::new(spec.network, base);
    // If a header is damaged, the headers before it are used.
    let _ = chain.accept(&headers, None);
    Some(chain)
}

/// An anchor in the form of `--anchor`.
fn anchor_text(anchor: &Anchor) -> String {
    let bits = anchor.bits.to_consensus();
    format!("{}:{}:{bits:08x}", anchor.next, anchor.hash)
}

const _: () = assert!(HEADER_BYTES == storage::HEADER_BYTES);

#[cfg(test)]
mod tests {
    use chain::network::Network;

    use super::*;

    /// A chain longer than a difficulty period, on regtest, where a block needs only one or two attempts.
    fn long() -> (ChainSpec, Chain) {
        let spec = ChainSpec::built_in(Network::Regtest);
        let mut chain = Chain::new(spec.network, spec.anchor);
        while chain.base().next == 0 {
            mine(&mut chain);
        }
        mine(&mut chain);
        (spec, chain)
    }

    fn mine(chain: &mut Chain) {
        let newest = *chain.newest().unwrap();
        let mut header = Header {
            prev_blockhash: chain.tip(),
            version: chain::Version::from_consensus(4),
            time: newest.time + 600,
            nonce: 0,
            ..newest
        };
        while chain.accept(&[header], None).is_err() {
            header.nonce += 1;
        }
    }

    fn file_of(spec: &ChainSpec, chain: &Chain) -> Records {
        Records {
            about: Some(about(spec, chain)),
            bytes: headers(chain),
        }
    }

    #[test]
    fn a_file_of_another_chain_is_ignored() {
        let (spec, chain) = long();
        let records = file_of(&spec, &chain);
        assert_eq!(read(&Records::default(), &spec), None);
        let main = ChainSpec::built_in(Network::Main);
        assert_eq!(read(&records, &main), None);
        let mut other = spec;
        other.anchor.next = 2016;
        assert_eq!(read(&records, &other), None);
        for (member, value) in [
            ("next", json!(-1)),
            ("hash", json!("00")),
            ("bits", Value::Null),
            ("work", json!("0x0")),
        ] {
            let mut records = records.clone();
            let about = records.about.as_mut().unwrap();
            about.insert(member.to_string(), value);
            assert_eq!(read(&records, &spec), None, "{member}");
        }
    }

    #[test]
    fn the_chain_ends_before_a_damaged_header() {
        let (spec, chain) = long();
        let mut records = file_of(&spec, &chain);
        let count = chain.headers().len();
        let last = records.bytes.len() - HEADER_BYTES;
        // Breaks the link to the previous block. Another damage might leave enough work on regtest.
        records.bytes[last + 4] ^= 1;
        let newest = read(&records, &spec).unwrap();
        assert_eq!(newest.headers().len(), count - 1);
        assert!(newest.headers().eq(chain.headers().take(count - 1)));
    }
}
