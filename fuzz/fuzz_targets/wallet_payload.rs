//! Fuzzes the target `wallet_payload`.
#![no_main]

mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::run("wallet_payload", bytes));
