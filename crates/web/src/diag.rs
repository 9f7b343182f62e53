//! Diagnostics: log, crash dump, heap trace and memory.

use api::documents::diagnostics::{HeapKinds, HeapRegion, HeapStatus};
#[cfg(feature = "heap-trace")]
use api::documents::{
    diagnostics::{HeapLeak, HeapTrace, TraceSize, TraceStarted},
    object,
};
use bytes::Bytes;
use diagnostics::heap_count::heap_count;
#[cfg(feature = "heap-trace")]
use diagnostics::heap_trace;
use futures_util::{Stream, stream};
use http::{
    HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE},
};
use storage::{crash_dump, disk::Folder};
use tokio::{fs::File, io::AsyncReadExt, task::spawn_blocking};

#[cfg(feature = "heap-trace")]
use super::call::ReceivedBody;
use super::{
    call::Call,
    response::{self, NO_STORE, Response, ResponseBody},
};

/// Bytes of a dump that are read into memory at once per client.
const CHUNK_LEN: u64 = 16 * 1024;

const OCTET_STREAM: HeaderValue = HeaderValue::from_static("application/octet-stream");
const DUMP_DISPOSITION: HeaderValue =
    HeaderValue::from_static("attachment; filename=\"coredump.dmp\"");

/// The last lines of the log.
pub fn log(call: &Call) -> Response {
    response::json(&call.state.services.log.log())
}

/// The last crash dump.
pub async fn coredump(call: Call) -> Response {
    let Some((file, length)) = open_dump(&call).await else {
        return response::error(StatusCode::NOT_FOUND, "no coredump present");
    };
    let mut response = Response::new(ResponseBody::Stream(Box::pin(chunks(file, length))));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, OCTET_STREAM);
    headers.insert(CACHE_CONTROL, NO_STORE);
    headers.insert(CONTENT_DISPOSITION, DUMP_DISPOSITION);
    // Lets the client detect a truncated download.
    headers.insert(CONTENT_LENGTH, length.into());
    response
}

/// The dump file and its length in bytes. `None` if there is no dump, or if the board does not support dumps.
async fn open_dump(call: &Call) -> Option<(File, u64)> {
    if !call.view.board.coredump {
        return None;
    }
    let folder = Folder::new(&call.state.services.data_dir);
    let opened = spawn_blocking(move || folder.file(crash_dump::FILE)).await;
    let file = opened.ok()?.ok()?;
    let length = file.metadata().ok()?.len();
    Some((File::from_std(file), length))
}

/// The first `length` bytes of a file. Ends early if the file cannot be read.
fn chunks(file: File, length: u64) -> impl Stream<Item = Bytes> + Send {
    stream::unfold((file, length), |(mut file, left)| async move {
        let mut chunk = Vec::new();
        let mut part = (&mut file).take(left.min(CHUNK_LEN));
        let read = part.read_to_end(&mut chunk).await.ok()? as u64;
        (read > 0).then(|| (Bytes::from(chunk), (file, left - read)))
    })
}

/// Deletes the last crash dump. Succeeds if there is none.
pub async fn delete_coredump(call: Call) -> Response {
    let folder = call.state.services.data_dir.clone();
    let deleted = spawn_blocking(move || crash_dump::forget(&folder)).await;
    match deleted {
        Ok(Ok(())) => response::done(),
        Ok(Err(error)) => {
            tracing::warn!(%error, "cannot delete the crash dump");
            response::error(StatusCode::INTERNAL_SERVER_ERROR, "erase failed")
        }
        Err(_) => response::error(StatusCode::INTERNAL_SERVER_ERROR, "erase failed"),
    }
}

/// Longest request body, bytes.
#[cfg(feature = "heap-trace")]
const TRACE_BODY_MAX: usize = 128;

/// Default capacity of a trace, allocations.
#[cfg(feature = "heap-trace")]
const TRACE_CAPACITY: usize = 256;

/// Starts tracing allocations. Replaces a running trace.
#[cfg(feature = "heap-trace")]
pub async fn start_trace(mut call: Call) -> Response {
    let in_body = match call.body(TRACE_BODY_MAX).await {
        ReceivedBody::Complete(body) => serde_json::from_slice(&body)
            .ok()
            .and_then(|body| object::<TraceSize>(&body)?.cap),
        ReceivedBody::Empty | ReceivedBody::TooLarge | ReceivedBody::Incomplete => None,
    };
    let capacity = in_body
        .or_else(|| call.query("cap")?.parse().ok())
        .and_then(|capacity| usize::try_from(capacity).ok())
        .filter(|capacity| (1..=heap_trace::CAPACITY_MAX).contains(capacity));
    let capacity = heap_trace::start(capacity.unwrap_or(TRACE_CAPACITY));
    response::json(&TraceStarted {
        started: true,
        capacity,
        depth: heap_trace::DEPTH,
    })
}

/// Stops tracing allocations and returns the allocations that were not freed.
#[cfg(feature = "heap-trace")]
pub async fn stop_trace(_call: Call) -> Response {
    let Some(trace) = heap_trace::stop() else {
        return response::error(StatusCode::CONFLICT, "no trace running");
    };
    let hex = |number: &usize| format!("{number:#x}");
    let leaks: Vec<HeapLeak> = trace
        .leaks
        .iter()
        .map(|leak| HeapLeak {
            sz: leak.size,
            addr: hex(&leak.address),
            cc: leak.at,
            pcs: leak.places.iter().map(hex).collect(),
        })
        .collect();
    response::json(&HeapTrace {
        count: leaks.len(),
        capacity: trace.capacity,
        leaks,
    })
}

/// This build has no heap trace.
#[cfg(not(feature = "heap-trace"))]
pub async fn start_trace(_call: Call) -> Response {
    response::error(StatusCode::NOT_IMPLEMENTED, "heap_trace not built in")
}

/// This build has no heap trace.
#[cfg(not(feature = "heap-trace"))]
pub async fn stop_trace(_call: Call) -> Response {
    response::error(StatusCode::NOT_IMPLEMENTED, "heap_trace not built in")
}

/// Memory by kind. `internal` is the memory of the program, limited by the free memory of the host; `spiram` is
/// further memory such as swap.
pub fn heap(call: &Call) -> Response {
    let memory = call.state.status(&call.view).memory;
    let allocated = heap_count();
    let page = rustix::param::page_size() as u64;
    let free_blocks = memory.free / page;
    let own = HeapRegion {
        total_free_bytes: memory.free,
        total_allocated_bytes: allocated.bytes,
        // With virtual memory all free pages can form one block.
        largest_free_block: memory.free,
        minimum_free_bytes: memory.least_free,
        allocated_blocks: allocated.blocks,
        // The host allocates memory in pages.
        free_blocks,
        total_blocks: allocated.blocks + free_blocks,
    };
    let used = memory.more_total.saturating_sub(memory.more_free);
    let swap = HeapRegion {
        total_free_bytes: memory.more_free,
        total_allocated_bytes: used,
        largest_free_block: memory.more_free,
        minimum_free_bytes: memory.least_more_free,
        // Swap is allocated in pages.
        allocated_blocks: used / page,
        free_blocks: memory.more_free / page,
        total_blocks: memory.more_total / page,
    };
    response::json(&HeapStatus {
        esp_uptime: call.state.uptime().as_secs(),
        caps: HeapKinds {
            internal: own.clone(),
            internal_dma: own.clone(),
            spiram: swap,
            default: own,
        },
    })
}
