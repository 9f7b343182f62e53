//! A client that does as little as possible: it sends the same bytes and counts the bytes of the answers.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::Instant,
};

/// A kept connection.
pub struct Client {
    stream: TcpStream,
    request: Vec<u8>,
    received: Vec<u8>,
}

impl Client {
    pub async fn new(address: SocketAddr, request: &str) -> Client {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Client {
            stream,
            request: request.as_bytes().to_vec(),
            received: vec![0; 64 * 1024],
        }
    }

    /// Sends the request and reads the whole answer; returns its body's length.
    pub async fn ask(&mut self) -> usize {
        self.stream.write_all(&self.request).await.unwrap();
        let mut filled = 0;
        loop {
            filled += self
                .stream
                .read(&mut self.received[filled..])
                .await
                .unwrap();
            let received = &self.received[..filled];
            if let Some(end) = received.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = std::str::from_utf8(&received[..end]).unwrap();
                assert!(head.starts_with("HTTP/1.1 200"), "{head}");
                let length = head
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length: "))
                    .unwrap();
                let length: usize = length.parse().unwrap();
                if filled == end + 4 + length {
                    return length;
                }
            }
        }
    }

    /// Bytes of the last answer's body.
    pub fn body(&self, length: usize) -> &[u8] {
        let end = self
            .received
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .unwrap()
            + 4;
        &self.received[end..end + length]
    }
}

/// Answers per second over many connections.
pub async fn rate(address: SocketAddr, request: &str, connections: usize, time: Duration) -> f64 {
    let started = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..connections {
        let mut client = Client::new(address, request).await;
        tasks.spawn(async move {
            let mut count = 0_u64;
            while started.elapsed() < time {
                client.ask().await;
                count += 1;
            }
            count
        });
    }
    let count: u64 = tasks.join_all().await.into_iter().sum();
    count as f64 / started.elapsed().as_secs_f64()
}
