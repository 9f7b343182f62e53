//! Outbound connections to servers, proxies and networks, including faulty ones.
//!
//! Tests in virtual time use in-memory connections; tests of real sockets use loopback with ports chosen by the system.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, unreachable_pub)]

#[path = "../../../papertick/tests/needs/mod.rs"]
#[allow(dead_code, reason = "it can do more than is needed here")]
mod needs;
mod peers;

mod authority;
mod http;
mod programs;
mod proxy;
mod robust;
