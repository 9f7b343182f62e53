//! What clients say and what they are told, without any door.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod clock;
mod commands;
mod description;
mod documents;
mod entities;
mod mqtt;
mod page_types;
