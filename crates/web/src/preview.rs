//! The panels live over a web socket: one binary message per panel for each picture.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::{HeaderValue, StatusCode, header::UPGRADE};
use hyper::upgrade::OnUpgrade;
use net::web_socket_server::{self as web_socket, ServerWebSocket};
use render::panel_frame;
use runtime::glass::DisplaySnapshot;
use serde_json::{Value, json};
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, MissedTickBehavior, interval_at, sleep_until, timeout},
};
use tokio_tungstenite::tungstenite::Message;

use super::{
    answer::{self, Response},
    call::Call,
    side_task::SideTask,
    state::ServerState,
};

/// Largest message of a client, bytes.
const MESSAGE_MAX: usize = 1024;

/// Time after which a client is dropped that says nothing, or takes nothing; one that watches answers pings.
const IDLE_TIME: Duration = Duration::from_secs(15);

/// Time between two pings to a client that watches.
const PING_GAP: Duration = Duration::from_secs(5);

/// Turns the connection into a web socket.
pub async fn open(mut call: Call) -> Response {
    let Some(accept) = web_socket::handshake(call.headers()) else {
        let mut response = answer::error(StatusCode::UPGRADE_REQUIRED, "web socket expected");
        response
            .headers_mut()
            .insert(UPGRADE, HeaderValue::from_static("websocket"));
        return response;
    };
    let place = Arc::clone(&call.state.previews).try_acquire_owned();
    let (Ok(place), Some(upgrade)) = (place, call.parts.extensions.remove::<OnUpgrade>()) else {
        return answer::error(
            StatusCode::SERVICE_UNAVAILABLE,
            "max preview clients reached",
        );
    };
    let watching = watch(Arc::clone(&call.state), upgrade, place);
    let task = SideTask::new("preview", watching);
    if call.state.side_tasks.try_send(task).is_err() {
        return answer::error(
            StatusCode::SERVICE_UNAVAILABLE,
            "max preview clients reached",
        );
    }
    let mut response = answer::empty(StatusCode::SWITCHING_PROTOCOLS);
    web_socket::switch(&mut response, accept);
    response
}

async fn watch(state: Arc<ServerState>, upgrade: OnUpgrade, place: OwnedSemaphorePermit) {
    let Ok(upgraded) = upgrade.await else {
        return;
    };
    let socket = web_socket::over(upgraded, MESSAGE_MAX).await;
    if let Some(mut socket) = stream(&state, socket).await {
        let _ = timeout(Duration::from_secs(1), socket.close(None)).await;
    }
    drop(place);
}

/// Serves one client; returns the socket if it is to be closed in order.
async fn stream(state: &ServerState, mut socket: ServerWebSocket) -> Option<ServerWebSocket> {
    let mut glass = state.services.glass.clone();
    let mut stop = state.services.shutdown.clone();
    let mut streaming = false;
    let mut ping = interval_at(Instant::now() + PING_GAP, PING_GAP);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut idle_at = Instant::now() + IDLE_TIME;
    loop {
        let messages = tokio::select! {
            _ = stop.wait_for(|stop| *stop) => return Some(socket),
            () = sleep_until(idle_at) => return Some(socket),
            _ = ping.tick(), if streaming => vec![Message::Ping(Bytes::new())],
            changed = glass.changed(), if streaming => {
                changed.ok()?;
                frames(&glass.borrow_and_update(), state.uptime())
            }
            message = socket.next() => {
                let message = message?.ok()?;
                let text = match message {
                    Message::Text(text) => text,
                    Message::Close(_) => return Some(socket),
                    Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {
                        // Pings alone do not keep a place that is not used.
                        if streaming {
                            idle_at = Instant::now() + IDLE_TIME;
                        }
                        continue;
                    }
                };
                let Some(start) = wish(text.as_str()) else {
                    continue;
                };
                streaming = start;
                idle_at = Instant::now() + IDLE_TIME;
                let mut messages = vec![Message::text(json!({ "streaming": start }).to_string())];
                if start {
                    messages.extend(frames(&glass.borrow_and_update(), state.uptime()));
                }
                messages
            }
        };
        for message in messages {
            timeout(IDLE_TIME, socket.send(message)).await.ok()?.ok()?;
        }
    }
}

/// Reads `start`, `stop`, or the same as the member `action` of an object.
fn wish(text: &str) -> Option<bool> {
    let word = |word: &str| match word {
        "start" => Some(true),
        "stop" => Some(false),
        _ => None,
    };
    let text = text.trim();
    word(text).or_else(|| {
        word(
            serde_json::from_str::<Value>(text)
                .ok()?
                .get("action")?
                .as_str()?,
        )
    })
}

fn frames(glass: &DisplaySnapshot, uptime: Duration) -> Vec<Message> {
    let panels = (0u8..).zip(&glass.panels);
    panels
        .map(|(index, panel)| {
            Message::binary(panel_frame::write(
                index,
                &panel.bitmap,
                glass.generation,
                uptime,
            ))
        })
        .collect()
}
