//! Metrics for a monitoring system.

mod displays;
mod format;
mod market;
mod panels;
mod process;
mod sources;

use std::time::Duration;

use ::market::now::Now;
use device::{screens::catalog, view::View};
use updates::build::BuildFacts;

use super::{call::Call, response::Response};
use format::{MetricKind, MetricsWriter, flag, labels, unlabelled};

pub fn read(call: &Call) -> Response {
    let state = &call.state;
    let (view, glass, memory) = (&call.view, state.glass(), state.status(&call.view).memory);
    let now = state.services.clock.now();
    let mut metrics = MetricsWriter::new(call.headers());
    let build = labels([
        ("version", &state.services.identity.git_tag),
        ("board", view.board.id),
        ("revision", &BuildFacts::own().commit),
    ]);
    metrics.family(
        MetricKind::Info,
        "papertick_build",
        "",
        "Version of the program and the board.",
        [(build, 1.0)],
    );
    process::write(&mut metrics);
    metrics.gauge(
        "uptime",
        "seconds",
        "Time since the device started.",
        unlabelled(now.uptime.as_secs_f64()),
    );
    metrics.counter(
        "crashes",
        "Crashes of the device since its supervisor started.",
        unlabelled(state.services.crashes as f64),
    );
    market::write(&mut metrics, view, now);
    display(&mut metrics, view);
    sources::write(&mut metrics, view, now);
    sources::outbound(&mut metrics, state.services.dialer.counts());
    displays::write(&mut metrics, view, now);
    metrics.counter(
        "drawings",
        "Pictures that were drawn for other screens.",
        unlabelled(state.drawings.drawn() as f64),
    );
    metrics.gauge(
        "event_clients",
        "",
        "Clients of the event stream.",
        unlabelled(state.messages.receiver_count() as f64),
    );
    metrics.counter(
        "refreshes",
        "Refreshes of the panels.",
        unlabelled(glass.generation as f64),
    );
    panels::write(&mut metrics, &glass);
    metrics.gauge(
        "memory_free",
        "bytes",
        "Available memory of the host.",
        unlabelled(memory.free as f64),
    );
    metrics.finish()
}

/// The current screen and the modes that affect it.
fn display(metrics: &mut MetricsWriter, view: &View) {
    let screen = catalog::find(view.current_screen).map_or("", |screen| screen.name);
    let screen = labels([("id", &view.current_screen.to_string()), ("name", screen)]);
    metrics.gauge("current_screen", "", "The current screen.", [(screen, 1.0)]);
    metrics.gauge(
        "timer_running",
        "",
        "1 if the screens rotate.",
        unlabelled(flag(view.settings.active.timer_active)),
    );
    metrics.gauge(
        "dnd_active",
        "",
        "1 if Do Not Disturb is active.",
        unlabelled(flag(view.dnd_active)),
    );
    metrics.gauge(
        "safe_mode",
        "",
        "1 if the device runs without its sources, because it crashed repeatedly.",
        unlabelled(flag(view.safe_mode.is_some())),
    );
}

/// Converts an uptime to seconds since 1970-01-01 UTC; `None` if the time is unknown.
fn unix_seconds(uptime: Duration, now: Now) -> Option<f64> {
    let ago = now.uptime.saturating_sub(uptime);
    Some(now.utc?.unix_ms as f64 / 1e3 - ago.as_secs_f64())
}
