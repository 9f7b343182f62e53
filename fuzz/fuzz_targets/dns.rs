//! Fuzzes DNS queries at the access point: there is no reply, or one with the id of the query.
#![no_main]
#![allow(dead_code)]

#[path = "../../crates/net/src/dns.rs"]
mod dns;

#[path = "../../crates/net/src/url.rs"]
mod url;

use std::net::Ipv4Addr;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some(reply) = dns::answer(bytes, Ipv4Addr::new(192, 168, 4, 1)) {
        assert_eq!(reply[..2], bytes[..2], "the id of the query");
        assert!(reply[2] & 0x80 != 0, "the flag of a response");
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = dns::portal_address(text);
    }
});
