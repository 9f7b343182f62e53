//! Requests and responses of the interface, without a server.
#![allow(clippy::unwrap_used, reason = "tests")]

mod clock;
mod commands;
mod description;
mod documents;
mod entities;
mod mqtt;
#[path = "../operations/mod.rs"]
mod operation_table;
mod page_types;
