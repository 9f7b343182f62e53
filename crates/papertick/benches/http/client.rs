//! A minimal client: sends the same bytes each time and counts the bytes of the responses.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::Instant,
};

/// A persistent connection.
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

    /// Sends the request and reads the whole response; returns the length of its body.
    pub async fn send(&mut self) -> usize {
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

    /// Body of the last response.
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

/// Responses per second over many connections.
pub async fn rate(address: SocketAddr, request: &str, connections: usize, time: Duration) -> f64 {
    let started = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..connections {
        let mut client = Client::new(address, request).await;
        tasks.spawn(async move {
            let mut count = 0_u64;
            while started.elapsed() < time {
                client.send().await;
                count += 1;
            }
            count
        });
    }
    let count: u64 = tasks.join_all().await.into_iter().sum();
    count as f64 / started.elapsed().as_secs_f64()
}
