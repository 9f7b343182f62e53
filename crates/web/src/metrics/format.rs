//! The text formats of metrics: families, labels and samples.

use std::fmt::Write;

use http::{HeaderMap, HeaderValue, header::ACCEPT};

use crate::response::{self, Response};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MetricsFormat {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// The older Prometheus format.
    Prometheus,
}

impl MetricsFormat {
    /// OpenMetrics if the client accepts it.
    fn negotiate(headers: &HeaderMap) -> MetricsFormat {
        let accepts_openmetrics = headers
            .get_all(ACCEPT)
            .iter()
            .filter_map(|accepted| accepted.to_str().ok())
            .any(|accepted| accepted.contains("application/openmetrics-text"));
        if accepts_openmetrics {
            MetricsFormat::OpenMetrics
        } else {
            MetricsFormat::Prometheus
        }
    }

    fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            MetricsFormat::OpenMetrics => {
                "application/openmetrics-text; version=1.0.0; charset=utf-8"
            }
            MetricsFormat::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MetricKind {
    /// A value that goes up and down.
    Gauge,
    /// A value that only grows while the process lives.
    Counter,
    /// Constant labels.
    Info,
}

impl MetricKind {
    /// Suffix of the names of its samples.
    fn suffix(self) -> &'static str {
        match self {
            MetricKind::Gauge => "",
            MetricKind::Counter => "_total",
            MetricKind::Info => "_info",
        }
    }
}

/// Labels, as [`labels`] formats them, and a value.
pub(super) type MetricSample = (String, f64);

/// Writes metric families in a text format.
pub(super) struct MetricsWriter {
    format: MetricsFormat,
    text: String,
}

impl MetricsWriter {
    /// A writer in the format that the client accepts.
    pub(super) fn new(headers: &HeaderMap) -> MetricsWriter {
        MetricsWriter {
            format: MetricsFormat::negotiate(headers),
            text: String::new(),
        }
    }

    /// Writes a gauge of the clock; `unit` may be empty.
    pub(super) fn gauge(
        &mut self,
        name: &str,
        unit: &str,
        help: &str,
        samples: impl IntoIterator<Item = MetricSample>,
    ) {
        let name = format!("papertick_{name}");
        self.family(MetricKind::Gauge, &name, unit, help, samples);
    }

    /// Writes a counter of the clock.
    pub(super) fn counter(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = MetricSample>,
    ) {
        let name = format!("papertick_{name}");
        self.family(MetricKind::Counter, &name, "", help, samples);
    }

    /// Writes a metric with its full name.
    pub(super) fn family(
        &mut self,
        kind: MetricKind,
        name: &str,
        unit: &str,
        help: &str,
        samples: impl IntoIterator<Item = MetricSample>,
    ) {
        let family = match unit {
            "" => name.to_string(),
            unit => format!("{name}_{unit}"),
        };
        let sample = format!("{family}{}", kind.suffix());
        let (name, kind) = match (self.format, kind) {
            (MetricsFormat::OpenMetrics, MetricKind::Gauge) => (&family, "gauge"),
            (MetricsFormat::OpenMetrics, MetricKind::Counter) => (&family, "counter"),
            (MetricsFormat::OpenMetrics, MetricKind::Info) => (&family, "info"),
            (MetricsFormat::Prometheus, MetricKind::Counter) => (&sample, "counter"),
            (MetricsFormat::Prometheus, MetricKind::Gauge | MetricKind::Info) => (&sample, "gauge"),
        };
        let _ = writeln!(self.text, "# HELP {name} {help}");
        let _ = writeln!(self.text, "# TYPE {name} {kind}");
        if self.format == MetricsFormat::OpenMetrics && !unit.is_empty() {
            let _ = writeln!(self.text, "# UNIT {name} {unit}");
        }
        for (labels, value) in samples {
            let _ = writeln!(self.text, "{sample}{labels} {value}");
        }
    }

    pub(super) fn finish(mut self) -> Response {
        if self.format == MetricsFormat::OpenMetrics {
            self.text.push_str("# EOF\n");
        }
        response::bytes(self.format.content_type(), self.text.into())
    }
}

/// Formats labels, such as `{source="relay"}`.
pub(super) fn labels<const N: usize>(pairs: [(&str, &str); N]) -> String {
    let pairs = pairs.map(|(name, value)| {
        let escaped = value
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n");
        format!("{name}=\"{escaped}\"")
    });
    format!("{{{}}}", pairs.join(","))
}

pub(super) fn label(name: &str, value: &str) -> String {
    labels([(name, value)])
}

/// A sample without labels.
pub(super) fn unlabelled(value: f64) -> [MetricSample; 1] {
    [(String::new(), value)]
}

/// 1 if true, else 0.
pub(super) fn flag(value: bool) -> f64 {
    f64::from(u8::from(value))
}
