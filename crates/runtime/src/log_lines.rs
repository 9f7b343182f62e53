//! The last lines of the log in memory, for clients of the API.
//!
//! They are a copy of the log: what is not logged is not here, and secrets are never logged.

use std::collections::VecDeque;

use api::limits::LOG_LINES;
use serde_json::{Value, json};
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

/// The newest log lines.
#[derive(Debug, Default)]
struct LogBuffer {
    lines: VecDeque<LogLine>,
    /// Number of lines dropped before them.
    earlier: u64,
}

/// A log line.
#[derive(Debug)]
struct LogLine {
    time: String,
    level: tracing::Level,
    text: String,
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

    /// The lines as JSON, oldest first.
    pub fn to_json(&self) -> Value {
        let buffer = self.buffer.borrow();
        let line = |line: &LogLine| json!({ "time": line.time, "level": line.level.as_str().to_ascii_lowercase(), "text": line.text });
        json!({
            "lines": buffer.lines.iter().map(line).collect::<Vec<_>>(),
            "earlier": buffer.earlier,
        })
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
            level: *event.metadata().level(),
            text,
        });
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use tracing::subscriber::with_default;
    use tracing_subscriber::{filter::LevelFilter, layer::SubscriberExt, registry};

    use super::*;

    /// The log lines of a closure at [`LevelFilter::INFO`].
    fn logged(log: impl FnOnce()) -> Value {
        let lines = LogLines::new();
        let subscriber = registry().with(LevelFilter::INFO).with(lines.layer());
        with_default(subscriber, log);
        lines.to_json()
    }

    #[test]
    fn lines_are_those_of_the_log() {
        let logged_lines = logged(|| {
            tracing::warn!(panel = 3, error = %"too \"slow\"", "panel failed");
            tracing::debug!("below the level");
            tracing::info!("ready");
            // Spans come before the message.
            let source = tracing::info_span!("source", name = "relay");
            let _source = source.enter();
            let _relay = tracing::info_span!("relay", place = 3).entered();
            tracing::warn!(reason = "gone", "source is down");
        });
        let lines = logged_lines["lines"].as_array().unwrap();
        assert_eq!(lines.len(), 3, "{logged_lines}");
        assert_eq!(
            lines[2]["text"],
            "source{name=\"relay\"}: relay{place=3}: source is down reason=\"gone\""
        );
        assert_eq!(lines[0]["text"], "panel failed panel=3 error=too \"slow\"");
        assert_eq!(
            (&lines[0]["level"], &lines[1]["level"]),
            (&json!("warn"), &json!("info"))
        );
        let time = lines[0]["time"].as_str().unwrap();
        assert!(time.ends_with('Z') && time.contains('T'), "{time}");
        assert_eq!(logged_lines["earlier"], 0);
    }

    #[test]
    fn lines_are_bounded_in_number_and_length() {
        let logged_lines = logged(|| {
            for number in 0..LOG_LINES + 7 {
                tracing::info!(number, "{}", "ä".repeat(1000));
            }
        });
        let lines = logged_lines["lines"].as_array().unwrap();
        assert_eq!(
            (lines.len(), &logged_lines["earlier"]),
            (LOG_LINES, &json!(7))
        );
        assert!(lines[0]["text"].as_str().unwrap().len() <= TEXT_MAX);
    }
}
