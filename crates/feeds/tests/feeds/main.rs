//! Every feed against tables of what its upstream says.
#![allow(clippy::unwrap_used)]

mod support;

mod exchange;
mod explorer;
mod miner;
mod nostr;
mod pools;
mod relay;
mod release;
