//! Messages of a Bitcoin peer.

use chain::network::Network;
use feeds::p2p::{self, HEAD_BYTES};

/// Name and payload length from the head of a message.
pub fn announced(head: &[u8; HEAD_BYTES]) -> (String, usize) {
    let name = String::from_utf8(head[4..16].to_vec()).unwrap();
    let length = u32::from_le_bytes(head[16..20].try_into().unwrap());
    (name.trim_end_matches('\0').to_owned(), length as usize)
}

/// The response of a peer with blocks to a `version` message.
pub fn greeting(network: Network, mut version: Vec<u8>) -> Vec<u8> {
    // The received message with the service bit for blocks.
    version[4] = 1;
    let version = p2p::encode(network, "version", &version);
    [version, p2p::encode_verack(network)].concat()
}
