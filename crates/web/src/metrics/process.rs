//! Metrics of the process, under the names that all Prometheus clients use.

use procfs::{process::Process, ticks_per_second};

use super::format::{MetricKind, MetricsWriter};

/// Writes the metrics that the host provides.
pub(super) fn write(metrics: &mut MetricsWriter) {
    let Ok(process) = Process::myself() else {
        return;
    };
    let stat = process.stat().ok();
    let ticks = ticks_per_second() as f64;
    let started = stat.as_ref().and_then(|stat| {
        let booted = procfs::boot_time_secs().ok()?;
        Some(booted as f64 + stat.starttime as f64 / ticks)
    });
    let resident = stat
        .as_ref()
        .map(|stat| (stat.rss * procfs::page_size()) as f64);
    let open_files = process.fd_count().ok().map(|count| count as f64);
    let cpu = stat.map(|stat| (stat.utime + stat.stime) as f64 / ticks);
    let rows = [
        (
            MetricKind::Gauge,
            "process_start_time",
            "seconds",
            "Start of the device process, s since 1970-01-01 UTC.",
            started,
        ),
        (
            MetricKind::Gauge,
            "process_resident_memory",
            "bytes",
            "Resident memory of the device process.",
            resident,
        ),
        (
            MetricKind::Gauge,
            "process_open_fds",
            "",
            "Open file descriptors of the device process.",
            open_files,
        ),
        (
            MetricKind::Counter,
            "process_cpu",
            "seconds",
            "CPU time of the device process.",
            cpu,
        ),
    ];
    for (kind, name, unit, help, value) in rows {
        let sample = value.map(|value| (String::new(), value));
        metrics.family(kind, name, unit, help, sample);
    }
}
