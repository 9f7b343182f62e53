//! The daemon: main loop, tasks, HTTP, wiring.

pub mod main_loop;

pub mod cli;
pub mod config;
pub mod failure;

pub mod commands;

mod buses;
pub mod chain_file;
pub mod crash_dumps;
pub mod device_process;
pub mod effects;
mod kept;
pub mod lifeline;
pub mod power_cuts;
mod printable;
mod service_manager;
pub mod standard_error;
pub mod supervisor;
mod truth_log;
mod wiring;
mod wiring_file;

pub mod drivers;
