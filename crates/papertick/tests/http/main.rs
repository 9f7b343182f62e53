//! The control interface over a socket, mostly with a fake device.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

mod abuse;
mod bench;
mod clients;
mod diagnostics;
mod displays;
mod documents;
mod every_operation;
#[path = "../examples/mod.rs"]
mod examples;
mod following;
mod garbage;
mod guards;
#[path = "../limit/mod.rs"]
mod limit;
#[path = "../logged/mod.rs"]
mod logged;
mod manual;
#[path = "../../../api/tests/operations/mod.rs"]
mod operation_table;
mod operations;
mod provisioning;
mod proxies;
mod recording;
mod secrets;
mod support;
mod tokens;
mod transfer;
