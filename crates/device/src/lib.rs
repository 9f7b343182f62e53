//! The clock as a value: it changes only by handling one input at a time.
//!
//! This crate is pure: no I/O, no clock, no threads, no random numbers.
//! Read on in this order: `device` (the state machine), `input` and `output` (its two sides),
//! `settings` (what the owner can change), `screens` (what the panels can show).
#![no_std]

extern crate alloc;

pub mod now;
pub mod units;

pub mod board;
pub mod host;
pub mod secret;

pub mod input;
pub mod output;
pub mod request;
pub mod view;

pub mod device;
mod notes;
mod restarts;

pub mod market;
pub mod memory;
pub use market::sources;

pub mod settings;

pub mod cells;
pub mod screens;

pub mod glass;
pub use glass::{panels, refresh, rotation};

pub mod buttons;
pub mod lights;
pub mod network;
pub use network::portal;

pub mod limits;

pub use device::Device;
