//! Outbound connections: the dialer and its protocols. Also mDNS.
//!
//! Read in this order: `url`, `dialer` (with its parts `resolver`, `proxy`, `bypass` and `tls`), `http` and
//! `ws` (protocols), `backoff` (retry delays). `mdns` is independent: it announces the clock in the local network and
//! finds others.

pub mod url;

pub mod bypass;
pub mod dialer;
pub mod dns;
pub mod proxy;
pub mod proxy_use;
pub mod resolver;
pub mod tls;

pub mod http;
pub mod web_socket_server;
pub mod ws;

pub mod backoff;
pub mod chance;

pub mod mdns;

/// User agent in requests to upstreams.
pub const AGENT: &str = concat!("papertick/", env!("CARGO_PKG_VERSION"));
