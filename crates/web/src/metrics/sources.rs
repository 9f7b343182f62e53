//! Metrics of the sources, the MQTT broker and outbound connections.

use device::view::{SourceState, View};
use market::{now::Now, source_id::SourceId};
use net::dialer::DialCounts;

use super::{
    format::{MetricsWriter, flag, label, labels, unlabelled},
    unix_seconds,
};

/// Writes the state of each source and of the MQTT broker.
pub(super) fn write(metrics: &mut MetricsWriter, view: &View, now: Now) {
    metrics.gauge(
        "source_up",
        "",
        "1 if the source is connected and has sent data.",
        view.sources
            .iter()
            .map(|(id, source)| (label("source", id.name()), flag(source.up))),
    );
    let age = |(id, source): (&SourceId, &SourceState)| {
        let age = now.uptime.saturating_sub(source.last_success?);
        Some((label("source", id.name()), age.as_secs_f64()))
    };
    metrics.gauge(
        "source_age",
        "seconds",
        "Time since the source sent data.",
        view.sources.iter().filter_map(age),
    );
    let last_success = |(id, source): (&SourceId, &SourceState)| {
        let time = unix_seconds(source.last_success?, now)?;
        Some((label("source", id.name()), time))
    };
    metrics.gauge(
        "source_last_success_timestamp",
        "seconds",
        "When the source last sent data, s since 1970-01-01 UTC.",
        view.sources.iter().filter_map(last_success),
    );
    let dropped = view.sources.iter().flat_map(|(id, source)| {
        source.dropped.iter().map(|(reason, count)| {
            let labels = labels([("source", id.name()), ("reason", reason)]);
            (labels, *count as f64)
        })
    });
    metrics.counter(
        "source_dropped",
        "Dropped messages of a source, by reason.",
        dropped,
    );
    let broker = view.mqtt.as_ref();
    metrics.gauge(
        "mqtt_connected",
        "",
        "1 if the clock is connected to the MQTT broker. Missing if MQTT is off.",
        broker.map(|broker| (String::new(), flag(broker.up))),
    );
    let dropped = broker.into_iter().flat_map(|broker| {
        let dropped = broker.dropped.iter();
        dropped.map(|(reason, count)| (label("reason", reason), *count as f64))
    });
    metrics.counter("mqtt_dropped", "Dropped MQTT messages, by reason.", dropped);
}

/// Writes the counters of outbound connections.
pub(super) fn outbound(metrics: &mut MetricsWriter, counts: DialCounts) {
    let DialCounts {
        direct,
        proxied,
        failed,
    } = counts;
    metrics.counter(
        "outbound_connections",
        "Outbound connections, direct and through a proxy.",
        [
            (label("route", "direct"), direct as f64),
            (label("route", "proxy"), proxied as f64),
        ],
    );
    metrics.counter(
        "outbound_connection_failures",
        "Outbound connections that failed.",
        unlabelled(failed as f64),
    );
}
