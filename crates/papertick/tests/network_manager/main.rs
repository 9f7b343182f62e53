//! The driver for NetworkManager with a real D-Bus and a mock of NetworkManager.
#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

#[path = "../program/clock.rs"]
#[allow(dead_code, reason = "not all of it is used here")]
#[allow(clippy::disallowed_methods, reason = "a test is its own client")]
mod clock;
#[path = "../limit/mod.rs"]
mod limit;
#[path = "../needs/mod.rs"]
#[allow(dead_code, reason = "not all of it is used here")]
mod needs;

mod host;

mod access_point;
mod joining;
mod program;
mod provisioning;
mod watching;
