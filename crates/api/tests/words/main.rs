//! Requests and responses of the interface, without a server.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod clock;
mod commands;
mod description;
mod documents;
mod entities;
mod mqtt;
mod page_types;
