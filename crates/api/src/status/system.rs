//! The system status: memory, disk, radio, program and releases.

use alloc::string::{String, ToString};
use core::time::Duration;

use device::{
    releases::{Release, ReleaseVerdict, Releases},
    settings::kinds::tx_power,
    view::View,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{HostMemory, Phrase};
use crate::schema::Word;

/// The status of the hardware and the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SystemStatus {
    /// Memory of the host.
    #[serde(flatten)]
    pub memory: MemoryStatus,
    /// Used space of the disk, bytes.
    pub fs_used_bytes: u64,
    /// Size of the disk, bytes.
    pub fs_total_bytes: u64,
    /// Strength of the radio signal, dBm; 0 without a radio.
    pub rssi: i32,
    /// Transmit power, quarter-dBm.
    pub tx_power: i32,
    /// Number of times that a queue was full since the start.
    pub queue_drops: QueueDrops,
    /// Time since the start, s.
    pub uptime: u64,
    /// The newest release, and whether the clock can install it; null before the first check.
    pub release: Option<ReleaseStatus>,
    /// The program that runs.
    pub firmware: FirmwareStatus,
}

/// Memory of the host, by the names of older clients.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryStatus {
    /// Available memory, bytes.
    pub esp_free_heap: u64,
    /// All memory, bytes.
    pub esp_heap_size: u64,
    /// Lowest available memory since the start, bytes.
    pub esp_min_free_heap: u64,
    /// Largest available block, bytes.
    pub esp_largest_free_block: u64,
    /// Free additional memory (such as swap), bytes.
    pub esp_free_psram: u64,
    /// All additional memory, bytes.
    pub esp_psram_size: u64,
}

/// Number of times that a queue was full since the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QueueDrops {
    /// Always 0: buttons wait for a place in the inbox.
    pub buttons: u64,
    /// Effects of the LED strip.
    pub led: u64,
    /// Always 0: the frontlight has no queue.
    pub frontlight: u64,
}

/// The program that runs, and the keys that sign updates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FirmwareStatus {
    /// Origin of the running program.
    #[schemars(extend("enum" = ["factory", "a", "b"]))]
    pub running: &'static str,
    /// Its version.
    pub version: String,
    /// Whether the program is on trial after an update.
    pub trial: bool,
    /// Error of the last update; null if it succeeded.
    pub last_failure: Option<String>,
    /// Whether updates must be signed.
    pub signed: bool,
    /// Number of trusted keys.
    pub keys: usize,
    /// What updates the clock, such as an app store; null if the clock updates itself.
    pub managed_by: Option<String>,
}

/// Result of the release checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseStatus {
    /// Error of the last release check; null if it succeeded.
    pub last_error: Option<String>,
    /// The result as sentences in English.
    pub says: String,
    /// The same sentences in their parts.
    pub phrase: Phrase,
    /// The release; absent if none was found.
    #[serde(flatten)]
    pub found: Option<FoundRelease>,
    /// Time since the last successful check, s; absent before the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub age_sec: Option<u64>,
}

/// The release that the clock can install, or the newest one if it can install none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FoundRelease {
    /// Its version.
    pub version: String,
    /// Its title.
    pub title: String,
    /// Its page.
    pub url: String,
    /// Whether the clock can install the release.
    pub taken: bool,
    /// Why the clock cannot install the release; null if it can.
    pub why: Option<Word<ReleaseVerdict>>,
    /// Number of the clock for a staged release; the clock installs it if the number is below the share.
    #[schemars(range(max = 99))]
    pub number: u8,
}

/// Space of the disk, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DiskSpace {
    /// Used space.
    pub used: u64,
    /// All space.
    pub total: u64,
}

impl SystemStatus {
    /// The system status of a view.
    pub fn of(
        view: &View,
        uptime: Duration,
        memory: HostMemory,
        disk: DiskSpace,
        firmware: FirmwareStatus,
    ) -> SystemStatus {
        // A radio that does not report its power uses as much as it may.
        let allowed = view.settings.active.tx_power.unwrap_or(tx_power::MAX);
        SystemStatus {
            memory: memory.into(),
            fs_used_bytes: disk.used,
            fs_total_bytes: disk.total,
            rssi: view.link.rssi,
            tx_power: view.link.tx_power.unwrap_or(allowed),
            queue_drops: QueueDrops {
                buttons: 0,
                led: view.strip_drops,
                frontlight: 0,
            },
            uptime: uptime.as_secs(),
            release: ReleaseStatus::of(&view.releases, Some(uptime)),
            firmware,
        }
    }
}

impl From<HostMemory> for MemoryStatus {
    fn from(memory: HostMemory) -> MemoryStatus {
        MemoryStatus {
            esp_free_heap: memory.free,
            esp_heap_size: memory.total,
            esp_min_free_heap: memory.least_free,
            // Pages of a host need not be adjacent to be one block.
            esp_largest_free_block: memory.free,
            esp_free_psram: memory.more_free,
            esp_psram_size: memory.more_total,
        }
    }
}

impl ReleaseStatus {
    /// The result of the release checks, with its age if an uptime is given. `None` before the first check.
    pub fn of(known: &Releases, uptime: Option<Duration>) -> Option<ReleaseStatus> {
        let says = known.sentence()?;
        let age = known
            .at
            .zip(uptime)
            .map(|(at, uptime)| uptime.saturating_sub(at));
        Some(ReleaseStatus {
            last_error: known.last_error.clone(),
            says: says.to_string(),
            phrase: Phrase::from(&says),
            found: known.found.as_ref().map(FoundRelease::from),
            age_sec: age.map(|age| age.as_secs()),
        })
    }
}

impl From<&Release> for FoundRelease {
    fn from(release: &Release) -> FoundRelease {
        let refusal = release.verdict.reason().map(|_| Word(release.verdict));
        FoundRelease {
            version: release.version.clone(),
            title: release.title.clone(),
            url: release.page.clone(),
            taken: release.verdict == ReleaseVerdict::Taken,
            why: refusal,
            number: release.number,
        }
    }
}
