//! The whole device in virtual time: hand-written scenarios, and random runs that are compared with a reference model.
//!
//! `script` is the language of the steps, and `world` runs them. `model` computes the expected mode, screen and timer;
//! `checks` compares them with the device and checks the invariants. `workload` makes random steps; `seeds` runs them and
//! shortens a run that fails. `scenarios` are written by hand. `radio` simulates the radio, `staleness` tests the mark of
//! old values, `upstreams` the states of the sources, `soak` a month of one clock, and `lying_sources` sources that lie.
//!
//! `SIMULATION_SEEDS=1000..2000 SIMULATION_STEPS=5000 cargo test -p device --test simulation --release` runs longer.

#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

mod boards;
mod checks;
mod lying_sources;
mod model;
mod radio;
mod scenarios;
mod script;
mod seeds;
mod soak;
mod staleness;
mod upstreams;
mod workload;
mod world;
