//! Stream of the panels over a web socket: one binary message per panel for each picture.

use std::{sync::Arc, time::Duration};

use api::documents::state::PreviewState;
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::{HeaderValue, StatusCode, header::UPGRADE};
use hyper::upgrade::OnUpgrade;
use net::web_socket_server::{self as web_socket, ServerWebSocket};
use render::panel_frame;
use runtime::panels::PanelsSnapshot;
use serde_json::Value;
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, MissedTickBehavior, interval_at, sleep_until, timeout},
};
use tokio_tungstenite::tungstenite::Message;

use super::{
    call::Call,
    response::{self, Response},
    side_task::SideTask,
    state::ServerState,
};

/// Largest message of a client, bytes.
const MESSAGE_MAX: usize = 1024;

/// Time after which a client is disconnected if it sends nothing or reads nothing. Pongs count while it is streaming.
const IDLE_TIMEOUT: Duration = Duration::from_secs(15);

/// Time between two pings to a streaming client.
const PING_GAP: Duration = Duration::from_secs(5);

/// Upgrades the connection to a web socket.
pub async fn open(mut call: Call) -> Response {
    let Some(accept) = web_socket::handshake(call.headers()) else {
        let mut response = response::error(StatusCode::UPGRADE_REQUIRED, "web socket expected");
        response
            .headers_mut()
            .insert(UPGRADE, HeaderValue::from_static("websocket"));
        return response;
    };
    let permit = Arc::clone(&call.state.panel_streams).try_acquire_owned();
    let (Ok(permit), Some(upgrade)) = (permit, call.parts.extensions.remove::<OnUpgrade>()) else {
        return response::error(
            StatusCode::SERVICE_UNAVAILABLE,
            "max preview clients reached",
        );
    };
    let serving = serve(Arc::clone(&call.state), upgrade, permit);
    let task = SideTask::new("preview", serving);
    if call.state.side_tasks.try_send(task).is_err() {
        return response::error(
            StatusCode::SERVICE_UNAVAILABLE,
            "max preview clients reached",
        );
    }
    let mut response = response::empty(StatusCode::SWITCHING_PROTOCOLS);
    web_socket::switch(&mut response, accept);
    response
}

async fn serve(state: Arc<ServerState>, upgrade: OnUpgrade, permit: OwnedSemaphorePermit) {
    let Ok(upgraded) = upgrade.await else {
        return;
    };
    let socket = web_socket::over(upgraded, MESSAGE_MAX).await;
    if let Some(mut socket) = stream(&state, socket).await {
        let _ = timeout(Duration::from_secs(1), socket.close(None)).await;
    }
    drop(permit);
}

/// Streams to one client. Returns the socket if a close frame should be sent.
async fn stream(state: &ServerState, mut socket: ServerWebSocket) -> Option<ServerWebSocket> {
    let mut glass = state.services.glass.clone();
    let mut stop = state.services.shutdown.clone();
    let mut streaming = false;
    let mut ping = interval_at(Instant::now() + PING_GAP, PING_GAP);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut idle_at = Instant::now() + IDLE_TIMEOUT;
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
                        // A client that never started the stream is not kept alive by its pings.
                        if streaming {
                            idle_at = Instant::now() + IDLE_TIMEOUT;
                        }
                        continue;
                    }
                };
                let Some(start) = parse_action(text.as_str()) else {
                    continue;
                };
                streaming = start;
                idle_at = Instant::now() + IDLE_TIMEOUT;
                let answer = serde_json::to_string(&PreviewState { streaming: start }).ok()?;
                let mut messages = vec![Message::text(answer)];
                if start {
                    messages.extend(frames(&glass.borrow_and_update(), state.uptime()));
                }
                messages
            }
        };
        for message in messages {
            timeout(IDLE_TIMEOUT, socket.send(message))
                .await
                .ok()?
                .ok()?;
        }
    }
}

/// Parses `start` (true), `stop` (false), or an object with one of them as `action`.
fn parse_action(text: &str) -> Option<bool> {
    let parse = |action: &str| match action {
        "start" => Some(true),
        "stop" => Some(false),
        _ => None,
    };
    let text = text.trim();
    parse(text).or_else(|| {
        parse(
            serde_json::from_str::<Value>(text)
                .ok()?
                .get("action")?
                .as_str()?,
        )
    })
}

fn frames(glass: &PanelsSnapshot, uptime: Duration) -> Vec<Message> {
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
