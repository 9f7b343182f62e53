//! Crash dumps, traces and memory.

use bytes::Bytes;
use futures_util::{Stream, stream};
use http::{
    HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE},
};
use serde_json::json;
use storage::disk::open_file;
use tokio::{fs::File, io::AsyncReadExt, task::spawn_blocking};

use super::{
    answer::{self, Body, NO_STORE, Response},
    call::Call,
};
use crate::crash_dumps;

/// Bytes of a dump that are in memory at once for a client.
const CHUNK: u64 = 16 * 1024;

const BYTES: HeaderValue = HeaderValue::from_static("application/octet-stream");
const DUMP_NAME: HeaderValue = HeaderValue::from_static("attachment; filename=\"coredump.dmp\"");

/// The last crash dump.
pub(crate) async fn coredump(call: Call) -> Response {
    let Some((file, length)) = dump(&call).await else {
        return answer::error(StatusCode::NOT_FOUND, "no coredump present");
    };
    let mut response = Response::new(Body::Stream(Box::pin(chunks(file, length))));
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
    let place = call.state.services.data_dir.join(crash_dumps::FILE);
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
pub(crate) async fn forget_coredump(call: Call) -> Response {
    let folder = call.state.services.data_dir.clone();
    let forgotten = spawn_blocking(move || crash_dumps::forget(&folder)).await;
    match forgotten {
        Ok(Ok(())) => answer::done(),
        Ok(Err(error)) => {
            tracing::warn!(%error, "the crash dump stays");
            answer::error(StatusCode::INTERNAL_SERVER_ERROR, "erase failed")
        }
        Err(_) => answer::error(StatusCode::INTERNAL_SERVER_ERROR, "erase failed"),
    }
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
