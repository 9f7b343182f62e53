//! The last lines of the log in memory, for clients of the API.
//!
//! They are a copy of the log: what is not logged is not here, and secrets are never logged.

use std::collections::VecDeque;

use api::{
    documents::diagnostics::{Log, LogLevel, LogLine},
    limits::LOG_LINES,
};
use tokio::sync::watch;
use tracing::{
    Event, Subscriber,
    span::{Attributes, Id},
};
use tracing_subscriber::{
    Layer,
    fmt::{
        FormatFields,
        format::{DefaultFields, Writer},
        time::{FormatTime, SystemTime},
    },
    layer::Context,
    registry::{LookupSpan, Scope},
};

/// Longest text of a stored line, bytes.
const TEXT_MAX: usize = 1024;

/// The last lines of the log; clones share them.
#[derive(Debug, Clone)]
pub struct LogLines {
    buffer: watch::Sender<LogBuffer>,
}

#[derive(Debug, Default)]
struct LogBuffer {
    lines: VecDeque<LogLine>,
    /// Number of lines dropped before them.
    earlier: u64,
}

impl LogLines {
    /// No lines yet.
    pub fn new() -> LogLines {
        LogLines {
            buffer: watch::Sender::default(),
        }
    }

    /// A subscriber layer that stores its lines here.
    pub fn layer(&self) -> LogLayer {
        LogLayer {
            lines: self.clone(),
        }
    }

    pub fn log(&self) -> Log {
        let buffer = self.buffer.borrow();
        Log {
            lines: buffer.lines.iter().cloned().collect(),
            earlier: buffer.earlier,
        }
    }

    fn push(&self, line: LogLine) {
        self.buffer.send_modify(|buffer| {
            if buffer.lines.len() == LOG_LINES {
                buffer.lines.pop_front();
                buffer.earlier += 1;
            }
            buffer.lines.push_back(line);
        });
    }
}

impl Default for LogLines {
    fn default() -> LogLines {
        LogLines::new()
    }
}

/// Stores the lines of a subscriber.
#[derive(Debug)]
pub struct LogLayer {
    lines: LogLines,
}

/// Text of a span that precedes the message of a log line.
struct SpanLabel(String);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for LogLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else {
            return;
        };
        let mut fields = String::new();
        let _ = DefaultFields::new().format_fields(Writer::new(&mut fields), attributes);
        let name = format!("{}{{{fields}}}: ", span.name());
        span.extensions_mut().replace(SpanLabel(name));
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let (mut text, mut time) = (String::new(), String::new());
        for span in context
            .event_scope(event)
            .into_iter()
            .flat_map(Scope::from_root)
        {
            if let Some(SpanLabel(name)) = span.extensions().get::<SpanLabel>() {
                text.push_str(name);
            }
        }
        // Writing to a string cannot fail; a value that fails to format leaves a shorter line.
        let _ = DefaultFields::new().format_fields(Writer::new(&mut text), event);
        let _ = SystemTime.format_time(&mut Writer::new(&mut time));
        text.truncate(text.floor_char_boundary(TEXT_MAX));
        self.lines.push(LogLine {
            time,
            level: level_of(*event.metadata().level()),
            text,
        });
    }
}

fn level_of(level: tracing::Level) -> LogLevel {
    match level {
        tracing::Level::ERROR => LogLevel::Error,
        tracing::Level::WARN => LogLevel::Warn,
        tracing::Level::INFO => LogLevel::Info,
        tracing::Level::DEBUG => LogLevel::Debug,
        _ => LogLevel::Trace,
    }
}

#[cfg(test)]
mod tests {
    use tracing::subscriber::with_default;
    use tracing_subscriber::{filter::LevelFilter, layer::SubscriberExt, registry};

    use super::*;

    /// The log lines of a closure at [`LevelFilter::INFO`].
    fn logged(log: impl FnOnce()) -> Log {
        let lines = LogLines::new();
        let subscriber = registry().with(LevelFilter::INFO).with(lines.layer());
        with_default(subscriber, log);
        lines.log()
    }

    #[test]
    fn lines_are_those_of_the_log() {
        let Log { lines, earlier } = logged(|| {
            tracing::warn!(panel = 3, error = %"too \"slow\"", "panel failed");
            tracing::debug!("below the level");
            tracing::info!("ready");
            // Spans come before the message.
            let source = tracing::info_span!("source", name = "relay");
            let _source = source.enter();
            let _relay = tracing::info_span!("relay", place = 3).entered();
            tracing::warn!(reason = "gone", "source is down");
        });
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert_eq!(
            lines[2].text,
            "source{name=\"relay\"}: relay{place=3}: source is down reason=\"gone\""
        );
        assert_eq!(lines[0].text, "panel failed panel=3 error=too \"slow\"");
        let levels = (lines[0].level, lines[1].level);
        assert_eq!(levels, (LogLevel::Warn, LogLevel::Info));
        let time = &lines[0].time;
        assert!(time.ends_with('Z') && time.contains('T'), "{time}");
        assert_eq!(earlier, 0);
    }

    #[test]
    fn lines_are_bounded_in_number_and_length() {
        let Log { lines, earlier } = logged(|| {
            for number in 0..LOG_LINES + 7 {
                tracing::info!(number, "{}", "ä".repeat(1000));
            }
        });
        assert_eq!((lines.len(), earlier), (LOG_LINES, 7));
        assert!(lines[0].text.len() <= TEXT_MAX);
    }
}
