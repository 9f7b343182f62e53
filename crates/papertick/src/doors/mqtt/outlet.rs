//! The way out to the broker: what is handed over has gone once it is with the network.
//!
//! TLS takes what it cannot send yet, so that its taking something says nothing of who is there.

use std::{io, time::Duration};

use net::dialer::BoxedStream;
use tokio::{
    io::{AsyncWriteExt, WriteHalf},
    time::Instant,
};

/// Longest time in which nothing of what waits goes.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes that are handed over before they must have gone: with [`WRITE_TIMEOUT`] this is the slowest way that is kept.
const PIECE: usize = 4 * 1024;

/// The way out of one connection.
#[derive(Debug)]
pub(crate) struct Outlet {
    writer: WriteHalf<BoxedStream>,
    /// Something was handed over that may not have gone.
    has_piece: bool,
    /// Since when something waits without any of it going.
    waits: Option<Instant>,
}

impl Outlet {
    /// The way out by a connection.
    pub(crate) fn new(writer: WriteHalf<BoxedStream>) -> Outlet {
        Outlet {
            writer,
            has_piece: false,
            waits: None,
        }
    }

    /// Tells whether anything is to be pushed, while this is still to be sent.
    pub(crate) fn is_busy(&self, out: &[u8]) -> bool {
        self.has_piece || !out.is_empty()
    }

    /// When some of what waits must have gone, while this is still to be sent; none if nothing waits.
    pub(crate) fn due(&mut self, out: &[u8]) -> Option<Instant> {
        if !self.is_busy(out) {
            return None;
        }
        let since = self.waits.get_or_insert_with(Instant::now);
        Some(*since + WRITE_TIMEOUT)
    }

    /// Brings what is to be sent one step further, and tells how many bytes of it are handed over by that. Nothing is
    /// lost if it is given up.
    ///
    /// # Errors
    /// The connection is lost.
    pub(crate) async fn push(&mut self, out: &[u8]) -> io::Result<usize> {
        if self.has_piece {
            self.writer.flush().await?;
            self.has_piece = false;
            self.waits = None;
            return Ok(0);
        }
        let piece = &out[..out.len().min(PIECE)];
        match self.writer.write(piece).await? {
            0 => Err(io::ErrorKind::WriteZero.into()),
            count => {
                self.has_piece = true;
                Ok(count)
            }
        }
    }

    /// Ends the connection.
    pub(crate) async fn shut(&mut self) {
        // Whatever is wrong with it now, it is over.
        let _ = self.writer.shutdown().await;
    }
}
