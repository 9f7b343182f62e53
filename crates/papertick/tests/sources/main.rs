//! Sources against relays, proxies, pools and networks that misbehave.
//!
//! Tests in virtual time use in-memory connections; those that are about real sockets use loopback
//! with ports that the system chooses.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    missing_docs,
    unreachable_pub
)]

#[path = "../../../net/tests/net/peers.rs"]
mod peers;
mod rig;

mod explorer;
mod log;
mod nostr;
mod polls;
mod proxy;
mod relay;
mod supervisor;
mod time;
mod toxic;
mod wallet;
