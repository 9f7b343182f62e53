//! Wiring files: what they say is what is wired, and every mistake is found at once, with its line.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod examples;
mod mistakes;
mod random;
