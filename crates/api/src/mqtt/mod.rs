//! The clock at an MQTT broker: its topics, what stands there, and what comes from there.
//!
//! Read on in this order: `topics` (the tree), `commands` (what is asked for), `documents` (what is told), `discovery`
//! (what Home Assistant is told of the clock, made of the table in `entities`).

pub mod commands;
pub mod discovery;
pub mod documents;
mod entities;
pub mod topics;
