//! Figures for a monitoring system, in the OpenMetrics text format.

use std::fmt::Write;

use device::{market::Fee, units::MICRO};
use http::HeaderValue;
use net::dialer::DialCounts;
use tokio::time::Instant;

use crate::glass::{Glass, PanelGlass};

use super::{
    answer::{self, Response},
    call::Call,
};

/// Writes metrics one family after the other.
struct Families {
    text: String,
}

impl Families {
    fn gauge(
        &mut self,
        name: &str,
        unit: &str,
        help: &str,
        samples: impl IntoIterator<Item = (String, f64)>,
    ) {
        self.family("gauge", name, unit, help, samples);
    }

    fn family(
        &mut self,
        kind: &str,
        name: &str,
        unit: &str,
        help: &str,
        samples: impl IntoIterator<Item = (String, f64)>,
    ) {
        let full = if unit.is_empty() {
            name.to_string()
        } else {
            format!("{name}_{unit}")
        };
        let _ = writeln!(self.text, "# TYPE papertick_{full} {kind}");
        if !unit.is_empty() {
            let _ = writeln!(self.text, "# UNIT papertick_{full} {unit}");
        }
        let _ = writeln!(self.text, "# HELP papertick_{full} {help}");
        let suffix = if kind == "counter" { "_total" } else { "" };
        for (labels, value) in samples {
            let _ = writeln!(self.text, "papertick_{full}{suffix}{labels} {value}");
        }
    }
}

fn label(name: &str, value: &str) -> String {
    let escaped = value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("{{{name}=\"{escaped}\"}}")
}

fn alone(value: f64) -> [(String, f64); 1] {
    [(String::new(), value)]
}

fn flag(value: bool) -> f64 {
    f64::from(u8::from(value))
}

/// Connections that the clock made, or did not get.
fn outbound(families: &mut Families, counts: DialCounts) {
    let DialCounts {
        direct,
        proxied,
        failed,
    } = counts;
    families.family(
        "counter",
        "outbound_connections",
        "",
        "Connections that were made, without a proxy and through one.",
        [
            (label("route", "direct"), direct as f64),
            (label("route", "proxy"), proxied as f64),
        ],
    );
    families.family(
        "counter",
        "outbound_connection_failures",
        "",
        "Connections that were not made.",
        alone(failed as f64),
    );
}

/// What each panel shows, and whether it does what it is told.
fn panels(families: &mut Families, glass: &Glass) {
    let now = Instant::now();
    families.gauge(
        "panel_up",
        "",
        "The panel does what it is told.",
        each(glass, |panel| Some(flag(panel.fault.is_none()))),
    );
    families.gauge(
        "panel_failures",
        "",
        "Times the panel failed since it last did what it was told.",
        each(glass, |panel| Some(f64::from(panel.failures))),
    );
    families.gauge(
        "panel_age",
        "seconds",
        "Time since the panel was painted.",
        each(glass, |panel| {
            Some(now.saturating_duration_since(panel.since?).as_secs_f64())
        }),
    );
    families.gauge(
        "panel_partials",
        "",
        "Partial refreshes of the panel since its last full one.",
        each(glass, |panel| Some(f64::from(panel.partials))),
    );
}

/// A figure of each panel that has one.
fn each(
    glass: &Glass,
    value: impl Fn(&PanelGlass) -> Option<f64>,
) -> impl Iterator<Item = (String, f64)> {
    let panels = glass.panels.iter().enumerate();
    panels
        .filter_map(move |(index, panel)| Some((label("panel", &index.to_string()), value(panel)?)))
}

/// Answers with the figures.
pub(crate) fn read(call: &Call) -> Response {
    let state = &call.state;
    let (view, glass, memory) = (&call.view, state.glass(), state.status(&call.view).memory);
    let uptime = state.uptime();
    let mut families = Families {
        text: String::new(),
    };
    let build = format!(
        "_info{}",
        label("version", &state.services.identity.git_tag)
    );
    families.family("info", "build", "", "What runs here.", [(build, 1.0)]);
    families.gauge(
        "uptime",
        "seconds",
        "Time since the device started.",
        alone(uptime.as_secs_f64()),
    );
    families.family(
        "counter",
        "crashes",
        "",
        "Times the device broke off since its supervisor started.",
        alone(state.services.crashes as f64),
    );
    families.gauge(
        "block_height",
        "",
        "Height of the chain tip.",
        view.market
            .height
            .iter()
            .map(|height| (String::new(), f64::from(height.value))),
    );
    families.gauge(
        "price",
        "",
        "Price of one bitcoin.",
        view.market.prices.iter().map(|(currency, price)| {
            (
                label("currency", currency.code()),
                price.value.micros as f64 / MICRO as f64,
            )
        }),
    );
    let fee = view.market.current_fee(&view.active).map(Fee::datum);
    families.gauge(
        "fee_rate",
        "",
        "Fee rate, sat/vB.",
        fee.map(|fee| (String::new(), fee.value.micros as f64 / MICRO as f64)),
    );
    families.gauge(
        "stale",
        "",
        "A value on the glass is too old.",
        alone(flag(view.stale)),
    );
    families.gauge(
        "current_screen",
        "",
        "Id of the current screen.",
        alone(f64::from(view.current_screen)),
    );
    families.gauge(
        "timer_running",
        "",
        "The rotation runs.",
        alone(flag(view.timer_running)),
    );
    families.gauge(
        "source_up",
        "",
        "The source is connected and has said something.",
        view.sources
            .iter()
            .map(|(id, source)| (label("source", id.name()), flag(source.up))),
    );
    let age = |(id, source): (&device::sources::SourceId, &device::view::SourceState)| {
        let age = uptime.saturating_sub(source.last_success?);
        Some((label("source", id.name()), age.as_secs_f64()))
    };
    families.gauge(
        "source_age",
        "seconds",
        "Time since the source said something.",
        view.sources.iter().filter_map(age),
    );
    let dropped = view.sources.iter().flat_map(|(id, source)| {
        source.dropped.iter().map(|(reason, count)| {
            let labels = format!("{{source=\"{}\",reason=\"{reason}\"}}", id.name());
            (labels, *count as f64)
        })
    });
    families.family(
        "counter",
        "source_dropped",
        "",
        "What a source sent and was dropped, by reason.",
        dropped,
    );
    outbound(&mut families, state.services.dialer.counts());
    families.gauge(
        "event_clients",
        "",
        "Clients that follow the clock.",
        alone(state.frames.receiver_count() as f64),
    );
    families.family(
        "counter",
        "refreshes",
        "",
        "Refreshes of the panels.",
        alone(glass.generation as f64),
    );
    panels(&mut families, &glass);
    families.gauge(
        "memory_free",
        "bytes",
        "Memory of the host that can be had.",
        alone(memory.free as f64),
    );
    families.text.push_str("# EOF\n");
    let content_type =
        HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    answer::bytes(content_type, families.text.into())
}
