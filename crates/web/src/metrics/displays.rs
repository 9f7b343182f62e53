//! Metrics of the remote displays.

use device::{displays::DisplayState, view::View};
use market::now::Now;

use super::{
    format::{MetricsWriter, flag, labels},
    unix_seconds,
};

/// Writes what the approved displays have reported.
pub(super) fn write(metrics: &mut MetricsWriter, view: &View, now: Now) {
    let approved = || view.displays.iter().filter(|state| state.is_approved);
    let battery = |state: &DisplayState| state.report.contact.battery;
    metrics.gauge(
        "display_battery",
        "ratio",
        "Charge of the battery of a remote display, 0 to 1.",
        approved().filter_map(|state| {
            let percent = battery(state)?.percent?;
            Some((label(state), f64::from(percent) / 100.0))
        }),
    );
    metrics.gauge(
        "display_battery",
        "volts",
        "Voltage of the battery of a remote display.",
        approved().filter_map(|state| {
            let millivolts = battery(state)?.millivolts?;
            Some((label(state), f64::from(millivolts) / 1e3))
        }),
    );
    metrics.gauge(
        "display_charging",
        "",
        "1 if the battery of a remote display is being charged.",
        approved().filter_map(|state| Some((label(state), flag(battery(state)?.charging?)))),
    );
    metrics.gauge(
        "display_signal",
        "dbm",
        "Strength of the Wi-Fi signal of a remote display.",
        approved().filter_map(|state| Some((label(state), state.report.contact.rssi?.into()))),
    );
    metrics.gauge(
        "display_last_contact_timestamp",
        "seconds",
        "When a remote display last asked for a picture, s since 1970-01-01 UTC.",
        approved().filter_map(|state| {
            Some((label(state), unix_seconds(state.report.last_contact?, now)?))
        }),
    );
    metrics.gauge(
        "display_log_lines",
        "",
        "Newest log lines of a remote display that the clock keeps.",
        approved().map(|state| (label(state), state.report.log.len() as f64)),
    );
    let waiting = view.displays.iter().filter(|state| !state.is_approved);
    metrics.gauge(
        "displays_waiting",
        "",
        "Remote displays that wait for approval.",
        [(String::new(), waiting.count() as f64)],
    );
}

fn label(state: &DisplayState) -> String {
    let display = &state.display;
    labels([("id", &display.id), ("name", &display.name)])
}
