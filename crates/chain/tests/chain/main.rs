//! Chains of genuine headers, and of headers that break each rule.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod genuine;
mod rules;
mod support;
