//! The debug view: facts that help to find a problem.

use alloc::{format, string::String, vec, vec::Vec};
use core::time::Duration;

use super::{decimal, prose, row};
use crate::{
    cells::Cell,
    tile::{Figure, Tile},
};

/// Height of the text, px.
const PX: u32 = 22;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// The smallest number of bytes that is a mebibyte when it is rounded to kibibytes.
const MIB_ROUNDED: u64 = MIB - KIB / 2;

/// Content of the debug view; empty or unknown facts are shown as a dash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DebugFacts<'a> {
    /// Address of the device.
    pub ip: &'a str,
    /// Name of the network.
    pub ssid: &'a str,
    /// Free memory of the process, or the internal heap of a microcontroller, bytes.
    pub heap_free: Option<u64>,
    /// Free memory of the machine, or the external RAM of a microcontroller, bytes.
    pub psram_free: Option<u64>,
    /// Name of the board.
    pub hardware: &'a str,
    /// Version of the firmware.
    pub version: &'a str,
    /// Date of the build.
    pub build_date: &'a str,
    /// Time since the start.
    pub uptime: Duration,
}

/// One fact per panel, the build as a whole; how to leave if there is room for it.
pub fn cells(facts: &DebugFacts<'_>, panels: usize) -> Vec<Cell> {
    let entry = |heading, text: &str| prose::block([prose::entry(heading, text)], PX);
    let memory = |bytes: Option<u64>| bytes.map(amount).unwrap_or_default();
    let cells = vec![
        Cell::Title("DEBUG".into()),
        entry("IP", facts.ip),
        entry("SSID", facts.ssid),
        entry("Heap free", &memory(facts.heap_free)),
        entry("PSRAM free", &memory(facts.psram_free)),
        prose::block(
            [
                prose::entry("Board", facts.hardware),
                prose::entry("Version", facts.version),
                prose::entry("Built", facts.build_date),
            ],
            PX,
        ),
        entry("Uptime", &duration(facts.uptime)),
        entry("Leave", "button 4"),
    ];
    row::left(cells, panels)
}

/// The address, and what the clock is.
pub fn tile(facts: &DebugFacts<'_>) -> Tile {
    let figure = match facts.ip {
        "" => Figure::word("NO ADDRESS"),
        ip => Figure::text(ip),
    };
    let (version, uptime) = (facts.version, duration(facts.uptime));
    let memory = facts.heap_free.or(facts.psram_free).map(amount);
    let memory = memory.map(|free| format!("Up {uptime}, {free} free"));
    Tile::new(["Debug"], Vec::from([figure]))
        .line([format!("{version}, {}", facts.hardware), version.into()])
        .line(
            memory
                .into_iter()
                .chain([format!("Up {uptime}"), uptime.clone()]),
        )
}

/// Bytes as `140 KB`, from one mebibyte on as `5.7 MB`.
pub fn amount(bytes: u64) -> String {
    match bytes {
        0..MIB_ROUNDED => format!("{} KB", decimal::rounded(bytes.into(), KIB.into(), 0)),
        MIB_ROUNDED.. => format!("{} MB", decimal::rounded(bytes.into(), MIB.into(), 1)),
    }
}

/// The three largest parts of a duration: `1d 1h 1m`, `1h 1m 1s`, `0m 59s`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
    let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
    match (days, hours) {
        (0, 0) => format!("{minutes}m {seconds}s"),
        (0, _) => format!("{hours}h {minutes}m {seconds}s"),
        (_, _) => format!("{days}d {hours}h {minutes}m"),
    }
}
