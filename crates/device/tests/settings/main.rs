//! Settings as seen by clients: request bodies in, outcomes and documents out.
#![allow(clippy::unwrap_used)]

mod bench;
mod bindings;
mod bounds;
mod clients;
mod composites;
mod contract;
mod documents;
mod effects;
mod generated;
mod hostname;
mod laws;
mod patching;
mod persisted;
mod plans;
mod screens;
mod transfer;
mod twins;
