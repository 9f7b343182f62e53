//! The settings as their clients meet them: bodies in, outcomes and documents out.
#![allow(clippy::unwrap_used, missing_docs)]

mod bench;
mod generated;
mod laws;
mod patching;
