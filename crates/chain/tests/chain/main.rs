//! Chains of genuine headers, and headers that break each rule.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod genuine;
#[path = "../mined/mod.rs"]
mod mined;
mod rules;
mod support;
