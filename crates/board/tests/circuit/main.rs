//! The drivers on emulated chips: the panels show their pictures in spite of faults, without violations of data sheets.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod chips;
mod faults;
mod glass;
mod measured;
mod rig;
