//! Peers that have answered well, so that a clock that starts again does not depend on whom it is led to.
//!
//! The first of them is the anchor: it is asked first, and stays while others change.

use device::limits::{PEER_TEXT_MAX, PEERS_KEPT_MAX};

use super::common::SharedValue;

/// Peers that have answered well, each `host:port`; clones know the same.
#[derive(Debug, Clone, Default)]
pub struct KnownPeers(SharedValue<Vec<String>>);

impl KnownPeers {
    /// Those of an earlier run.
    pub fn of(peers: Vec<String>) -> KnownPeers {
        KnownPeers(SharedValue::new(peers))
    }

    /// All of them, the anchor first.
    pub fn list(&self) -> Vec<String> {
        self.0.with(|peers| peers.clone())
    }

    /// Takes note of one that has answered well; tells whether it is new. The oldest of them but the anchor makes room.
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

    /// Forgets one that does not answer, or not well; tells whether it was known.
    pub fn remove(&self, peer: &str) -> bool {
        self.0.with(|peers| {
            let before = peers.len();
            peers.retain(|known| known != peer);
            peers.len() < before
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_anchor_stays_and_the_oldest_other_makes_room() {
        let known = KnownPeers::default();
        for number in 0..PEERS_KEPT_MAX {
            assert!(known.add(&format!("peer{number}:1")));
            assert!(!known.add(&format!("peer{number}:1")));
        }
        assert!(known.add("new:1"));
        let list = known.list();
        assert_eq!(list.len(), PEERS_KEPT_MAX);
        assert_eq!((list[0].as_str(), list[1].as_str()), ("peer0:1", "peer2:1"));
        assert_eq!(list[PEERS_KEPT_MAX - 1], "new:1");
        assert!(!known.add(&"x".repeat(PEER_TEXT_MAX + 1)));
    }

    #[test]
    fn who_does_not_answer_is_forgotten() {
        let known = KnownPeers::of(vec!["a:1".to_string(), "b:1".to_string()]);
        assert!(known.clone().remove("a:1"));
        assert!(!known.remove("a:1"));
        assert_eq!(known.list(), ["b:1"]);
    }
}
