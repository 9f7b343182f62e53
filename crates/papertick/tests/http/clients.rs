//! Requests of existing clients, byte for byte where it matters, with the real device.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Answer, Clock, SOON};

/// Headers of a POST without a body, as the Home Assistant integration sends it.
pub(crate) const HOME_ASSISTANT: &[&str] = &[
    "Accept: */*",
    "User-Agent: HomeAssistant/2026.11.1 aiohttp/3.13.2 Python/3.13",
    "Content-Length: 0",
    "Content-Type: application/octet-stream",
];

#[tokio::test]
async fn a_connection_serves_many_requests() {
    let clock = Clock::real().await;
    let mut stream = clock.connect().await;
    for _ in 0..3 {
        let request = format!(
            "POST /api/screen/next HTTP/1.1\r\nHost: {}\r\n{}\r\n\r\n",
            clock.address,
            HOME_ASSISTANT.join("\r\n")
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut received = Vec::new();
        while !received.ends_with(b"\r\n\r\n") {
            let read = tokio::time::timeout(SOON, stream.read_buf(&mut received)).await;
            assert_ne!(
                read.expect("an answer in time").unwrap(),
                0,
                "the connection was closed"
            );
        }
        assert_eq!(Answer::parse(&received).status, 200);
    }
}
