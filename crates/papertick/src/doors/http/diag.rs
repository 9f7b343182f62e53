//! Crash dumps, traces and memory.

use http::StatusCode;
use serde_json::json;

use super::{
    answer::{self, Response},
    call::Call,
};

/// The last crash dump.
pub(crate) fn coredump(_call: &Call) -> Response {
    answer::error(StatusCode::NOT_FOUND, "no coredump present")
}

/// Forgets the last crash dump; there need not be one.
pub(crate) async fn forget_coredump(_call: Call) -> Response {
    answer::done()
}

/// Starts tracing allocations.
pub(crate) async fn start_trace(_call: Call) -> Response {
    answer::error(StatusCode::SERVICE_UNAVAILABLE, "heap_trace not built in")
}

/// Stops tracing allocations.
pub(crate) async fn stop_trace(_call: Call) -> Response {
    answer::error(StatusCode::CONFLICT, "no trace running")
}

/// Memory by kind; a host knows memory and what lies beyond it.
pub(crate) fn heap(call: &Call) -> Response {
    let memory = call.state.status(&call.view).memory;
    let kind = |free: u64, total: u64, least: u64| {
        json!({
            "total_free_bytes": free,
            "total_allocated_bytes": total.saturating_sub(free),
            "largest_free_block": free,
            "minimum_free_bytes": least,
            "allocated_blocks": 0,
            "free_blocks": 0,
            "total_blocks": 0,
        })
    };
    let host = || kind(memory.free, memory.total, memory.least_free);
    answer::json(&json!({
        "espUptime": call.state.uptime().as_secs(),
        "caps": {
            "internal": host(),
            "internal_dma": host(),
            "spiram": kind(memory.more_free, memory.more_total, memory.more_free),
            "default": host(),
        },
    }))
}
