//! Fuzzes the target `miner`.
#![no_main]

mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::run("miner", bytes));
