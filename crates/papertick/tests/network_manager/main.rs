//! The radio of a host with NetworkManager: the real driver and the real bus, with a stand-in for NetworkManager.
#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

mod host;

mod access_point;
mod joining;
mod provisioning;
mod watching;
