//! Fuzzes the target `p2p`.
#![no_main]

mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::run("p2p", bytes));
