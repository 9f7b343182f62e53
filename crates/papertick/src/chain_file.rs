//! The file of block headers that survives restarts.
//!
//! A file of another network or another anchor is ignored, because the configured anchor is the only trusted header.

use chain::{BlockHash, CompactTarget, HEADER_BYTES, Header, Work, anchor::Anchor, chain::Chain};
use market::ChainSpec;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The file: the network, the anchor, the block before the first header, and all headers, oldest first.
#[derive(Serialize, Deserialize)]
struct ChainFile {
    network: String,
    anchor: String,
    next: u32,
    hash: String,
    bits: u32,
    #[serde(with = "hex::serde")]
    work: [u8; 32],
    #[serde(with = "hex::serde")]
    headers: Vec<u8>,
}

pub fn content(spec: &ChainSpec, chain: &Chain) -> Map<String, Value> {
    let base = chain.base();
    let file = json!(ChainFile {
        network: spec.network.name().to_owned(),
        anchor: anchor_text(&spec.anchor),
        next: base.next,
        hash: base.hash.to_string(),
        bits: base.bits.to_consensus(),
        work: base.work.to_be_bytes(),
        headers: chain.headers().flat_map(chain::bytes).collect(),
    });
    file.as_object().cloned().unwrap_or_default()
}

/// The chain in a file; all headers are verified again. `None` if it is another chain than the configured one.
pub fn read(content: &Map<String, Value>, spec: &ChainSpec) -> Option<Chain> {
    let file = ChainFile::deserialize(content).ok()?;
    if file.network != spec.network.name() || file.anchor != anchor_text(&spec.anchor) {
        return None;
    }
    let base = Anchor {
        next: file.next,
        hash: file.hash.parse::<BlockHash>().ok()?,
        bits: CompactTarget::from_consensus(file.bits),
        work: Work::from_be_bytes(file.work),
    };
    let headers = file.headers.chunks_exact(HEADER_BYTES);
    let headers: Vec<Header> = headers.filter_map(chain::header).collect();
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

    #[test]
    fn a_file_of_another_chain_is_ignored() {
        let (spec, chain) = long();
        let stored = content(&spec, &chain);
        assert_eq!(read(&Map::new(), &spec), None);
        let main = ChainSpec::built_in(Network::Main);
        assert_eq!(read(&stored, &main), None);
        let mut other = spec;
        other.anchor.next = 2016;
        assert_eq!(read(&stored, &other), None);
        for (member, value) in [
            ("next", json!(-1)),
            ("hash", json!("00")),
            ("bits", Value::Null),
            ("work", json!("0x0")),
            ("headers", json!("0")),
        ] {
            let mut stored = stored.clone();
            stored.insert(member.to_string(), value);
            assert_eq!(read(&stored, &spec), None, "{member}");
        }
    }

    #[test]
    fn the_chain_ends_before_a_damaged_header() {
        let (spec, chain) = long();
        let mut stored = content(&spec, &chain);
        let count = chain.headers().len();
        let mut headers: Vec<u8> = chain.headers().flat_map(chain::bytes).collect();
        let last = headers.len() - HEADER_BYTES;
        // Breaks the link to the previous block. Another damage might leave enough work on regtest.
        headers[last + 4] ^= 1;
        stored.insert("headers".into(), hex::encode(headers).into());
        let newest = read(&stored, &spec).unwrap();
        assert_eq!(newest.headers().len(), count - 1);
        assert!(newest.headers().eq(chain.headers().take(count - 1)));
    }
}
