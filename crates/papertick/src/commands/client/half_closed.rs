//! A connection that can still be read when the peer no longer accepts writes.
//!
//! A server that refuses an upload early answers and closes. Without this, the failed write would end the request before
//! the response was read.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream on which writes stay pending after a write has failed; a read then returns the response or the error.
#[derive(Debug)]
pub(super) struct HalfClosed<S> {
    stream: S,
    is_closed: bool,
}

impl<S> HalfClosed<S> {
    pub(super) fn new(stream: S) -> HalfClosed<S> {
        HalfClosed {
            stream,
            is_closed: false,
        }
    }
}

impl<S: AsyncWrite + Unpin> HalfClosed<S> {
    fn write<T>(
        &mut self,
        write: impl FnOnce(Pin<&mut S>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if self.is_closed {
            return Poll::Pending;
        }
        let written = write(Pin::new(&mut self.stream));
        self.is_closed = matches!(written, Poll::Ready(Err(_)));
        if self.is_closed { Poll::Pending } else { written }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for HalfClosed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for HalfClosed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write(|stream| stream.poll_write(context, bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.write(|stream| stream.poll_flush(context))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
