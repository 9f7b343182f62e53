//! The program: the device process and its main loop, the configuration and the commands.

pub mod main_loop;

pub mod cli;
pub mod config;
pub mod failure;

pub mod commands;

mod buses;
pub mod chain_file;
pub mod clock_process;
pub mod device_process;
pub mod effects;
mod home_assistant;
mod liveness;
mod name_suffix;
mod setup;
pub mod standard_output;
mod stored_state;
mod truth_log;
mod wiring_file;

pub mod drivers;
