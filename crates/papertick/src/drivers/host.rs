//! Measures the memory of the machine.

use std::{fs, time::Duration};

use device::{host::HostFacts, input::Input};
use runtime::inbox::Inbox;
use tokio::time::{MissedTickBehavior, interval};

/// Memory statistics of Linux.
const MEMINFO: &str = "/proc/meminfo";

/// Time between two measurements.
const PERIOD: Duration = Duration::from_secs(10);

/// Reports the memory, together with the known facts, until the device is gone.
pub async fn measure(known: HostFacts, inbox: Inbox) {
    let mut ticks = interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut reported = HostFacts::default();
    loop {
        ticks.tick().await;
        // Without the file the memory is reported as unknown.
        let meminfo = fs::read_to_string(MEMINFO).unwrap_or_default();
        let facts = with_memory(&known, &meminfo);
        if facts == reported {
            continue;
        }
        reported = facts.clone();
        if inbox.send(Input::Host(facts)).await.is_err() {
            return;
        }
    }
}

/// The known facts, with the memory from the text of `/proc/meminfo`.
fn with_memory(known: &HostFacts, meminfo: &str) -> HostFacts {
    HostFacts {
        heap_free: meminfo_bytes(meminfo, "MemAvailable:").map(coarse),
        swap_free: meminfo_bytes(meminfo, "SwapFree:").map(coarse),
        ..known.clone()
    }
}

/// Rounds down to the resolution of the debug view, so that smaller changes wake no task.
fn coarse(bytes: u64) -> u64 {
    const STEP: u64 = 1024 * 1024;
    if bytes < STEP { bytes } else { bytes / STEP * STEP }
}

/// A value of `/proc/meminfo`, bytes.
fn meminfo_bytes(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_memory_is_rounded_down_to_mebibytes() {
        // Most of both is in use.
        let meminfo = "MemTotal: 948232 kB\nMemFree: 81264 kB\nMemAvailable:   614400 kB\n\
                       SwapCached: 0 kB\nSwapTotal: 102396 kB\nSwapFree:   20480 kB\n";
        let facts = with_memory(&HostFacts::default(), meminfo);
        let mebibytes = |free: Option<u64>| free.map(|bytes| bytes / (1024 * 1024));
        assert_eq!(mebibytes(facts.heap_free), Some(600));
        assert_eq!(mebibytes(facts.swap_free), Some(20));
        // Unknown is not zero.
        let known = HostFacts::default();
        assert_eq!(with_memory(&known, ""), known);
        assert_eq!(coarse(3 * 1024 * 1024 + 5), 3 * 1024 * 1024);
        assert_eq!(coarse(1000), 1000);
        let meminfo = fs::read_to_string(MEMINFO).unwrap();
        let now = with_memory(&known, &meminfo);
        assert!(now.heap_free.is_some());
    }
}
