//! The words of the control interface: what can be asked, how it is said, and what is answered.
//!
//! This crate is pure: no I/O, no clock, no threads, no random numbers; every door to the clock uses it.
//! Read on in this order: `operations` (the table of all that can be asked), `operation` (what a row says),
//! `given` and `answer` (what comes in and what goes out), `status` and `documents` (the documents), `shape` and `openapi`
//! (their schemas), `mqtt` (all of it at an MQTT broker).
#![no_std]

extern crate alloc;

pub mod answer;
pub mod asked;
pub mod documents;
pub mod given;
pub mod limits;

pub mod operation;
pub mod operations;

pub mod status;

pub mod mqtt;

pub mod openapi;
pub mod schema;
pub mod shape;
