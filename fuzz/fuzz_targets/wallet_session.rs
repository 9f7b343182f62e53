//! Fuzzes the target `wallet_session`.
#![no_main]

mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::run("wallet_session", bytes));
