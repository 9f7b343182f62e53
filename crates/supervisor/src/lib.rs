//! The supervisor: a small process that owns the listening socket and the data folder and keeps a device process running.
//!
//! The device is the command `PROGRAM device CONFIG`, where `CONFIG` is a [`DeviceConfig`](config::DeviceConfig) as JSON.
//! The device gets the listening socket as its standard input and writes [`messages`] to its standard output: when it is
//! ready, and every few seconds while it makes progress. A device that ends, crashes or makes no progress is restarted
//! (`restarts` decides how). Meanwhile the socket stays open, so no connection is refused: clients wait in its queue.
//!
//! `programs` chooses the program: the installed one, or one that an update has put into a slot. A new program is on
//! `trial`; if it fails, the previous program runs again. After a passed trial, the installed program executes the new one
//! in its place at the start of the clock (`execution`).

pub mod config;
pub mod crash_dumps;
pub mod messages;

mod execution;
mod limits;
mod process;
mod programs;
mod restarts;
mod service_manager;
mod signals;
mod start;
mod supervision;
mod trial;

#[cfg(test)]
mod tests;

pub use start::{SupervisorError, run};
