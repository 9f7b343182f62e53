//! The signals that stop the clock.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use signal_hook::flag::register_conditional_default;
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
    /// If set, a signal ends this process at once, as without a handler.
    end_at_once: Arc<AtomicBool>,
}

impl StopSignals {
    /// Installs the handlers.
    ///
    /// # Errors
    /// The host does not allow it.
    pub(crate) fn new() -> io::Result<StopSignals> {
        let end_at_once = Arc::default();
        let handle = |kind: SignalKind| {
            let received = signal(kind)?;
            register_conditional_default(kind.as_raw_value(), Arc::clone(&end_at_once))?;
            Ok::<_, io::Error>(received)
        };
        Ok(StopSignals {
            terminate: handle(SignalKind::terminate())?,
            interrupt: handle(SignalKind::interrupt())?,
            hang_up: handle(SignalKind::hangup())?,
            is_received: false,
            end_at_once,
        })
    }

    /// Sets whether a signal ends this process at once.
    pub(crate) fn end_at_once(&self, is_so: bool) {
        self.end_at_once.store(is_so, Ordering::SeqCst);
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use std::{
        os::unix::process::ExitStatusExt,
        process::{Command, Stdio},
    };

    use rustix::process::{Signal, getpid, kill_process};

    use super::*;
    use crate::start::runtime;

    #[test]
    fn a_signal_ends_the_process_at_once_if_that_is_set() {
        const ROLE: &str = "PAPERTICK_IS_BEING_REPLACED";
        const RECEIVED: i32 = 7;
        if let Ok(role) = std::env::var(ROLE) {
            runtime().unwrap().block_on(async {
                let mut stop = StopSignals::new().unwrap();
                stop.end_at_once(true);
                stop.end_at_once(role == "true");
                kill_process(getpid(), Signal::TERM).unwrap();
                stop.received().await;
                std::process::exit(RECEIVED);
            });
        }
        let test = std::thread::current().name().unwrap().to_string();
        for (is_so, ends) in [
            (false, (Some(RECEIVED), None)),
            (true, (None, Some(Signal::TERM.as_raw()))),
        ] {
            let mut itself = Command::new(std::env::current_exe().unwrap());
            let itself = itself.args(["--exact", &test]).stdout(Stdio::null());
            let status = itself.env(ROLE, is_so.to_string()).status().unwrap();
            assert_eq!((status.code(), status.signal()), ends, "{is_so}");
        }
    }
}
