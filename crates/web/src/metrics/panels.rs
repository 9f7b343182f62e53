//! Metrics of the panels.

use runtime::panels::{PanelState, PanelsSnapshot};
use tokio::time::Instant;

use super::format::{MetricSample, MetricsWriter, flag, label, labels};

pub(super) fn write(metrics: &mut MetricsWriter, glass: &PanelsSnapshot) {
    let now = Instant::now();
    metrics.gauge(
        "panel_up",
        "",
        "1 if the panel works.",
        per_panel(glass, |panel| Some(flag(panel.fault.is_none()))),
    );
    let faults = glass.panels.iter().enumerate();
    let faults = faults.filter_map(|(index, panel)| {
        let labels = labels([
            ("panel", &index.to_string()),
            ("fault", panel.fault?.name()),
        ]);
        Some((labels, 1.0))
    });
    metrics.gauge("panel_fault", "", "The fault of the panel.", faults);
    metrics.gauge(
        "panel_failures",
        "",
        "Failures of the panel since it last worked.",
        per_panel(glass, |panel| Some(f64::from(panel.failures))),
    );
    metrics.gauge(
        "panel_age",
        "seconds",
        "Time since the panel was painted.",
        per_panel(glass, |panel| {
            Some(now.saturating_duration_since(panel.since?).as_secs_f64())
        }),
    );
    metrics.gauge(
        "panel_partials",
        "",
        "Partial refreshes of the panel since its last full refresh.",
        per_panel(glass, |panel| Some(f64::from(panel.partials))),
    );
    metrics.gauge(
        "panel_partials_max",
        "",
        "Partial refreshes of the panel after which a full one is due; 0 for no limit.",
        per_panel(glass, |panel| Some(f64::from(panel.partials_max))),
    );
    metrics.gauge(
        "panel_full_age",
        "seconds",
        "Time since the last full refresh of the panel.",
        per_panel(glass, |panel| {
            Some(panel.refreshes.full_at?.elapsed().as_secs_f64())
        }),
    );
    let refreshes = glass.panels.iter().enumerate().flat_map(|(index, panel)| {
        let refreshes = panel.refreshes;
        [
            ("full", refreshes.full),
            ("partial", refreshes.partial),
            ("failed", refreshes.failed),
        ]
        .map(|(kind, count)| {
            let labels = labels([("panel", &index.to_string()), ("kind", kind)]);
            (labels, f64::from(count))
        })
    });
    metrics.counter(
        "panel_refreshes",
        "Refreshes of the panel since the start, `full`, `partial` or `failed`.",
        refreshes,
    );
}

/// One sample for each panel with a value.
fn per_panel(
    glass: &PanelsSnapshot,
    value: impl Fn(&PanelState) -> Option<f64>,
) -> impl Iterator<Item = MetricSample> {
    let panels = glass.panels.iter().enumerate();
    panels
        .filter_map(move |(index, panel)| Some((label("panel", &index.to_string()), value(panel)?)))
}
