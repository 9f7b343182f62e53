//! Fuzzes the target `core_node`.
#![no_main]

mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::run("core_node", bytes));
