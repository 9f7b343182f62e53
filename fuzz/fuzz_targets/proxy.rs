//! Fuzzes the replies of a proxy. The client connects or returns an error, and reads no byte after the reply.
#![no_main]
#![allow(dead_code)]

#[path = "../../crates/net/src/url.rs"]
mod url;

#[path = "../../crates/net/src/proxy.rs"]
mod proxy;

use std::{
    future::Future,
    io,
    net::Ipv4Addr,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use device::secret::Secret;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A fake proxy: sends these bytes, ignores all requests, and closes the connection.
struct Proxy<'a>(&'a [u8]);

impl AsyncRead for Proxy<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let count = self.0.len().min(into.remaining());
        let (part, rest) = self.0.split_at(count);
        into.put_slice(part);
        self.0 = rest;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Proxy<'_> {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// The output of a future that never waits.
fn poll_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("the proxy answers at once"),
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let password = Secret::new("password");
    let mut stream = Proxy(bytes);
    if poll_once(proxy::http_connect(
        &mut stream,
        "example.org",
        443,
        "user",
        &password,
    ))
    .is_ok()
    {
        let head = &bytes[..bytes.len() - stream.0.len()];
        assert!(head.ends_with(b"\r\n\r\n"));
    }
    let mut stream = Proxy(bytes);
    if poll_once(proxy::socks4(&mut stream, Ipv4Addr::LOCALHOST, 443)).is_ok() {
        assert_eq!(bytes.len() - stream.0.len(), 8);
    }
    let mut stream = Proxy(bytes);
    if poll_once(proxy::socks4a(&mut stream, "example.org", 443)).is_ok() {
        assert_eq!(bytes.len() - stream.0.len(), 8);
    }
    let mut stream = Proxy(bytes);
    let connected = poll_once(async {
        proxy::socks5_login(&mut stream, "user", &password).await?;
        proxy::socks5_connect(&mut stream, "example.org", 443).await
    });
    if connected.is_ok() {
        let read = bytes.len() - stream.0.len();
        assert!((2 + 7..=4 + 7 + 256).contains(&read), "{read}");
    }
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(url) = url::Url::parse(text)
    {
        assert!(url.path.starts_with('/'));
        let _ = url.join(text);
    }
});
