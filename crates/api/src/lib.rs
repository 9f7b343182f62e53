//! The control interface: its operations, their parameters and their answers.
//!
//! This crate is pure: no I/O, no clock, no threads, no random numbers. HTTP, MQTT and `papertick ctl` use it.
//! Read on in this order: `operations` (the table of operations), `operation` (its rows), `parameters` and `answer`
//! (requests and responses), `device_call` (requests to the device), `status` and `documents` (JSON documents), `shape`
//! and `openapi` (their schemas), `mqtt` (topics, payloads and entities).
#![no_std]

extern crate alloc;

pub mod answer;
pub mod device_call;
pub mod documents;
pub mod limits;
pub mod parameters;

pub mod operation;
pub mod operations;

pub mod status;

pub mod mqtt;

#[cfg(feature = "schemas")]
pub mod openapi;
pub mod schema;
pub mod shape;
