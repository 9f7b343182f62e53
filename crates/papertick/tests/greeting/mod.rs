//! What a peer of the network reads and says, whoever carries it.

use chain::network::Network;
use feeds::p2p::{self, HEAD_BYTES};

/// The name of a message and the length of what follows, by its head.
pub fn announced(head: &[u8; HEAD_BYTES]) -> (String, usize) {
    let name = String::from_utf8(head[4..16].to_vec()).unwrap();
    let length = u32::from_le_bytes(head[16..20].try_into().unwrap());
    (name.trim_end_matches('\0').to_owned(), length as usize)
}

/// What a peer that has blocks answers to what a clock says of itself.
pub fn greeting(network: Network, mut version: Vec<u8>) -> Vec<u8> {
    // The clock's own words, with the service of those who have blocks.
    version[4] = 1;
    let version = p2p::encode(network, "version", &version);
    [version, p2p::encode_verack(network)].concat()
}
