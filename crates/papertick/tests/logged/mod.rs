//! The log lines of a test.

use std::{
    io::{self, Write},
    sync::{
        Once,
        mpsc::{Receiver, Sender, channel},
    },
};

use runtime::log_lines::LogLines;
use tracing::{
    callsite::rebuild_interest_cache,
    subscriber::{DefaultGuard, set_default, set_global_default},
};
use tracing_subscriber::{filter::LevelFilter, fmt, layer::SubscriberExt, registry};

/// Captures the log of the current thread until it is dropped.
pub(crate) struct Logged {
    lines: Receiver<String>,
    _guard: DefaultGuard,
}

impl Logged {
    /// Starts to capture, in addition to the log lines of the clock.
    pub(crate) fn from_now(level: LevelFilter, own: &LogLines) -> Logged {
        // Callsites that were first used in a test without a log are cached as disabled.
        static EVERYWHERE: Once = Once::new();
        EVERYWHERE.call_once(|| {
            let _ = set_global_default(registry());
            rebuild_interest_cache();
        });
        let (sender, lines) = channel();
        let written = fmt::layer()
            .with_ansi(false)
            .with_writer(move || Line(sender.clone()));
        let subscriber = registry().with(level).with(written).with(own.layer());
        Logged {
            lines,
            _guard: set_default(subscriber),
        }
    }

    /// The lines since the last call.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.try_iter().collect()
    }
}

struct Line(Sender<String>);

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Fails if the test is over.
        let _ = self.0.send(String::from_utf8_lossy(bytes).into_owned());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
