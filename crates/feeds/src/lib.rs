//! Wire formats of all upstreams, without I/O and without a clock.
//!
//! A *frame* is one message of a socket, a *body* the response to one HTTP request. Parsers return
//! [`market::Observation`] or another value of the core, or reject the bytes as [`malformed::Malformed`] with a
//! one-word reason, which the caller counts. The smallest complete feed is `relay`.

pub mod malformed;

pub mod relay;

pub mod exchange;
pub mod explorer;
pub mod venues;

pub mod electrum;
pub mod p2p;

pub mod nostr;

pub mod miner;
pub mod pools;

pub mod image;
pub mod release;
pub mod staging;

pub mod multipart;

mod refusal;
mod scalar;
