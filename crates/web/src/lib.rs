//! The HTTP server: the control interface, the event stream and the web pages.
//!
//! `router` finds the operation of a request and checks access; `commands` sends requests to the device, and `handlers`
//! lists the handlers of all other operations.
//! `server` accepts and serves connections, `events` is the event stream, and `state` is shared by all handlers.

mod assets;
mod auth;
mod broadcast;
mod cache;
mod call;
mod canvas;
mod coding;
mod commands;
mod confirmation;
mod connection_limits;
mod diag;
mod displays;
mod documents;
mod drawings;
mod embedded;
mod etag;
mod events;
mod glass;
mod handbook;
mod handlers;
mod history;
mod html;
mod metrics;
pub mod openapi;
mod origin;
mod pages;
mod panels;
pub mod parse;
mod portal;
mod portal_texts;
mod preview;
pub mod proxy;
mod qr;
pub mod response;
mod router;
mod server;
pub mod services;
mod settings;
pub mod settings_file;
mod side_task;
mod sim;
mod state;
mod status;
mod transfer;
mod unread_body;
mod unsent;
mod update;
mod write_timeout;

use std::sync::Arc;

use diagnostics::heap_count::{heap_count, return_freed_memory, take_peak_bytes};
use runtime::{host, tasks::Tasks};
use services::Services;
use state::ServerState;
use tokio::{net::TcpListener, time::sleep};

/// Serves the control interface until the shutdown signal, then waits for the requests in progress.
///
/// Returns earlier only if one of the server's tasks ends unexpectedly.
/// The credentials are those of the view at the time of the call.
pub async fn serve(listener: TcpListener, services: Services) {
    let (state, queues) = ServerState::new(services);
    let state = Arc::new(state);
    let mut core_tasks = Tasks::new();
    core_tasks.spawn("events", events::broadcast(Arc::clone(&state)));
    core_tasks.spawn("memory", watch_memory(Arc::clone(&state)));
    core_tasks.spawn("drawings", drawings::run(queues.drawings));
    core_tasks.spawn("passwords", passwords::run(queues.passwords));
    let (hasher, stop) = (state.hasher.clone(), state.services.shutdown.clone());
    core_tasks.spawn("sign-in", auth::run(queues.attempts, hasher, stop));
    server::run(listener, state, queues.side_tasks, core_tasks).await;
}

/// Freed memory is returned to the host from this many bytes on.
const RETURN_MEMORY_FROM: u64 = 1024 * 1024;

/// Samples the free memory of the host, because the status reports its minimum. Returns freed memory to the host, for
/// example after many clients have disconnected.
async fn watch_memory(state: Arc<ServerState>) {
    let mut shutdown = state.services.shutdown.clone();
    loop {
        host::memory(&state.least_memory);
        if heap_count().bytes + RETURN_MEMORY_FROM < take_peak_bytes() {
            return_freed_memory();
        }
        tokio::select! {
            _ = shutdown.wait_for(|stop| *stop) => return,
            () = sleep(host::MEMORY_PERIOD) => {}
        }
    }
}
