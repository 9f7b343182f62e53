//! WebSocket client over the dialer: limited messages, pings, and detection of dead connections.

use std::time::Duration;

use bytes::Bytes;
use device::sources::Route;
use futures_util::{SinkExt, StreamExt};
use http::{HeaderValue, header::USER_AGENT};
use tokio::time::{self, Instant};
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{self, Message, Utf8Bytes, client::IntoClientRequest, protocol::WebSocketConfig},
};

use crate::{
    AGENT,
    dialer::{BoxedStream, DialError, Dialer},
    http::retry_after,
    url::{BadUrl, Scheme, Url},
};

/// Longest time of the handshake.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Longest time to send a message.
pub const SEND_TIMEOUT: Duration = Duration::from_secs(5);

/// Most bytes in the send buffer.
const UNSENT_MAX: usize = 256 * 1024;

/// Bytes per read.
const READ_AT_ONCE: usize = 8 * 1024;

/// Limits of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Largest message, bytes.
    pub message_max: usize,
    /// Time between pings.
    pub ping_every: Duration,
    /// Longest time until anything follows a ping.
    pub pong_timeout: Duration,
}

/// A complete WebSocket message from the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WsMessage {
    Text(Utf8Bytes),
    Binary(Bytes),
}

/// Why a socket was not opened, or has failed. Contains no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WsError {
    #[error("{0}")]
    BadUrl(#[from] BadUrl),
    /// No connection was made.
    #[error("{0}")]
    Dial(#[from] DialError),
    /// The server refused the upgrade.
    #[error("the server answers with status {status}")]
    Refused {
        status: u16,
        /// Delay that the server requests.
        retry_after: Option<Duration>,
    },
    /// The handshake timed out.
    #[error("no answer in time")]
    HandshakeTimeout,
    /// The server does not speak WebSocket.
    #[error("the server does not speak this protocol")]
    Protocol,
    /// The server closed the connection.
    #[error("the server closed the connection")]
    Closed,
    /// The connection failed.
    #[error("the connection was lost")]
    Lost,
    /// A message is larger than the limit.
    #[error("a message is larger than {0} bytes")]
    TooLarge(usize),
    /// No message after a ping.
    #[error("the server stopped sending")]
    Silent,
    /// Sending timed out.
    #[error("sending timed out")]
    Stuck,
}

/// An open WebSocket.
#[derive(Debug)]
pub struct WebSocket {
    inner: WebSocketStream<BoxedStream>,
    policy: Policy,
    next_ping: Instant,
    /// When the server counts as silent. `None` unless a ping is pending.
    silent_at: Option<Instant>,
}

impl WebSocket {
    /// Opens a WebSocket.
    ///
    /// # Errors
    /// A step failed or took too long, or the server refused.
    pub async fn open(
        dialer: &Dialer,
        route: &Route,
        url: &Url,
        policy: Policy,
    ) -> Result<WebSocket, WsError> {
        match url.scheme {
            Scheme::Ws | Scheme::Wss => {}
            Scheme::Http | Scheme::Https => return Err(BadUrl::Scheme.into()),
        }
        let stream = dialer.connect(route, url.into()).await?;
        let mut request = url
            .to_string()
            .into_client_request()
            .map_err(|_| WsError::BadUrl(BadUrl::Path))?;
        request
            .headers_mut()
            .insert(USER_AGENT, HeaderValue::from_static(AGENT));
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_AT_ONCE)
            .write_buffer_size(0)
            .max_write_buffer_size(UNSENT_MAX)
            .max_message_size(Some(policy.message_max))
            .max_frame_size(Some(policy.message_max));
        let handshake = client_async_with_config(request, stream, Some(config));
        let agreed = time::timeout(HANDSHAKE_TIMEOUT, handshake).await;
        let (inner, _) = agreed
            .unwrap_or(Err(timed_out()))
            .map_err(|error| reason(error, policy.message_max))?;
        let next_ping = Instant::now() + policy.ping_every;
        Ok(WebSocket {
            inner,
            policy,
            next_ping,
            silent_at: None,
        })
    }

    /// Sends a binary message.
    ///
    /// # Errors
    /// The connection has failed.
    pub async fn send_binary(&mut self, bytes: Vec<u8>) -> Result<(), WsError> {
        self.send(Message::binary(bytes)).await
    }

    /// Sends a text message.
    ///
    /// # Errors
    /// The connection has failed.
    pub async fn send_text(&mut self, text: String) -> Result<(), WsError> {
        self.send(Message::text(text)).await
    }

    /// Receives the next message and sends pings meanwhile. Cancel safe.
    ///
    /// # Errors
    /// The connection has failed.
    pub async fn next(&mut self) -> Result<WsMessage, WsError> {
        loop {
            let wake = self.silent_at.unwrap_or(self.next_ping);
            let message = tokio::select! {
                biased;
                message = self.inner.next() => message,
                () = time::sleep_until(wake) => {
                    if self.silent_at.is_some() {
                        return Err(WsError::Silent);
                    }
                    self.ping().await?;
                    continue;
                }
            };
            let message = message.ok_or(WsError::Lost)?;
            let message = message.map_err(|error| reason(error, self.policy.message_max))?;
            self.silent_at = None;
            match message {
                Message::Text(text) => return Ok(WsMessage::Text(text)),
                Message::Binary(bytes) => return Ok(WsMessage::Binary(bytes)),
                Message::Close(_) => return Err(WsError::Closed),
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
    }

    async fn ping(&mut self) -> Result<(), WsError> {
        let now = Instant::now();
        self.next_ping = now + self.policy.ping_every;
        self.silent_at = Some(now + self.policy.pong_timeout);
        self.send(Message::Ping(Bytes::new())).await
    }

    async fn send(&mut self, message: Message) -> Result<(), WsError> {
        let sent = time::timeout(SEND_TIMEOUT, self.inner.send(message)).await;
        let sent = sent.map_err(|_| WsError::Stuck)?;
        sent.map_err(|error| reason(error, self.policy.message_max))
    }
}

impl WsError {
    /// Delay that the server requests.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            WsError::Refused { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

fn timed_out() -> tungstenite::Error {
    tungstenite::Error::Io(std::io::ErrorKind::TimedOut.into())
}

fn reason(error: tungstenite::Error, message_max: usize) -> WsError {
    use tungstenite::Error;
    match error {
        Error::ConnectionClosed | Error::AlreadyClosed => WsError::Closed,
        Error::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => {
            WsError::HandshakeTimeout
        }
        Error::Io(_) | Error::Tls(_) => WsError::Lost,
        Error::Capacity(_) => WsError::TooLarge(message_max),
        Error::WriteBufferFull(_) => WsError::Stuck,
        Error::Http(answer) => WsError::Refused {
            status: answer.status().as_u16(),
            retry_after: retry_after(answer.headers()),
        },
        Error::Protocol(tungstenite::error::ProtocolError::ResetWithoutClosingHandshake) => {
            WsError::Lost
        }
        Error::Url(_) | Error::HttpFormat(_) => WsError::BadUrl(BadUrl::Path),
        Error::Protocol(_) | Error::Utf8(_) | Error::AttackAttempt => WsError::Protocol,
    }
}
