//! Fuzzes the target `relay_bodies`.
#![no_main]

mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::run("relay_bodies", bytes));
