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

#[path = "../needs/mod.rs"]
#[allow(dead_code, reason = "it can do more than is needed here")]
mod needs;
mod rig;

mod explorer;
mod http;
mod log;
mod nostr;
mod polls;
mod programs;
mod proxy;
mod relay;
mod robust;
mod supervisor;
mod time;
mod toxic;
mod wallet;
