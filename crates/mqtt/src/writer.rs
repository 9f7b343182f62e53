//! Writes to the broker and detects that it stopped reading.
//!
//! TLS buffers what it cannot send yet, so a successful write does not show that the broker reads. Bytes therefore count
//! as sent once they are flushed to the socket. Buffers of the host (a few KiB, limited by the dialer) and of a proxy
//! count as sent.

use std::{io, time::Duration};

use net::dialer::BoxedStream;
use tokio::{
    io::{AsyncWriteExt, WriteHalf},
    time::Instant,
};

/// Longest time without progress while there are bytes to send.
pub const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes that are written before they are flushed. With [`WRITE_TIMEOUT`] this is the lowest throughput that is accepted.
const PIECE: usize = 4 * 1024;

/// The write half of a connection.
#[derive(Debug)]
pub struct BrokerWriter {
    stream: WriteHalf<BoxedStream>,
    /// Bytes that are written and not flushed.
    unflushed: usize,
    /// Start of the time without progress.
    stalled_since: Option<Instant>,
}

impl BrokerWriter {
    pub fn new(stream: WriteHalf<BoxedStream>) -> BrokerWriter {
        BrokerWriter {
            stream,
            unflushed: 0,
            stalled_since: None,
        }
    }

    /// Returns whether [`send`](Self::send) has anything to do; `out` are the bytes to send.
    pub fn is_busy(&self, out: &[u8]) -> bool {
        self.unflushed > 0 || !out.is_empty()
    }

    /// When the next progress is overdue; `out` are the bytes to send. `None` if there is nothing to do.
    pub fn deadline(&mut self, out: &[u8]) -> Option<Instant> {
        if !self.is_busy(out) {
            return None;
        }
        let since = self.stalled_since.get_or_insert_with(Instant::now);
        Some(*since + WRITE_TIMEOUT)
    }

    /// Writes or flushes the next piece of `out`. Returns the number of bytes that were flushed, which are to be removed
    /// from `out`. Cancel safe.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn send(&mut self, out: &[u8]) -> io::Result<usize> {
        if self.unflushed > 0 {
            self.stream.flush().await?;
            self.stalled_since = None;
            return Ok(std::mem::take(&mut self.unflushed));
        }
        let piece = &out[..out.len().min(PIECE)];
        match self.stream.write(piece).await? {
            0 => Err(io::ErrorKind::WriteZero.into()),
            count => {
                self.unflushed = count;
                Ok(0)
            }
        }
    }

    /// Closes the connection.
    pub async fn shut_down(&mut self) {
        // The connection is dropped anyway.
        let _ = self.stream.shutdown().await;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use futures_util::FutureExt as _;
    use tokio::io::{AsyncReadExt as _, BufWriter, duplex, split};

    use super::*;

    #[tokio::test]
    async fn bytes_in_a_buffer_do_not_count_as_sent() {
        let (near, mut far) = duplex(16);
        // Like TLS, it accepts more than it can send.
        let stream: BoxedStream = Box::new(BufWriter::new(near));
        let (_reader, stream) = split(stream);
        let mut writer = BrokerWriter::new(stream);
        let out = [7; 64];
        assert_eq!(writer.send(&out).await.unwrap(), 0);
        assert!(writer.send(&out).now_or_never().is_none());
        assert!(writer.is_busy(&[]) && writer.deadline(&[]).is_some());
        let mut received = [0; 64];
        let (sent, read) = tokio::join!(writer.send(&out), far.read_exact(&mut received));
        assert_eq!((sent.unwrap(), read.unwrap()), (64, 64));
        assert!(!writer.is_busy(&[]));
    }
}
