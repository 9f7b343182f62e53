//! Wiring files: the wiring that a file describes, and the mistakes of a file, each with its line.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod examples;
mod mistakes;
mod random;
