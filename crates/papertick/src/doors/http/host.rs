//! Memory and disk of the host.

use std::path::Path;

use interface::status::{DiskSpace, HostMemory};

/// Looks at the memory of the host; zeros where it does not say.
pub(crate) fn memory(before: Option<HostMemory>) -> HostMemory {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    read(&text, before)
}

/// Reads what Linux tells of its memory.
fn read(text: &str, before: Option<HostMemory>) -> HostMemory {
    let free = meminfo(text, "MemAvailable:");
    HostMemory {
        total: meminfo(text, "MemTotal:"),
        free,
        least_free: before.map_or(free, |before| before.least_free.min(free)),
        more_total: meminfo(text, "SwapTotal:"),
        more_free: meminfo(text, "SwapFree:"),
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

/// Looks at the disk that holds a folder; zeros where it does not say.
pub(crate) fn disk(folder: &Path) -> DiskSpace {
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
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn memory_is_told_in_bytes_with_the_least_that_was_free() {
        let look = |available: u64, before| {
            let text = format!(
                "MemTotal:  4000 kB\nMemFree:  10 kB\nMemAvailable:  {available} kB\nSwapTotal:  500 kB\nSwapFree:  200 kB\n"
            );
            read(&text, before)
        };
        let mut before = None;
        for (available, least) in [(3000, 3000), (1000, 1000), (2000, 1000)] {
            let memory = look(available, before);
            let expected = json!({
                "espHeapSize": 4000 * 1024,
                "espFreeHeap": available * 1024,
                "espMinFreeHeap": least * 1024,
                "espLargestFreeBlock": available * 1024,
                "espPsramSize": 500 * 1024,
                "espFreePsram": 200 * 1024,
            });
            assert_eq!(Value::Object(memory.members()), expected);
            before = Some(memory);
        }
        assert_eq!(read("MemTotal: much", None), HostMemory::default());
    }
}
