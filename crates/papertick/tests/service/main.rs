//! The tasks of the device in one process: paused time, the simulated board, disks that fail and lose power.
#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

#[path = "../logged/mod.rs"]
mod logged;
#[path = "../miner/mod.rs"]
#[allow(dead_code, reason = "not all of it is used here")]
mod miner;
#[path = "../needs/mod.rs"]
#[allow(dead_code, reason = "not all of it is used here")]
mod needs;

mod announcing;
mod drivers;
mod erasing;
mod look_ups;
mod main_loop;
mod mqtt;
mod painter;
mod radio;
mod releases;
mod updating;
