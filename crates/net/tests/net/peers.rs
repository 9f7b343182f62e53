//! The server side of a connection.

use std::time::Duration;

use net::dialer::Arrival;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::mpsc,
    time::timeout,
};

/// Responds to the next connection's request and returns the head of the request; `status` may include more header
/// lines.
pub async fn answer(arrivals: &mut mpsc::Receiver<Arrival>, status: &str, body: &str) -> String {
    answer_on(
        arrivals.recv().await.unwrap().stream,
        status,
        body.as_bytes(),
    )
    .await
}

/// Responds to the request on a connection and returns the head of the request.
pub async fn answer_on(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    status: &str,
    body: &[u8],
) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let length = body.len();
    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all(answer.as_bytes()).await.unwrap();
    // A client may close the connection once it has read enough.
    let _ = stream.write_all(body).await;
    String::from_utf8(head).unwrap()
}

pub fn first_line(head: &str) -> &str {
    head.lines().next().unwrap()
}

/// Reads exactly these bytes.
pub async fn expect(client: &mut (impl AsyncRead + Unpin), bytes: &[u8]) {
    let mut got = vec![0; bytes.len()];
    timeout(Duration::from_secs(5), client.read_exact(&mut got))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(got, bytes);
}
