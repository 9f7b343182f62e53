//! The way out against servers, proxies and networks, also those that misbehave.
//!
//! Tests in virtual time use in-memory connections; those that are about real sockets use loopback
//! with ports that the system chooses.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    missing_docs,
    unreachable_pub
)]

#[path = "../../../papertick/tests/needs/mod.rs"]
#[allow(dead_code, reason = "it can do more than is needed here")]
mod needs;
mod peers;

mod authority;
mod http;
mod programs;
mod proxy;
mod robust;
