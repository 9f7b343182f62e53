//! Fuzzes the target `wallet_message`.
#![no_main]

mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::run("wallet_message", bytes));
