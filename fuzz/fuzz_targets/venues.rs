//! Fuzzes the target `venues`.
#![no_main]

mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::run("venues", bytes));
