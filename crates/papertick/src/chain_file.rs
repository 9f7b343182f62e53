//! The chain of headers over restarts: what its file says of them, and what a file is worth.
//!
//! A file of another network, or of another anchor than the one the clock was started with, is worth nothing: whoever
//! names an anchor trusts nothing that came from elsewhere.

use chain::{BlockHash, CompactTarget, HEADER_BYTES, Header, Work, anchor::Anchor, chain::Chain};
use hex::FromHex;
use market::ChainSpec;
use serde_json::{Map, Value, json};
use storage::series::Records;

/// What the file says of its headers: the chain that they are of, and what comes before them.
pub fn about(spec: &ChainSpec, chain: &Chain) -> Map<String, Value> {
    let base = chain.base();
    let about = json!({
        "network": spec.network.name(),
        "anchor": name(&spec.anchor),
        "next": base.next,
        "hash": base.hash.to_string(),
        "bits": base.bits.to_consensus(),
        "work": hex::encode(base.work.to_be_bytes()),
    });
    about.as_object().cloned().unwrap_or_default()
}

/// The headers, one after the other.
pub fn headers(chain: &Chain) -> Vec<u8> {
    let headers = chain.headers();
    let mut bytes = Vec::with_capacity(headers.len() * HEADER_BYTES);
    for header in headers {
        bytes.extend(chain::bytes(header));
    }
    bytes
}

/// The chain in a file, every header of it checked once more; none if it is not the chain that is wanted.
pub fn read(records: &Records, spec: &ChainSpec) -> Option<Chain> {
    let about = records.about.as_ref()?;
    let is = |name: &str, wanted: &str| about.get(name).and_then(Value::as_str) == Some(wanted);
    if !is("network", spec.network.name()) || !is("anchor", &name(&spec.anchor)) {
        return None;
    }
    let number = |name: &str| u32::try_from(about.get(name)?.as_u64()?).ok();
    let work = <[u8; 32]>::from_hex(about.get("work")?.as_str()?).ok()?;
    let base = Anchor {
        next: number("next")?,
        hash: about.get("hash")?.as_str()?.parse::<BlockHash>().ok()?,
        bits: CompactTarget::from_consensus(number("bits")?),
        work: Work::from_be_bytes(work),
    };
    let headers: Vec<Header> = records
        .bytes
        .chunks_exact(HEADER_BYTES)
        .filter_map(chain::header)
        .collect();
    let mut chain = Chain::new(spec.network, base);
    // Where one of them is not what it was, those before it are.
    let _ = chain.accept(&headers, None);
    Some(chain)
}

/// What an anchor is called, as the command line does.
fn name(anchor: &Anchor) -> String {
    let bits = anchor.bits.to_consensus();
    format!("{}:{}:{bits:08x}", anchor.next, anchor.hash)
}

const _: () = assert!(HEADER_BYTES == storage::HEADER_BYTES);

#[cfg(test)]
mod tests {
    use chain::network::Network;

    use super::*;

    /// A period and more on a network of one's own, where a try or two makes a block.
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

    fn kept(spec: &ChainSpec, chain: &Chain) -> Records {
        Records {
            about: Some(about(spec, chain)),
            bytes: headers(chain),
        }
    }

    #[test]
    fn a_file_counts_only_for_the_chain_it_is_of() {
        let (spec, chain) = long();
        let records = kept(&spec, &chain);
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
    fn what_breaks_the_rules_ends_the_chain_that_is_read() {
        let (spec, chain) = long();
        let mut records = kept(&spec, &chain);
        let count = chain.headers().len();
        let last = records.bytes.len() - HEADER_BYTES;
        // It does not link any more; another change may leave it enough work on such a network.
        records.bytes[last + 4] ^= 1;
        let newest = read(&records, &spec).unwrap();
        assert_eq!(newest.headers().len(), count - 1);
        assert!(newest.headers().eq(chain.headers().take(count - 1)));
    }
}
