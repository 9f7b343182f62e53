//! The door for HTTP: everything a client can read, ask for and follow.
//!
//! `router` finds the operation that a request asks for and guards it; `commands` asks the device, and `handlers` says
//! who does what the device does not.
//! `server` holds the connections, `events` the clients that follow, `state` is what all of them can reach.

pub mod answer;
mod assets;
mod auth;
mod cache;
mod call;
mod coding;
mod commands;
mod diag;
mod documents;
mod etag;
mod events;
mod frames;
mod handbook;
mod handlers;
mod html;
mod metrics;
mod openapi;
mod origin;
mod pages;
mod panels;
pub mod parse;
mod places;
mod portal;
mod portal_words;
mod press;
mod preview;
pub mod proxy;
mod router;
mod server;
pub mod services;
mod settings;
pub mod settings_file;
mod side_task;
mod sim;
mod slow;
mod state;
mod status;
mod transfer;
mod unread;
mod update;

use std::sync::Arc;

use diagnostics::heap_count::{heap_count, return_freed_memory, take_peak_bytes};
use runtime::{host, tasks::Tasks};
use services::Services;
use state::ServerState;
use tokio::{net::TcpListener, time::sleep};

/// Serves the control interface until it is told to stop, then lets the requests under way end.
///
/// Ends before that only if a part of it breaks off.
/// The credentials that guard it are those in the view at this moment.
pub async fn serve(listener: TcpListener, services: Services) {
    let (state, queues) = ServerState::new(services);
    let state = Arc::new(state);
    let mut parts = Tasks::new();
    parts.spawn("events", events::broadcast(Arc::clone(&state)));
    parts.spawn("memory", watch_memory(Arc::clone(&state)));
    parts.spawn("passwords", passwords::run(queues.passwords));
    let (hasher, stop) = (state.hasher.clone(), state.services.shutdown.clone());
    parts.spawn("sign-in", auth::run(queues.attempts, hasher, stop));
    server::run(listener, state, queues.tasks, parts).await;
}

/// Bytes that must have been freed before memory is returned to the host.
const RETURNED_FROM: u64 = 1024 * 1024;

/// Samples the memory of the host, because the status has its minimum, and returns freed memory after many clients have
/// gone.
async fn watch_memory(state: Arc<ServerState>) {
    let mut shutdown = state.services.shutdown.clone();
    loop {
        host::memory(&state.least_memory);
        if heap_count().bytes + RETURNED_FROM < take_peak_bytes() {
            return_freed_memory();
        }
        tokio::select! {
            _ = shutdown.wait_for(|stop| *stop) => return,
            () = sleep(host::MEMORY_PERIOD) => {}
        }
    }
}
