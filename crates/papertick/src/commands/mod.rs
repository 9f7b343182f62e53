//! The commands other than `run` and `demo`, one module each.

pub mod backup;
mod client;
pub mod ctl;
pub mod discover;
mod files;
pub mod healthcheck;
pub(crate) mod hidden_input;
mod icons;
pub mod image;
mod offline_settings;
pub mod passwd;
pub mod release;
pub mod render;
mod schemas;
mod setting_args;
pub(crate) mod suggestion;
pub mod watch;
pub mod wiring;
