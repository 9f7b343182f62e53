//! Documents for troubleshooting.

use alloc::{string::String, vec::Vec};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{limits::LOG_LINES, schema::plain_words};

/// The last lines of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Log {
    /// The lines, oldest first.
    #[schemars(length(max = LOG_LINES))]
    pub lines: Vec<LogLine>,
    /// Number of older lines that were dropped.
    pub earlier: u64,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LogLine {
    /// When it was written, as in RFC 3339.
    pub time: String,
    /// Level of the line.
    pub level: LogLevel,
    /// The message.
    pub text: String,
}

/// Level of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = plain_words)]
pub enum LogLevel {
    /// Something failed.
    Error,
    /// Something is wrong.
    Warn,
    /// Something happened.
    Info,
    /// Details for developers.
    Debug,
    /// All details.
    Trace,
}

/// Number of allocations that a trace keeps.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct TraceSize {
    /// The number; 256 if it is missing or out of range.
    #[schemars(required, range(min = 1, max = 4096))]
    pub cap: Option<u64>,
}

/// A trace of allocations was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TraceStarted {
    /// Always true.
    pub started: bool,
    /// Greatest number of recorded allocations.
    pub capacity: usize,
    /// Greatest number of recorded callers per allocation.
    pub depth: usize,
}

/// The allocations of a trace that were not freed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HeapTrace {
    /// Number of allocations.
    pub count: usize,
    /// Greatest number of allocations of the trace.
    pub capacity: usize,
    /// The allocations.
    pub leaks: Vec<HeapLeak>,
}

/// An allocation that was not freed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HeapLeak {
    /// Size, bytes.
    pub sz: usize,
    /// Address, in hex.
    pub addr: String,
    /// Time of the allocation since the start of the trace, ns.
    pub cc: u64,
    /// Addresses of the callers, in hex, innermost first.
    pub pcs: Vec<String>,
}

/// Memory by kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeapStatus {
    /// Time since the start, s.
    pub esp_uptime: u64,
    /// The kinds of memory.
    pub caps: HeapKinds,
}

/// The kinds of memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HeapKinds {
    /// Memory of the program.
    pub internal: HeapRegion,
    /// The same as `internal`.
    pub internal_dma: HeapRegion,
    /// Additional memory, such as swap.
    pub spiram: HeapRegion,
    /// The same as `internal`.
    pub default: HeapRegion,
}

/// Memory of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HeapRegion {
    /// Available memory, bytes.
    pub total_free_bytes: u64,
    /// Allocated memory, bytes.
    pub total_allocated_bytes: u64,
    /// Largest available block, bytes.
    pub largest_free_block: u64,
    /// Lowest available memory since the start, bytes.
    pub minimum_free_bytes: u64,
    /// Number of allocated blocks.
    pub allocated_blocks: u64,
    /// Number of free blocks.
    pub free_blocks: u64,
    /// Number of blocks.
    pub total_blocks: u64,
}
