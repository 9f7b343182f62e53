//! The way out to the broker: what is handed over has gone once it is with the network.
//!
//! TLS takes what it cannot send yet, so that its taking something says nothing of who is there. What the host holds, a
//! few KiB by the dialer's wish, and what a proxy holds counts as gone.

use std::{io, time::Duration};

use net::dialer::BoxedStream;
use tokio::{
    io::{AsyncWriteExt, WriteHalf},
    time::Instant,
};

/// Longest time in which nothing of what waits goes.
pub const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes that are handed over before they must have gone: with [`WRITE_TIMEOUT`] this is the slowest way that is kept.
const PIECE: usize = 4 * 1024;

/// The way out of one connection.
#[derive(Debug)]
pub struct Outlet {
    writer: WriteHalf<BoxedStream>,
    /// Bytes that were handed over and may not have gone.
    piece: usize,
    /// Since when something waits without any of it going.
    waits: Option<Instant>,
}

impl Outlet {
    /// The way out by a connection.
    pub fn new(writer: WriteHalf<BoxedStream>) -> Outlet {
        Outlet {
            writer,
            piece: 0,
            waits: None,
        }
    }

    /// Tells whether anything is to be pushed, while this is still to be sent.
    pub fn is_busy(&self, out: &[u8]) -> bool {
        self.piece > 0 || !out.is_empty()
    }

    /// When some of what waits must have gone, while this is still to be sent; none if nothing waits.
    pub fn due(&mut self, out: &[u8]) -> Option<Instant> {
        if !self.is_busy(out) {
            return None;
        }
        let since = self.waits.get_or_insert_with(Instant::now);
        Some(*since + WRITE_TIMEOUT)
    }

    /// Brings what is to be sent one step further, and tells how many bytes of it have gone by that. Nothing is lost if
    /// it is given up.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn push(&mut self, out: &[u8]) -> io::Result<usize> {
        if self.piece > 0 {
            self.writer.flush().await?;
            self.waits = None;
            return Ok(std::mem::take(&mut self.piece));
        }
        let piece = &out[..out.len().min(PIECE)];
        match self.writer.write(piece).await? {
            0 => Err(io::ErrorKind::WriteZero.into()),
            count => {
                self.piece = count;
                Ok(0)
            }
        }
    }

    /// Ends the connection.
    pub async fn shut(&mut self) {
        // Whatever is wrong with it now, it is over.
        let _ = self.writer.shutdown().await;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use futures_util::FutureExt as _;
    use tokio::io::{AsyncReadExt as _, BufWriter, duplex, split};

    use super::*;

    #[tokio::test]
    async fn what_is_taken_has_gone_once_it_is_with_the_network() {
        let (near, mut far) = duplex(16);
        // It takes more than it can send, as TLS does.
        let stream: BoxedStream = Box::new(BufWriter::new(near));
        let (_reader, writer) = split(stream);
        let mut outlet = Outlet::new(writer);
        let out = [7; 64];
        assert_eq!(outlet.push(&out).await.unwrap(), 0);
        assert!(outlet.push(&out).now_or_never().is_none());
        assert!(outlet.is_busy(&[]) && outlet.due(&[]).is_some());
        let mut heard = [0; 64];
        let (gone, read) = tokio::join!(outlet.push(&out), far.read_exact(&mut heard));
        assert_eq!((gone.unwrap(), read.unwrap()), (64, 64));
        assert!(!outlet.is_busy(&[]));
    }
}
