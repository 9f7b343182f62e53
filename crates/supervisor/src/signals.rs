//! The signals that stop the clock.

use std::{io, time::Duration};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    time::timeout,
};

/// SIGTERM, SIGINT and SIGHUP.
pub(crate) struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
    is_received: bool,
}

impl StopSignals {
    /// Installs the handlers.
    ///
    /// # Errors
    /// The host does not allow it.
    pub(crate) fn new() -> io::Result<StopSignals> {
        Ok(StopSignals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
            is_received: false,
        })
    }

    /// Waits for a signal for a while. Returns whether one was received.
    pub(crate) async fn received_within(&mut self, time: Duration) -> bool {
        timeout(time, self.received()).await.is_ok()
    }

    /// Waits for a signal; returns at once after the first one.
    pub(crate) async fn received(&mut self) {
        if self.is_received {
            return;
        }
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hang_up.recv() => {}
        }
        self.is_received = true;
    }
}
