//! Peers that have answered correctly, so that a restarted clock does not depend only on the DNS seeds.
//!
//! The first one is the anchor: it is connected first, and stays while the others rotate.

use device::limits::{PEER_TEXT_MAX, PEERS_KEPT_MAX};

use super::shared_value::SharedValue;

/// Peers that have answered correctly, each `host:port`; clones share the list.
#[derive(Debug, Clone, Default)]
pub struct KnownPeers(SharedValue<Vec<String>>);

impl KnownPeers {
    /// The peers of an earlier run.
    pub fn of(peers: Vec<String>) -> KnownPeers {
        KnownPeers(SharedValue::new(peers))
    }

    /// All peers, the anchor first.
    pub fn list(&self) -> Vec<String> {
        self.0.with(|peers| peers.clone())
    }

    /// Adds a peer and returns whether it is new. A full list drops its oldest peer other than the anchor.
    pub fn add(&self, peer: &str) -> bool {
        self.0.with(|peers| {
            if peer.len() > PEER_TEXT_MAX || peers.iter().any(|known| known == peer) {
                return false;
            }
            if peers.len() >= PEERS_KEPT_MAX {
                peers.remove(1);
            }
            peers.push(peer.to_owned());
            true
        })
    }

    /// Removes a peer and returns whether it was in the list.
    pub fn remove(&self, peer: &str) -> bool {
        self.0.with(|peers| {
            let before = peers.len();
            peers.retain(|known| known != peer);
            peers.len() < before
        })
    }
}
