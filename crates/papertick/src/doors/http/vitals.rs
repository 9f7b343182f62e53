//! Memory and disk of the host, under the names that clients know.

use std::path::Path;

use serde_json::{Map, Value};

/// Memory of the host, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Memory {
    /// All there is.
    pub(crate) total: u64,
    /// What can be had.
    pub(crate) free: u64,
    /// The least that could be had since the first look.
    pub(crate) least_free: u64,
    /// All there is beyond that, such as swap.
    pub(crate) more_total: u64,
    /// What is free of it.
    pub(crate) more_free: u64,
}

impl Memory {
    /// Looks at the host; zeros where it does not say.
    pub(crate) fn now(before: Option<Memory>) -> Memory {
        let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        Memory::read(&text, before)
    }

    /// Reads what Linux tells of its memory.
    fn read(text: &str, before: Option<Memory>) -> Memory {
        let free = meminfo(text, "MemAvailable:");
        Memory {
            total: meminfo(text, "MemTotal:"),
            free,
            least_free: before.map_or(free, |before| before.least_free.min(free)),
            more_total: meminfo(text, "SwapTotal:"),
            more_free: meminfo(text, "SwapFree:"),
        }
    }

    /// The members of the status.
    pub(crate) fn members(self) -> Map<String, Value> {
        let members = [
            ("espFreeHeap", self.free),
            ("espHeapSize", self.total),
            ("espMinFreeHeap", self.least_free),
            ("espLargestFreeBlock", self.free),
            ("espFreePsram", self.more_free),
            ("espPsramSize", self.more_total),
        ];
        members
            .into_iter()
            .map(|(name, bytes)| (name.to_string(), bytes.into()))
            .collect()
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

/// Used and total bytes of the disk that holds a folder; zeros where it does not say.
pub(crate) fn disk(folder: &Path) -> (u64, u64) {
    let Ok(stat) = rustix::fs::statvfs(folder) else {
        return (0, 0);
    };
    let total = stat.f_blocks.saturating_mul(stat.f_frsize);
    let free = stat.f_bfree.saturating_mul(stat.f_frsize);
    (total.saturating_sub(free), total)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn memory_is_told_in_bytes_with_the_least_that_was_free() {
        let look = |available: u64, before| {
            let text = format!(
                "MemTotal:  4000 kB\nMemFree:  10 kB\nMemAvailable:  {available} kB\nSwapTotal:  500 kB\nSwapFree:  200 kB\n"
            );
            Memory::read(&text, before)
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
        assert_eq!(Memory::read("MemTotal: much", None), Memory::default());
    }
}
