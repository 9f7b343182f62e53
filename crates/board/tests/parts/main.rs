//! The drivers of real parts put the bytes on the wires that the parts' makers ask for.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod frames;
mod panels;
mod recorder;
mod wire_parts;
