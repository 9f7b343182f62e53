//! Every feed against tables of its upstream's messages.
#![allow(clippy::unwrap_used)]

mod support;
#[path = "../../../../fuzz/fuzz_targets/targets.rs"]
mod targets;

mod exchange;
mod explorer;
mod image;
mod miner;
mod nostr;
mod pools;
mod relay;
mod release;
mod robust;
mod staging;
mod venues;
