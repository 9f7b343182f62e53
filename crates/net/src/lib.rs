//! The way out: one dialer for every outbound connection, and what speaks over it; and who is on the local network.
//!
//! Read on in this order: `url` (where to), `dialer` (how to get there, with `route`, `resolver`,
//! `proxy`, `bypass` and `tls` as its parts), `http` and `ws` (what is spoken), `backoff` (when to try again).
//! `mdns` stands alone: it announces the clock to its neighbours, and finds others.

pub mod url;

pub mod bypass;
pub mod dialer;
pub mod dns;
pub mod proxy;
pub mod proxy_use;
pub mod resolver;
pub mod route;
pub mod tls;

pub mod http;
pub mod web_socket_server;
pub mod ws;

pub mod backoff;
pub mod chance;

pub mod mdns;

/// How the device names itself to upstreams.
pub const AGENT: &str = concat!("papertick/", env!("CARGO_PKG_VERSION"));
