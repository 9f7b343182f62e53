//! The server side of the WebSocket handshake.

use http::{
    HeaderMap, HeaderValue, Response, StatusCode,
    header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE},
};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        handshake::derive_accept_key,
        protocol::{Role, WebSocketConfig},
    },
};

/// A WebSocket that a client opened by an HTTP upgrade.
pub type ServerWebSocket = WebSocketStream<TokioIo<Upgraded>>;

/// The accept key of a handshake. `None` if the headers are no handshake.
pub fn handshake(headers: &HeaderMap) -> Option<HeaderValue> {
    let upgrade = headers.get(UPGRADE)?.to_str().ok()?;
    let version = headers.get(SEC_WEBSOCKET_VERSION)?;
    if !upgrade.eq_ignore_ascii_case("websocket") || version != "13" {
        return None;
    }
    let key = headers.get(SEC_WEBSOCKET_KEY)?;
    HeaderValue::from_str(&derive_accept_key(key.as_bytes())).ok()
}

/// Makes an empty response one that completes a handshake.
pub fn switch<B>(response: &mut Response<B>, accept: HeaderValue) {
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
}

/// A WebSocket on an upgraded connection; `message_max` is the largest message of the client, bytes.
pub async fn over(upgraded: Upgraded, message_max: usize) -> ServerWebSocket {
    let config = WebSocketConfig::default()
        .max_message_size(Some(message_max))
        .max_frame_size(Some(message_max));
    WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config)).await
}
