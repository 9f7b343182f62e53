//! The clock as a value: it changes only by handling one input at a time.
//!
//! This crate is pure: no I/O, no clock, no threads, no random numbers.
//! Reading order: `device` (the state machine), `input` and `output`, the parts it is made of (`glass`, `lights`,
//! `network`, `settings`, `sources`), `screens` (what the panels can show), the rest.
#![warn(missing_docs)]
#![no_std]

extern crate alloc;

pub mod device;
pub mod input;
pub mod output;
pub mod releases;
pub mod request;
pub mod view;

pub mod glass;
pub mod lights;
pub mod network;
pub mod settings;
pub mod sources;

pub mod screens;

pub mod buttons;
pub mod event_log;
pub mod history;
pub mod memory;
pub mod mqtt;
mod notes;
mod restarts;

pub mod board;
pub mod canvas;
pub mod cells;
pub mod displays;
pub mod frames;
pub mod host;
pub mod json;
pub mod limits;
pub mod secret;
pub mod spoken;
pub mod tile;

pub use device::Device;
pub use glass::{panels, refresh, rotation};
pub use network::portal;
