//! What a test logs, line by line.

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

/// All that its own thread logs, which is all there is in a test, until this is dropped.
pub(crate) struct Logged {
    lines: Receiver<String>,
    _guard: DefaultGuard,
}

impl Logged {
    /// Reads what is logged from now on, beside what the clock itself keeps of it.
    pub(crate) fn from_now(level: LevelFilter, kept: &LogLines) -> Logged {
        // What first comes by in a test that has no log would be taken for something that nobody wants to know.
        static EVERYWHERE: Once = Once::new();
        EVERYWHERE.call_once(|| {
            let _ = set_global_default(registry());
            rebuild_interest_cache();
        });
        let (told, lines) = channel();
        let written = fmt::layer()
            .with_ansi(false)
            .with_writer(move || Line(told.clone()));
        let subscriber = registry().with(level).with(written).with(kept.layer());
        Logged {
            lines,
            _guard: set_default(subscriber),
        }
    }

    /// The lines that were not read before.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.try_iter().collect()
    }
}

struct Line(Sender<String>);

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Nobody reads any more when the test is over.
        let _ = self.0.send(String::from_utf8_lossy(bytes).into_owned());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
