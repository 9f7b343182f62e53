//! Random invalid requests: nothing panics.

use base64::{Engine, prelude::BASE64_STANDARD};
use http::HeaderValue;
use proptest::{prelude::*, strategy::ValueTree};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use web::parse;

use crate::support::Clock;

proptest! {
    #[test]
    fn parsers_accept_any_input(bytes in prop::collection::vec(any::<u8>(), 0..600), text in ".{0,80}", name in "[a-z]{0,3}") {
        let _ = parse::network_credentials(&bytes);
        let _ = parse::query_value(&text, &name);
        let _ = parse::percent_decode(&text, true);
        if let Ok(header) = HeaderValue::from_bytes(&bytes) {
            let _ = parse::basic_credentials(&header);
        }
    }

    #[test]
    fn texts_round_trip_through_the_query(text in ".{0,40}", name in "[a-z]{1,5}") {
        let encoded: String = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
        prop_assert_eq!(parse::percent_decode(&encoded, false), Some(text.clone()));
        prop_assert_eq!(parse::query_value(&format!("zz9=1&{name}={encoded}&{name}=2"), &name), Some(text));
    }

    #[test]
    fn credentials_round_trip_through_the_header(user in "[^:]{0,20}", password in ".{0,40}") {
        let header = format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")));
        let read = parse::basic_credentials(&HeaderValue::from_str(&header).unwrap());
        let (read_user, read_password) = read.unwrap();
        prop_assert_eq!(read_user, user);
        prop_assert_eq!(read_password.expose(), password);
    }
}

/// Bytes that are almost requests: the server responds or closes, and continues.
#[tokio::test]
async fn the_server_survives_garbage() {
    let clock = Clock::real().await;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let shape = (
        "(GET|POST|PATCH|HEAD|PRI|[A-Z]{0,9}) /(api/(settings|show/screen|lights/set|panels/)|upload/firmware)?[ -~]{0,40}",
        prop::collection::vec(
            "(Host|Content-Length|Transfer-Encoding|Origin|Authorization|If-Match|[A-Za-z-]{0,12}): [ -~]{0,30}",
            0..8,
        ),
        prop::collection::vec(any::<u8>(), 0..200),
    );
    for _ in 0..150 {
        let (line, headers, body) = shape.new_tree(&mut runner).unwrap().current();
        let mut request =
            format!("{line} HTTP/1.1\r\n{}\r\n\r\n", headers.join("\r\n")).into_bytes();
        request.extend(body);
        let mut stream = clock.connect().await;
        let _ = stream.write_all(&request).await;
        let _ = stream.shutdown().await;
        let mut received = Vec::new();
        let _ = stream.read_to_end(&mut received).await;
        assert!(
            received.is_empty() || received.starts_with(b"HTTP/1.1 "),
            "{received:?}"
        );
        assert!(!received.starts_with(b"HTTP/1.1 500"), "{request:?}");
    }
    assert_eq!(clock.get("/api/status").await.status, 200);
}
