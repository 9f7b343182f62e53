//! The program as its users meet it: the real binary, on a free port, in a folder of its own.
#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]
#![allow(clippy::disallowed_methods, reason = "a test is its own client")]

mod clock;
mod life;
mod mistakes;
mod network;
mod state;
