//! Memory and disk of the host.

use std::{
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use api::status::{DiskSpace, HostMemory};

/// Interval of the memory samples between requests, so that the recorded minimum is a true one.
pub const MEMORY_PERIOD: Duration = Duration::from_secs(10);

/// The least available memory so far, bytes.
#[derive(Debug)]
pub struct Least {
    free: AtomicU64,
    more_free: AtomicU64,
}

impl Default for Least {
    /// No sample yet.
    fn default() -> Least {
        Least {
            free: AtomicU64::new(u64::MAX),
            more_free: AtomicU64::new(u64::MAX),
        }
    }
}

/// Reads the memory of the host; zeros if it is unavailable.
pub fn memory(least: &Least) -> HostMemory {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    read(&text, least)
}

/// Parses Linux's `meminfo`.
fn read(text: &str, least: &Least) -> HostMemory {
    let free = meminfo(text, "MemAvailable:");
    let more_free = meminfo(text, "SwapFree:");
    let lower = |least: &AtomicU64, now: u64| least.fetch_min(now, Ordering::Relaxed).min(now);
    HostMemory {
        total: meminfo(text, "MemTotal:"),
        free,
        least_free: lower(&least.free, free),
        more_total: meminfo(text, "SwapTotal:"),
        more_free,
        least_more_free: lower(&least.more_free, more_free),
    }
}

fn meminfo(text: &str, name: &str) -> u64 {
    let kibibytes = || {
        text.lines()
            .find_map(|line| line.strip_prefix(name))?
            .split_whitespace()
            .next()?
            .parse::<u64>()
            .ok()
    };
    kibibytes().map_or(0, |kibibytes| kibibytes.saturating_mul(1024))
}

/// Reads the size of the disk that holds a folder; zeros if it is unavailable.
pub fn disk(folder: &Path) -> DiskSpace {
    let Ok(stat) = rustix::fs::statvfs(folder) else {
        return DiskSpace::default();
    };
    let total = stat.f_blocks.saturating_mul(stat.f_frsize);
    let free = stat.f_bfree.saturating_mul(stat.f_frsize);
    let used = total.saturating_sub(free);
    DiskSpace { used, total }
}

#[cfg(test)]
mod tests {
    use api::status::MemoryStatus;
    use serde_json::json;

    use super::*;

    #[test]
    fn memory_is_in_bytes_and_has_a_minimum() {
        let least = Least::default();
        for (available, least_available, swap, least_swap) in [
            (3000, 3000, 200, 200),
            (1000, 1000, 300, 200),
            (2000, 1000, 100, 100),
        ] {
            let text = format!(
                "MemTotal:  4000 kB\nMemFree:  10 kB\nMemAvailable:  {available} kB\nSwapTotal:  500 kB\nSwapFree:  {swap} kB\n"
            );
            let memory = read(&text, &least);
            assert_eq!(memory.least_more_free, least_swap * 1024);
            let expected = json!({
                "espHeapSize": 4000 * 1024,
                "espFreeHeap": available * 1024,
                "espMinFreeHeap": least_available * 1024,
                "espLargestFreeBlock": available * 1024,
                "espPsramSize": 500 * 1024,
                "espFreePsram": swap * 1024,
            });
            assert_eq!(json!(MemoryStatus::from(memory)), expected);
        }
        assert_eq!(
            read("MemTotal: much", &Least::default()),
            HostMemory::default()
        );
    }
}
