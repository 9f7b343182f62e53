//! Figures for a monitoring system: in the OpenMetrics text format for who asks for it, else in the classic one.

use std::{fmt::Write, time::Duration};

use device::{screens::catalog, view::View};
use http::{HeaderMap, HeaderValue, header::ACCEPT};
use market::{
    Datum, Fee, HeightState, PriceState, Seen, TimeState, heights::Claimed, now::Now, units::MICRO,
};
use net::dialer::DialCounts;
use procfs::{process::Process, ticks_per_second};
use runtime::glass::{DisplaySnapshot, PanelGlass};
use tokio::time::Instant;
use updates::build::BuildFacts;

use super::{
    answer::{self, Response},
    call::Call,
};

/// The text format of the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MetricsFormat {
    /// That of OpenMetrics 1.0.
    OpenMetrics,
    /// The older one, which every reader understands.
    Classic,
}

impl MetricsFormat {
    fn wanted(headers: &HeaderMap) -> MetricsFormat {
        let named = headers
            .get_all(ACCEPT)
            .iter()
            .filter_map(|accepted| accepted.to_str().ok())
            .any(|accepted| accepted.contains("application/openmetrics-text"));
        if named {
            MetricsFormat::OpenMetrics
        } else {
            MetricsFormat::Classic
        }
    }

    fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            MetricsFormat::OpenMetrics => {
                "application/openmetrics-text; version=1.0.0; charset=utf-8"
            }
            MetricsFormat::Classic => "text/plain; version=0.0.4; charset=utf-8",
        })
    }
}

/// The type of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MetricKind {
    /// It goes up and down.
    Gauge,
    /// It only grows while the process lives.
    Counter,
    /// Its labels are what it tells.
    Info,
}

impl MetricKind {
    /// What ends the names of its samples.
    fn suffix(self) -> &'static str {
        match self {
            MetricKind::Gauge => "",
            MetricKind::Counter => "_total",
            MetricKind::Info => "_info",
        }
    }
}

/// Writes metrics one family after the other.
struct Families {
    format: MetricsFormat,
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
        self.family(
            MetricKind::Gauge,
            &format!("papertick_{name}"),
            unit,
            help,
            samples,
        );
    }

    fn counter(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (String, f64)>,
    ) {
        self.family(
            MetricKind::Counter,
            &format!("papertick_{name}"),
            "",
            help,
            samples,
        );
    }

    fn family(
        &mut self,
        kind: MetricKind,
        name: &str,
        unit: &str,
        help: &str,
        samples: impl IntoIterator<Item = (String, f64)>,
    ) {
        let family = match unit {
            "" => name.to_string(),
            unit => format!("{name}_{unit}"),
        };
        let sample = format!("{family}{}", kind.suffix());
        let (named, kind) = match (self.format, kind) {
            (MetricsFormat::OpenMetrics, MetricKind::Gauge) => (&family, "gauge"),
            (MetricsFormat::OpenMetrics, MetricKind::Counter) => (&family, "counter"),
            (MetricsFormat::OpenMetrics, MetricKind::Info) => (&family, "info"),
            (MetricsFormat::Classic, MetricKind::Counter) => (&sample, "counter"),
            (MetricsFormat::Classic, MetricKind::Gauge | MetricKind::Info) => (&sample, "gauge"),
        };
        let _ = writeln!(self.text, "# HELP {named} {help}");
        let _ = writeln!(self.text, "# TYPE {named} {kind}");
        if self.format == MetricsFormat::OpenMetrics && !unit.is_empty() {
            let _ = writeln!(self.text, "# UNIT {named} {unit}");
        }
        for (labels, value) in samples {
            let _ = writeln!(self.text, "{sample}{labels} {value}");
        }
    }

    fn end(mut self) -> Response {
        if self.format == MetricsFormat::OpenMetrics {
            self.text.push_str("# EOF\n");
        }
        answer::bytes(self.format.content_type(), self.text.into())
    }
}

