//! The drivers on emulated chips: the glass shows what was asked for, whatever happens, and nothing forbidden is done.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod chips;
mod faults;
mod glass;
mod measured;
mod rig;
