//! Crash dumps, traces and memory.

use bytes::Bytes;
use diagnostics::heap_count::heap_count;
#[cfg(feature = "heap-trace")]
use diagnostics::heap_trace;
use futures_util::{Stream, stream};
use http::{
    HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE},
};
#[cfg(feature = "heap-trace")]
use serde_json::Value;
use serde_json::json;
use storage::{crash_dump, disk::open_file};
use tokio::{fs::File, io::AsyncReadExt, task::spawn_blocking};

#[cfg(feature = "heap-trace")]
use super::call::Received;
use super::{
    answer::{self, NO_STORE, Response, ResponseBody},
    call::Call,
};

/// Bytes of a dump that are in memory at once for a client.
const CHUNK: u64 = 16 * 1024;

const BYTES: HeaderValue = HeaderValue::from_static("application/octet-stream");
const DUMP_NAME: HeaderValue = HeaderValue::from_static("attachment; filename=\"coredump.dmp\"");

/// The last lines of the log.
pub fn log(call: &Call) -> Response {
    answer::json(&call.state.services.log.to_json())
}

/// The last crash dump.
pub async fn coredump(call: Call) -> Response {
    let Some((file, length)) = dump(&call).await else {
        return answer::error(StatusCode::NOT_FOUND, "no coredump present");
    };
    let mut response = Response::new(ResponseBody::Stream(Box::pin(chunks(file, length))));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, BYTES);
    headers.insert(CACHE_CONTROL, NO_STORE);
    headers.insert(CONTENT_DISPOSITION, DUMP_NAME);
    // A dump that breaks off is then seen to do so.
    headers.insert(CONTENT_LENGTH, length.into());
    response
}

/// The dump and its length, bytes; none if there is none, or if the board has none.
async fn dump(call: &Call) -> Option<(File, u64)> {
    if !call.view.board.coredump {
        return None;
    }
    let place = call.state.services.data_dir.join(crash_dump::FILE);
    let opened = spawn_blocking(move || open_file(&place)).await;
    let file = opened.ok()?.ok()?;
    let length = file.metadata().ok()?.len();
    Some((File::from_std(file), length))
}

/// The bytes of a file, up to where it ended when it was opened, or to where it cannot be read.
fn chunks(file: File, length: u64) -> impl Stream<Item = Bytes> + Send {
    stream::unfold((file, length), |(mut file, left)| async move {
        let mut chunk = Vec::new();
        let mut part = (&mut file).take(left.min(CHUNK));
        let read = part.read_to_end(&mut chunk).await.ok()? as u64;
        (read > 0).then(|| (Bytes::from(chunk), (file, left - read)))
    })
}

/// Forgets the last crash dump; there need not be one.
pub async fn forget_coredump(call: Call) -> Response {
    let folder = call.state.services.data_dir.clone();
    let forgotten = spawn_blocking(move || crash_dump::forget(&folder)).await;
    match forgotten {
        Ok(Ok(())) => answer::done(),
        Ok(Err(error)) => {
            tracing::warn!(%error, "the crash dump stays");
            answer::error(StatusCode::INTERNAL_SERVER_ERROR, "erase failed")
        }
        Err(_) => answer::error(StatusCode::INTERNAL_SERVER_ERROR, "erase failed"),
    }
}

/// Largest body that says how much a trace is to keep, bytes.
#[cfg(feature = "heap-trace")]
const TRACE_BODY_MAX: usize = 128;

/// Allocations that a trace keeps if nobody says how many.
#[cfg(feature = "heap-trace")]
const TRACE_USUAL: usize = 256;

/// Starts tracing allocations, in the place of a trace that runs.
#[cfg(feature = "heap-trace")]
pub async fn start_trace(mut call: Call) -> Response {
    let said = match call.body(TRACE_BODY_MAX).await {
        Received::Whole(body) => serde_json::from_slice(&body)
            .ok()
            .and_then(|body: Value| body.get("cap")?.as_u64()),
        Received::Nothing | Received::TooLarge | Received::Broken => None,
    };
    let said = said.or_else(|| call.query("cap")?.parse().ok());
    let capacity = said
        .and_then(|capacity| usize::try_from(capacity).ok())
        .filter(|capacity| (1..=heap_trace::CAPACITY_MAX).contains(capacity));
    let capacity = heap_trace::start(capacity.unwrap_or(TRACE_USUAL));
    answer::json(&json!({ "started": true, "capacity": capacity, "depth": heap_trace::DEPTH }))
}

/// Stops tracing allocations, and tells those that were not given back.
#[cfg(feature = "heap-trace")]
pub async fn stop_trace(_call: Call) -> Response {
    let Some(trace) = heap_trace::stop() else {
        return answer::error(StatusCode::CONFLICT, "no trace running");
    };
    let digits = |number: &usize| format!("{number:#x}");
    let leaks: Vec<Value> = trace
        .leaks
        .iter()
        .map(|leak| {
            json!({
                "sz": leak.size,
                "addr": digits(&leak.address),
                "cc": leak.at,
                "pcs": leak.places.iter().map(digits).collect::<Vec<_>>(),
            })
        })
        .collect();
    answer::json(&json!({ "count": leaks.len(), "capacity": trace.capacity, "leaks": leaks }))
}

/// Says that this build traces nothing.
#[cfg(not(feature = "heap-trace"))]
pub async fn start_trace(_call: Call) -> Response {
    answer::error(StatusCode::NOT_IMPLEMENTED, "heap_trace not built in")
}

/// Says that this build traces nothing.
#[cfg(not(feature = "heap-trace"))]
pub async fn stop_trace(_call: Call) -> Response {
    answer::error(StatusCode::NOT_IMPLEMENTED, "heap_trace not built in")
}

/// Memory by kind: that of the program, which can have what the host has left, and what lies beyond that.
pub fn heap(call: &Call) -> Response {
    let memory = call.state.status(&call.view).memory;
    let allocated = heap_count();
    let page = rustix::param::page_size() as u64;
    let free_blocks = memory.free / page;
    let own = json!({
        "total_free_bytes": memory.free,
        "total_allocated_bytes": allocated.bytes,
        // Pages of a host need not lie beside each other to be one block.
        "largest_free_block": memory.free,
        "minimum_free_bytes": memory.least_free,
        "allocated_blocks": allocated.blocks,
        // The host gives memory in pages.
        "free_blocks": free_blocks,
        "total_blocks": allocated.blocks + free_blocks,
    });
    let used = memory.more_total.saturating_sub(memory.more_free);
    let beyond = json!({
        "total_free_bytes": memory.more_free,
        "total_allocated_bytes": used,
        "largest_free_block": memory.more_free,
        "minimum_free_bytes": memory.least_more_free,
        // Swap is given out in pages.
        "allocated_blocks": used / page,
        "free_blocks": memory.more_free / page,
        "total_blocks": memory.more_total / page,
    });
    answer::json(&json!({
        "espUptime": call.state.uptime().as_secs(),
        "caps": {
            "internal": own,
            "internal_dma": own,
            "spiram": beyond,
            "default": own,
        },
    }))
}
