//! The clock as a value: it changes only by handling one input at a time.
//!
//! This crate is pure: no I/O, no clock, no threads, no random numbers.
//! Read on in this order: `device` (the state machine), `input` and `output` (its two sides),
//! `settings` (what the owner can change), `screens` (what the panels can show).
#![no_std]

extern crate alloc;

pub mod now;
pub mod units;

pub mod board;
pub mod cells;
pub mod input;
pub mod lights;
pub mod market;
pub mod output;
pub mod request;
pub mod secret;
pub mod sources;
pub mod view;

pub mod screens;
pub mod settings;

pub mod limits;
