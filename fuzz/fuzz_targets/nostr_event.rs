//! Fuzzes the target `nostr_event`.
#![no_main]

mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::run("nostr_event", bytes));
