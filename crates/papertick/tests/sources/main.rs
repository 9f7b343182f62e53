//! Sources with faulty relays, proxies, pools and networks.
//!
//! Tests in virtual time use in-memory connections; tests of real sockets use loopback with ports chosen by the system.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, unreachable_pub)]

mod chain_rig;
#[path = "../greeting/mod.rs"]
mod greeting;
#[path = "../logged/mod.rs"]
mod logged;
#[path = "../miner/mod.rs"]
mod miner;
#[path = "../../../net/tests/net/peers.rs"]
mod peers;
mod rig;

mod explorer;
mod log;
mod nodes;
mod nostr;
mod polls;
mod proxy;
mod public_peers;
mod relay;
mod supervisor;
mod time;
mod toxic;
mod wallet;
