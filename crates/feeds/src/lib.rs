//! Wire formats of everything upstream: bytes to values and back, without I/O and without a clock.
//!
//! A *frame* is one message of a socket, a *body* is the answer to one request.
//! Parsers give what the core understands, mostly [`market::Observation`], or say with one
//! word why the bytes are [`malformed::Malformed`]; the caller counts that and drops the bytes.
//! Read on with `relay`, the smallest whole feed.

pub mod malformed;

pub mod relay;

pub mod exchange;
pub mod explorer;
pub mod venues;

pub mod core_node;
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
