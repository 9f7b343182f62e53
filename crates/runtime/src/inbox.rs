//! The only way into the device: a bounded queue of inputs, each with an optional reply channel.

use chain::Header;
use device::{
    input::Input,
    request::{Reply, Request},
};
use market::{HeadersReach, HeadersReply, ProofOrigin};
use tokio::sync::{mpsc, oneshot};

/// Inputs that may wait in the queue.
pub const INBOX_DEPTH: usize = 256;

/// An input for the device and the channel for its reply.
#[derive(Debug)]
pub struct InboxMessage {
    pub input: Input,
    /// Where the reply goes.
    pub reply_to: ReplyChannel,
}

/// Where the reply to an input goes.
#[derive(Debug, Default)]
pub enum ReplyChannel {
    /// No sender waits for it.
    #[default]
    None,
    /// The reply to a request. An input without a reply drops the channel once it was handled.
    Request(oneshot::Sender<Reply>),
    Headers(oneshot::Sender<HeadersReply>),
}

impl ReplyChannel {
    /// Sends the reply that fits the input. That fails if the client has disconnected.
    pub fn send(self, reply: Option<Reply>, headers: Option<HeadersReply>) {
        match self {
            ReplyChannel::Request(sender) => drop(reply.map(|reply| sender.send(reply))),
            ReplyChannel::Headers(sender) => drop(headers.map(|reply| sender.send(reply))),
            ReplyChannel::None => {}
        }
    }
}

impl InboxMessage {
    /// An input without a reply channel.
    pub fn of(input: Input) -> InboxMessage {
        InboxMessage {
            input,
            reply_to: ReplyChannel::None,
        }
    }
}

/// The sending side of the queue.
#[derive(Debug, Clone)]
pub struct Inbox {
    sender: mpsc::Sender<InboxMessage>,
}

/// The device has stopped and accepts no more inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the device has stopped")]
pub struct Stopped;

/// Creates the queue.
pub fn inbox() -> (Inbox, mpsc::Receiver<InboxMessage>) {
    let (sender, receiver) = mpsc::channel(INBOX_DEPTH);
    (Inbox { sender }, receiver)
}

impl Inbox {
    /// Sends an input; waits while the queue is full.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn send(&self, input: Input) -> Result<(), Stopped> {
        let message = InboxMessage::of(input);
        self.sender.send(message).await.map_err(|_| Stopped)
    }

    /// Sends an input and waits until its effects are stored and visible.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn settle(&self, input: Input) -> Result<(), Stopped> {
        let (reply_to, handled) = oneshot::channel();
        let message = InboxMessage {
            input,
            reply_to: ReplyChannel::Request(reply_to),
        };
        self.sender.send(message).await.map_err(|_| Stopped)?;
        // An input without a reply drops the channel once it was handled.
        let _ = handled.await;
        Ok(())
    }

    /// Submits headers and waits for the verdict. An empty list asks for the current state.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn submit_headers(
        &self,
        origin: ProofOrigin,
        headers: Vec<Header>,
        reach: HeadersReach,
    ) -> Result<HeadersReply, Stopped> {
        let (reply_to, reply) = oneshot::channel();
        let message = InboxMessage {
            input: Input::Headers(origin, headers, reach),
            reply_to: ReplyChannel::Headers(reply_to),
        };
        self.sender.send(message).await.map_err(|_| Stopped)?;
        reply.await.map_err(|_| Stopped)
    }

    /// Sends a request and waits for the reply, which comes once the change is stored and visible.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn request(&self, request: Request) -> Result<Reply, Stopped> {
        let (reply_to, reply) = oneshot::channel();
        let message = InboxMessage {
            input: Input::Request(request),
            reply_to: ReplyChannel::Request(reply_to),
        };
        self.sender.send(message).await.map_err(|_| Stopped)?;
        reply.await.map_err(|_| Stopped)
    }
}
