//! What the program does besides running the clock: one command of the command line each.

mod at_rest;
pub mod backup;
mod client;
pub mod ctl;
pub mod discover;
mod files;
pub mod healthcheck;
mod icons;
pub mod image;
pub mod passwd;
pub mod release;
pub mod render;
mod setting_words;
pub(crate) mod suggestion;
pub(crate) mod unseen;
pub mod watch;
pub mod wiring;
