//! The one way into the device: a bounded queue of inputs, each with an optional place for its answer.

use chain::Header;
use device::{
    input::Input,
    request::{Reply, Request},
};
use market::{HeadersReach, Judged, ProofOrigin};
use tokio::sync::{mpsc, oneshot};

/// Inputs that may wait for the device.
pub const INBOX_DEPTH: usize = 256;

/// An input for the device and the channel for its reply.
#[derive(Debug)]
pub struct InboxMessage {
    /// What happened.
    pub input: Input,
    /// Where the reply goes, if somebody waits for it.
    pub answer: Option<oneshot::Sender<Reply>>,
}

impl InboxMessage {
    /// An input for whose reply nobody waits.
    pub fn of(input: Input) -> InboxMessage {
        InboxMessage {
            input,
            answer: None,
        }
    }
}

/// The senders' side of the queue.
#[derive(Debug, Clone)]
pub struct Inbox {
    sender: mpsc::Sender<InboxMessage>,
}

/// The device has stopped and takes no more inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the device has stopped")]
pub struct Stopped;

/// Makes the queue.
pub fn inbox() -> (Inbox, mpsc::Receiver<InboxMessage>) {
    let (sender, receiver) = mpsc::channel(INBOX_DEPTH);
    (Inbox { sender }, receiver)
}

impl Inbox {
    /// Hands over an input; waits while the queue is full.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn tell(&self, input: Input) -> Result<(), Stopped> {
        let message = InboxMessage::of(input);
        self.sender.send(message).await.map_err(|_| Stopped)
    }

    /// Hands over an input and waits until what it changed is stored and visible.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn settle(&self, input: Input) -> Result<(), Stopped> {
        let (answer, handled) = oneshot::channel();
        let message = InboxMessage {
            input,
            answer: Some(answer),
        };
        self.sender.send(message).await.map_err(|_| Stopped)?;
        // Without a reply to give, the place for it is dropped when the input is dealt with.
        let _ = handled.await;
        Ok(())
    }

    /// Hands over headers and waits for what came of them; none of them asks what is kept.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn judge(
        &self,
        origin: ProofOrigin,
        headers: Vec<Header>,
        reach: HeadersReach,
    ) -> Result<Judged, Stopped> {
        let (answer, reply) = oneshot::channel();
        let message = InboxMessage {
            input: Input::Headers(origin, headers, reach),
            answer: Some(answer),
        };
        self.sender.send(message).await.map_err(|_| Stopped)?;
        match reply.await {
            Ok(Reply::Judged(judged)) => Ok(*judged),
            Ok(
                Reply::Done
                | Reply::Changed(_)
                | Reply::Rejected(_)
                | Reply::Refused(_)
                | Reply::Lights(_)
                | Reply::Picture(_),
            )
            | Err(_) => Err(Stopped),
        }
    }

    /// Asks the device and waits for the reply, which comes once the change is stored and visible.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn ask(&self, request: Request) -> Result<Reply, Stopped> {
        let (answer, reply) = oneshot::channel();
        let message = InboxMessage {
            input: Input::Asked(request),
            answer: Some(answer),
        };
        self.sender.send(message).await.map_err(|_| Stopped)?;
        reply.await.map_err(|_| Stopped)
    }
}
