//! What the program does besides running the clock: one command of the command line each.

pub mod discover;
mod files;
pub mod image;
pub mod release;
pub mod render;
pub mod selftest;
mod suggestion;
pub mod wiring;
