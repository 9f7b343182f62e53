//! Fuzzes the target `bolt11`.
#![no_main]

mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::run("bolt11", bytes));
