//! MQTT: topics, commands, and the documents that the clock publishes.
//!
//! - `topics`: topics of the clock, and the topics that it subscribes to.
//! - `commands`: parses received messages.
//! - `documents`: payloads of published messages.
//! - `discovery`: discovery messages for Home Assistant, made of the table in `entities`.

pub mod commands;
pub mod discovery;
pub mod documents;
mod entities;
pub mod topics;
