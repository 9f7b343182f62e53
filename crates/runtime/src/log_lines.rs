//! The last lines of the log, kept in memory for whoever asks the clock instead of its machine.
//!
//! They are those that the log itself has: what is not logged is not here, and neither is a secret, for none is logged.

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

/// Longest text of a line that is kept, bytes.
const TEXT_MAX: usize = 1024;

/// The last lines of the log; clones are the same.
#[derive(Debug, Clone)]
pub struct LogLines {
    kept: watch::Sender<LogBuffer>,
}

/// The newest log lines.
#[derive(Debug, Default)]
struct LogBuffer {
    lines: VecDeque<LogLine>,
    /// How many there were before them.
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
    /// None yet.
    pub fn new() -> LogLines {
        LogLines {
            kept: watch::Sender::default(),
        }
    }

    /// What a subscriber needs to keep its lines here.
    pub fn layer(&self) -> LogLayer {
        LogLayer {
            lines: self.clone(),
        }
    }

    /// The lines, the oldest first.
    pub fn told(&self) -> Value {
        let kept = self.kept.borrow();
        let line = |line: &LogLine| json!({ "time": line.time, "level": line.level.as_str().to_ascii_lowercase(), "text": line.text });
        json!({
            "lines": kept.lines.iter().map(line).collect::<Vec<_>>(),
            "earlier": kept.earlier,
        })
    }

    fn keep(&self, line: LogLine) {
        self.kept.send_modify(|kept| {
            if kept.lines.len() == LOG_LINES {
                kept.lines.pop_front();
                kept.earlier += 1;
            }
            kept.lines.push_back(line);
        });
    }
}

impl Default for LogLines {
    fn default() -> LogLines {
        LogLines::new()
    }
}

/// Keeps the lines of a subscriber.
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
        // A string takes everything; what cannot write itself leaves a shorter line.
        let _ = DefaultFields::new().format_fields(Writer::new(&mut text), event);
        let _ = SystemTime.format_time(&mut Writer::new(&mut time));
        text.truncate(text.floor_char_boundary(TEXT_MAX));
        self.lines.keep(LogLine {
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

    /// What the log tells at [`LevelFilter::INFO`] of what happens.
    fn logged(log: impl FnOnce()) -> Value {
        let lines = LogLines::new();
        let subscriber = registry().with(LevelFilter::INFO).with(lines.layer());
        with_default(subscriber, log);
        lines.told()
    }

    #[test]
    fn lines_say_what_the_log_says() {
        let told = logged(|| {
            tracing::warn!(panel = 3, error = %"too \"slow\"", "panel failed");
            tracing::debug!("not asked for");
            tracing::info!("ready");
            // Who said it is told before what was said.
            let source = tracing::info_span!("source", name = "relay");
            let _source = source.enter();
            let _relay = tracing::info_span!("relay", place = 3).entered();
            tracing::warn!(reason = "gone", "source is down");
        });
        let lines = told["lines"].as_array().unwrap();
        assert_eq!(lines.len(), 3, "{told}");
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
        assert_eq!(told["earlier"], 0);
    }

    #[test]
    fn only_the_last_lines_are_kept_and_none_is_long() {
        let told = logged(|| {
            for number in 0..LOG_LINES + 7 {
                tracing::info!(number, "{}", "ä".repeat(1000));
            }
        });
        let lines = told["lines"].as_array().unwrap();
        assert_eq!((lines.len(), &told["earlier"]), (LOG_LINES, &json!(7)));
        assert!(lines[0]["text"].as_str().unwrap().len() <= TEXT_MAX);
    }
}
