//! The drivers of real parts send the bytes that the data sheets require.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod frames;
mod panels;
mod recorder;
mod wire_parts;
