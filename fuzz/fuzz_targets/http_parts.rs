//! Fuzzes the parsers of HTTP requests: query, path, credentials, bodies.
#![no_main]

#[allow(dead_code)] // Encoding is not fuzzed.
#[path = "../../crates/web/src/parse.rs"]
mod parse;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = parse::network_credentials(bytes);
    if let Ok(header) = http::HeaderValue::from_bytes(bytes) {
        let _ = parse::basic_credentials(&header);
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let (name, text) = text.split_once('\n').unwrap_or(("s", text));
    let _ = parse::query_value(text, name);
    let _ = parse::percent_decode(text, true);
    let encoded: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
    assert_eq!(
        parse::percent_decode(&encoded, false).as_deref(),
        Some(text)
    );
});