/// Labels as they stand behind a name.
fn labels<const N: usize>(pairs: [(&str, &str); N]) -> String {
    let pairs = pairs.map(|(name, value)| {
        let escaped = value
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n");
        format!("{name}=\"{escaped}\"")
    });
    format!("{{{}}}", pairs.join(","))
}

fn label(name: &str, value: &str) -> String {
    labels([(name, value)])
}

fn alone(value: f64) -> [(String, f64); 1] {
    [(String::new(), value)]
}

fn flag(value: bool) -> f64 {
    f64::from(u8::from(value))
}

/// When it was an uptime, s since 1970-01-01 UTC; none if nobody knows the time.
fn unix(uptime: Duration, now: Now) -> Option<f64> {
    let ago = now.uptime.saturating_sub(uptime);
    Some(now.utc?.unix_ms as f64 / 1e3 - ago.as_secs_f64())
}

/// When a value was last learned, s since 1970-01-01 UTC; none if nobody knows the time.
fn learned<T>(datum: &Datum<T>, now: Now) -> Option<f64> {
    match datum.seen {
        Seen::Before(then) => Some(then?.unix_ms as f64 / 1e3),
        Seen::At(uptime) => unix(uptime, now),
        Seen::Aged { told, age } => Some(unix(told, now)? - age.as_secs_f64()),
    }
}

/// What every process tells under the same names; nothing of what the host does not tell.
fn process(families: &mut Families) {
    let Ok(process) = Process::myself() else {
        return;
    };
    let mut gauge = |name: &str, unit: &str, help: &str, value: Option<f64>| {
        let samples = value.map(|value| (String::new(), value));
        families.family(
            MetricKind::Gauge,
            &format!("process_{name}"),
            unit,
            help,
            samples,
        );
    };
    let stat = process.stat().ok();
    let ticks = ticks_per_second() as f64;
    let started = stat.as_ref().and_then(|stat| {
        let booted = procfs::boot_time_secs().ok()?;
        Some(booted as f64 + stat.starttime as f64 / ticks)
    });
    gauge(
        "start_time",
        "seconds",
        "When the device process was started, s since 1970-01-01 UTC.",
        started,
    );
    gauge(
        "resident_memory",
        "bytes",
        "Memory of the device process.",
        stat.as_ref()
            .map(|stat| (stat.rss * procfs::page_size()) as f64),
    );
    gauge(
        "open_fds",
        "",
        "Open files and connections.",
        process.fd_count().ok().map(|count| count as f64),
    );
    let spent = stat.map(|stat| (String::new(), (stat.utime + stat.stime) as f64 / ticks));
    families.family(
        MetricKind::Counter,
        "process_cpu",
        "seconds",
        "Processor time that the device process took.",
        spent,
    );
}

/// Connections that the clock made, or did not get.
fn outbound(families: &mut Families, counts: DialCounts) {
    let DialCounts {
        direct,
        proxied,
        failed,
    } = counts;
    families.counter(
        "outbound_connections",
        "Connections that were made, without a proxy and through one.",
        [
            (label("route", "direct"), direct as f64),
            (label("route", "proxy"), proxied as f64),
        ],
    );
    families.counter(
        "outbound_connection_failures",
        "Connections that were not made.",
        alone(failed as f64),
    );
}

