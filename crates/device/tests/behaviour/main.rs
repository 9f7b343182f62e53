//! Behaviour of the clock, input by input: lights, buttons, automatic changes.
//!
//! The tests send a tick only at the requested deadline, so that a missing deadline is detected.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod buttons;
mod deadlines;
mod frames;
mod history;
mod lights;
mod recording;
mod state;
mod world;
