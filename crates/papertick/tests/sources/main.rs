//! Sources against relays, proxies, pools and networks that misbehave.
//!
//! Tests in virtual time use in-memory connections; those that are about real sockets use loopback
//! with ports that the system chooses.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::wildcard_enum_match_arm,
    missing_docs,
    unreachable_pub
)]

mod court;
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