/// What each panel shows, and whether it does what it is told.
fn panels(families: &mut Families, glass: &DisplaySnapshot) {
    let now = Instant::now();
    families.gauge(
        "panel_up",
        "",
        "The panel does what it is told.",
        each(glass, |panel| Some(flag(panel.fault.is_none()))),
    );
    families.gauge(
        "panel_fault",
        "",
        "The panel fails in this way.",
        glass
            .panels
            .iter()
            .enumerate()
            .filter_map(|(index, panel)| {
                let labels = labels([
                    ("panel", &index.to_string()),
                    ("fault", panel.fault?.name()),
                ]);
                Some((labels, 1.0))
            }),
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
    glass: &DisplaySnapshot,
    value: impl Fn(&PanelGlass) -> Option<f64>,
) -> impl Iterator<Item = (String, f64)> {
    let panels = glass.panels.iter().enumerate();
    panels
        .filter_map(move |(index, panel)| Some((label("panel", &index.to_string()), value(panel)?)))
}

/// How good the values are, as one flag per state, and how far the claims are off.
fn truth(families: &mut Families, view: &View) {
    let truth = &view.truth;
    let states = HeightState::ALL.map(|state| {
        let labels = labels([("value", "height"), ("state", state.name())]);
        (labels, flag(state == truth.height))
    });
    let priced = |value: &str, own: PriceState| {
        PriceState::ALL.map(|state| {
            let labels = labels([("value", value), ("state", state.name())]);
            (labels, flag(state == own))
        })
    };
    let fee = priced("fee", truth.fee);
    let prices = view.market.prices.keys().flat_map(|currency| {
        let known = truth.prices.get(currency);
        let own = known.map_or(PriceState::Stale, |truth| truth.state);
        priced(currency.code(), own)
    });
    let times = TimeState::ALL.map(|state| {
        let labels = labels([("value", "time"), ("state", state.name())]);
        (labels, flag(state == truth.time.state))
    });
    families.gauge(
        "truth",
        "",
        "How good a value is: 1 for its state, 0 for the others.",
        states.into_iter().chain(fee).chain(prices).chain(times),
    );
    let spreads = truth.prices.iter().filter_map(|(currency, price)| {
        let spread = price.spread_permille? as f64 / 1000.0;
        Some((label("currency", currency.code()), spread))
    });
    families.gauge(
        "price_spread",
        "ratio",
        "From the lowest to the highest quote that counts, as a share of the lowest.",
        spreads,
    );
    families.gauge(
        "proven_height",
        "",
        "Height of the best block whose work was checked.",
        truth
            .proven
            .map(|tip| (String::new(), f64::from(tip.height))),
    );
    families.gauge(
        "proof_peers",
        "",
        "Public peers that have proven a block.",
        alone(truth.peers() as f64),
    );
    families.counter(
        "reorganisations",
        "How often blocks took the place of others since the start.",
        alone(f64::from(truth.reorganisations.count)),
    );
    let lead = |claimed: &Claimed| {
        let proven = truth.proven?.height;
        let lead = f64::from(claimed.height) - f64::from(proven);
        Some((label("source", claimed.source.name()), lead))
    };
    families.gauge(
        "claim_lead_blocks",
        "",
        "Blocks by which a source claims more than is proven.",
        truth.claims.iter().filter_map(lead),
    );
}

/// Answers with the figures.
pub fn read(call: &Call) -> Response {
    let state = &call.state;
    let (view, glass, memory) = (&call.view, state.glass(), state.status(&call.view).memory);
    let now = state.services.clock.now();
    let uptime = now.uptime;
    let mut families = Families {
        format: MetricsFormat::wanted(&call.parts.headers),
        text: String::new(),
    };
    let identity = &state.services.identity;
    let build = labels([
        ("version", &identity.git_tag),
        ("board", view.board.id),
        ("revision", &BuildFacts::own().commit),
    ]);
    families.family(
        MetricKind::Info,
        "papertick_build",
        "",
        "What runs here.",
        [(build, 1.0)],
    );
    process(&mut families);
    families.gauge(
        "uptime",
        "seconds",
        "Time since the device started.",
        alone(uptime.as_secs_f64()),
    );
    families.counter(
        "crashes",
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
        "height_timestamp",
        "seconds",
        "When the height was last learned, s since 1970-01-01 UTC.",
        view.market
            .height
            .as_ref()
            .and_then(|height| Some((String::new(), learned(height, now)?))),
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
    let fee = view
        .market
        .current_fee(view.active.fee_precision())
        .map(Fee::datum);
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
        "disputed",
        "",
        "Sources disagree about a value on the glass.",
        alone(flag(view.disputed)),
    );
    truth(&mut families, view);
    let screen = labels([
        ("id", &view.current_screen.to_string()),
        (
            "name",
            catalog::find(view.current_screen).map_or("", |screen| screen.name),
        ),
    ]);
    families.gauge("current_screen", "", "The current screen.", [(screen, 1.0)]);
    families.gauge(
        "timer_running",
        "",
        "The rotation runs.",
        alone(flag(view.timer_running)),
    );
    families.gauge(
        "dnd_active",
        "",
        "Do Not Disturb is active.",
        alone(flag(view.dnd_active)),
    );
    families.gauge(
        "safe_mode",
        "",
        "The device runs without its sources, because it broke off again and again.",
        alone(flag(view.safe_mode.is_some())),
    );
    families.gauge(
        "source_up",
        "",
        "The source is connected and has said something.",
        view.sources
            .iter()
            .map(|(id, source)| (label("source", id.name()), flag(source.up))),
    );
    let age = |(id, source): (&market::source_id::SourceId, &device::view::SourceState)| {
        let age = uptime.saturating_sub(source.last_success?);
        Some((label("source", id.name()), age.as_secs_f64()))
    };
    families.gauge(
        "source_age",
        "seconds",
        "Time since the source said something.",
        view.sources.iter().filter_map(age),
    );
    let succeeded = |(id, source): (&market::source_id::SourceId, &device::view::SourceState)| {
        let then = unix(source.last_success?, now)?;
        Some((label("source", id.name()), then))
    };
    families.gauge(
        "source_last_success_timestamp",
        "seconds",
        "When the source last said something, s since 1970-01-01 UTC.",
        view.sources.iter().filter_map(succeeded),
    );
    let dropped = view.sources.iter().flat_map(|(id, source)| {
        source.dropped.iter().map(|(reason, count)| {
            let labels = labels([("source", id.name()), ("reason", reason)]);
            (labels, *count as f64)
        })
    });
    families.counter(
        "source_dropped",
        "What a source sent and was dropped, by reason.",
        dropped,
    );
    let broker = view.mqtt.as_ref();
    families.gauge(
        "mqtt_connected",
        "",
        "The connection to the owner's broker is up; missing while none is wanted.",
        broker.map(|broker| (String::new(), flag(broker.up))),
    );
    let dropped = broker.into_iter().flat_map(|broker| {
        let dropped = broker.dropped.iter();
        dropped.map(|(reason, count)| (label("reason", reason), *count as f64))
    });
    families.counter(
        "mqtt_dropped",
        "Messages from or to the owner's broker that were dropped, by reason.",
        dropped,
    );
    outbound(&mut families, state.services.dialer.counts());
    families.gauge(
        "event_clients",
        "",
        "Clients that follow the clock.",
        alone(state.frames.receiver_count() as f64),
    );
    families.counter(
        "refreshes",
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
    families.end()
}

#[cfg(test)]
mod tests {
    use market::{now::UtcTime, source_id::SourceId};

    use super::*;

    #[test]
    fn a_moment_is_told_by_the_clock_of_the_world() {
        let secs = Duration::from_secs;
        let utc = |unix_secs: i64| UtcTime {
            unix_ms: unix_secs * 1000,
        };
        let now = Now {
            uptime: secs(100),
            utc: Some(utc(1_767_225_600)),
        };
        let nobody_knows = Now { utc: None, ..now };
        let aged = Seen::Aged {
            told: secs(90),
            age: secs(20),
        };
        let rows = [
            (Seen::At(secs(40)), Some(1_767_225_540.0), None),
            (aged, Some(1_767_225_570.0), None),
            (Seen::Before(Some(utc(5))), Some(5.0), Some(5.0)),
            (Seen::Before(None), None, None),
        ];
        for (seen, expected, without) in rows {
            let datum = Datum {
                value: 900_000,
                source: SourceId::Relay,
                seen,
            };
            assert_eq!(learned(&datum, now), expected, "{seen:?}");
            assert_eq!(learned(&datum, nobody_knows), without, "{seen:?}");
        }
    }
}
