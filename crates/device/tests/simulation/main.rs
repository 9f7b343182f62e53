//! The whole device in virtual time: hand-written scenarios, and seeded random lives held against a small model.
//!
//! `script` is the language of both; `world` runs it; `model` says what every panel, the strip and the frontlight should
//! show at every moment; `checks` compares, and holds the invariants; `workload` makes random lives, `seeds` runs them and
//! makes one that fails as short as it can; `scenarios` are the lives written by hand;
//! `air` is the radio and what must come of it; `staleness` watches the mark of old values, `upstreams` what is known of the sources,
//! `soak` a month of one clock, `liars` lives among voices that lie.
//!
//! `SIMULATION_SEEDS=1000..2000 SIMULATION_STEPS=5000 cargo test -p device --test simulation --release` runs longer.

#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "the model names only the steps it cares for"
)]

mod air;
mod boards;
mod checks;
mod liars;
mod model;
mod scenarios;
mod script;
mod seeds;
mod soak;
mod staleness;
mod upstreams;
mod workload;
mod world;
