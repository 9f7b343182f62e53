//! The supervisor: a small process that owns the listening socket and the data folder and keeps a device process running.
//!
//! It knows the device as a command: `PROGRAM device CONFIG`, where `CONFIG` is a [`DeviceConfig`](config::DeviceConfig) as
//! JSON. The device gets the listening socket as its standard input and writes [`messages`] to its standard output: that it is
//! ready, and every few seconds that it makes progress. A device that ends, crashes or makes no progress is started again
//! (`restarts` decides how). Meanwhile the socket stays open, so no connection is refused: clients wait in its queue.
//!
//! `programs` chooses the program: the installed one, or one that an update has put into a slot. A new one is on `trial`; if it
//! fails, the one before it runs again. After a trial that passed, the supervisor executes the new program in its own place at
//! the next start of the device (`handover`).

pub mod config;
pub mod crash_dumps;
pub mod handover;
pub mod messages;

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

pub use start::{SupervisorError, resume, run};
