//! Messages of the event stream, and the status that its clients have.

use std::sync::Arc;

use api::{
    documents::state::{PaintedPanel, PaintedPanels},
    schema::Word,
};
use bytes::Bytes;
use runtime::panels::PanelsSnapshot;
use tokio::sync::watch;

use super::documents::StatusDocument;

/// Messages that a client may lag behind. Beyond that it gets the current state instead of the missed messages.
pub const MESSAGES_MAX: usize = 64;

/// The status that the clients have, without values that change with time alone.
#[derive(Debug, Clone, PartialEq)]
enum SentStatus<T> {
    NoClients,
    /// All clients have this status.
    Same(Arc<T>),
    /// Clients may have different statuses.
    Mixed,
}

/// What the clients of the event stream were sent: messages to all of them, and the first message of each.
pub struct BroadcastState<T> {
    sent: watch::Sender<SentStatus<T>>,
}

impl<T: PartialEq> BroadcastState<T> {
    /// Notifies when clients may have different statuses.
    pub fn subscribe_mixed(&self) -> watch::Receiver<impl Sized + use<T>> {
        self.sent.subscribe()
    }

    /// The state without clients.
    pub fn new() -> BroadcastState<T> {
        BroadcastState {
            sent: watch::Sender::new(SentStatus::NoClients),
        }
    }

    /// Records that one client gets this status. Notifies the broadcaster if other clients have another one.
    pub fn sent_to_one(&self, status: &Arc<T>) {
        self.sent.send_if_modified(|sent| {
            let before = std::mem::replace(sent, SentStatus::Mixed);
            match before {
                SentStatus::NoClients => *sent = SentStatus::Same(Arc::clone(status)),
                SentStatus::Same(same) if same == *status => *sent = SentStatus::Same(same),
                SentStatus::Same(_) => return true,
                SentStatus::Mixed => {}
            }
            false
        });
    }

    /// Records that all clients get this status. Returns false if all of them have it already.
    pub fn send_to_all(&self, status: &Arc<T>) -> bool {
        self.replace(SentStatus::Same(Arc::clone(status)))
    }

    /// Records that there are no clients.
    pub fn reset(&self) {
        self.replace(SentStatus::NoClients);
    }

    /// Replaces the state without notifying the broadcaster, which is the caller. Returns whether it differs.
    fn replace(&self, new: SentStatus<T>) -> bool {
        let mut differs = false;
        self.sent.send_if_modified(|sent| {
            differs = *sent != new;
            *sent = new;
            false
        });
        differs
    }
}

#[derive(Debug, Clone)]
pub struct StreamMessage {
    /// The bytes.
    pub bytes: Bytes,
    /// The stream ends after this message.
    pub last: bool,
}

impl StreamMessage {
    /// A message with these bytes.
    pub fn new(bytes: impl Into<Bytes>) -> StreamMessage {
        StreamMessage {
            bytes: bytes.into(),
            last: false,
        }
    }

    pub fn status(status: &StatusDocument) -> StreamMessage {
        let mut bytes = b"event: status\ndata: ".to_vec();
        bytes.extend_from_slice(&status.text);
        bytes.extend_from_slice(b"\n\n");
        StreamMessage::new(bytes)
    }

    /// A message with the panels that were painted after a generation; `None` if there are none.
    pub fn panels(glass: &PanelsSnapshot, seen: u64) -> Option<StreamMessage> {
        let panels: Vec<PaintedPanel> = (0..)
            .zip(&glass.panels)
            .filter(|(_, panel)| panel.painted > seen)
            .map(|(index, panel)| PaintedPanel {
                panel: index,
                refresh: Word(panel.refresh),
            })
            .collect();
        if panels.is_empty() {
            return None;
        }
        let painted = PaintedPanels {
            generation: glass.generation,
            panels,
        };
        let data = serde_json::to_string(&painted).ok()?;
        Some(StreamMessage::new(format!(
            "event: panels\ndata: {data}\n\n"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sent statuses; whether "new" must then be sent to all; whether the broadcaster is notified.
    #[test]
    fn no_client_keeps_an_older_status() {
        enum Step {
            One(&'static str),
            All(&'static str),
            Reset,
        }
        use Step::{All, One, Reset};
        let rows: &[(&[Step], bool, bool)] = &[
            (&[All("old")], true, false),
            (&[All("new")], false, false),
            // The only client has it already.
            (&[One("new")], false, false),
            (&[All("old"), Reset, One("new")], false, false),
            (&[All("new"), Reset, One("old")], true, false),
            // A client connects between two messages and gets a status that is no longer current.
            (&[All("new"), One("old")], true, true),
            (&[All("new"), One("old"), One("new")], true, true),
            (&[One("old"), One("new")], true, true),
            (&[One("new"), One("new")], false, false),
        ];
        for (row, (steps, sent, notified)) in rows.iter().enumerate() {
            let state = BroadcastState::new();
            let broadcaster = state.sent.subscribe();
            for step in *steps {
                match step {
                    One(status) => state.sent_to_one(&Arc::new(*status)),
                    All(status) => drop(state.send_to_all(&Arc::new(*status))),
                    Reset => state.reset(),
                }
            }
            assert_eq!(broadcaster.has_changed().ok(), Some(*notified), "row {row}");
            assert_eq!(state.send_to_all(&Arc::new("new")), *sent, "row {row}");
        }
    }
}
