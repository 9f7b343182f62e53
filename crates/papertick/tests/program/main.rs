//! Tests of the real binary, on a free port and with its own data folder.
#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]
#![allow(clippy::disallowed_methods, reason = "a test is its own client")]

mod answers;
#[path = "../../../net/tests/net/authority.rs"]
#[allow(dead_code, reason = "not all of it is used here")]
mod authority;
mod boot_file;
mod clock;
mod command_line;
mod command_rig;
mod crashes;
mod disks;
mod documents;
#[path = "../examples/mod.rs"]
mod examples;
#[path = "../greeting/mod.rs"]
mod greeting;
mod healthcheck;
mod home_assistant;
mod hostile;
mod images;
mod life;
#[path = "../limit/mod.rs"]
mod limit;
mod memory;
#[path = "../miner/mod.rs"]
#[allow(dead_code, reason = "not all of it is used here")]
mod miner;
mod mistakes;
mod monitoring;
#[path = "../needs/mod.rs"]
#[allow(dead_code, reason = "not all of it is used here")]
mod needs;
mod network;
mod programs;
mod protocols;
mod reaching;
mod releases;
mod restarts;
mod sign_in;
mod state;
mod updating;
mod wiring;
