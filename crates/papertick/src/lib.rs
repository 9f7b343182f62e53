//! The daemon: main loop, tasks, HTTP, wiring.

pub mod doors;

pub mod sources;

pub mod main_loop;

pub mod cli;
pub mod config;
pub mod failure;
mod web_socket;

pub mod commands;

mod buses;
pub mod chain_file;
pub mod crash_dumps;
pub mod device_process;
pub mod effects;
mod kept;
pub mod lifeline;
mod panel_frame;
pub mod power_cuts;
mod printable;
mod service_manager;
mod settings_file;
pub mod standard_error;
pub mod supervisor;
mod truth_log;
mod wiring;
mod wiring_file;

pub mod build;

pub mod drivers;
pub mod updates;
