//! What followers are sent, and what they know of it.

use std::sync::Arc;

use bytes::Bytes;
use runtime::glass::DisplaySnapshot;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::documents::StatusDocument;

/// Frames that a client may lag behind before it is brought up to date at once.
pub const FRAMES_KEPT: usize = 64;

/// The status that the clients have, without values that change with time alone.
#[derive(Debug, Clone, PartialEq)]
enum SentStatus<T> {
    /// Nobody follows.
    ByNobody,
    /// All were told this last.
    ByAll(Arc<T>),
    /// They may have been told different ones.
    Apart,
}

/// What the clients of the event stream were sent: frames to all of them, and the first frame of each.
pub struct BroadcastState<T> {
    known: watch::Sender<SentStatus<T>>,
}

impl<T: PartialEq> BroadcastState<T> {
    /// Learns when followers may know different things.
    pub fn apart(&self) -> watch::Receiver<impl Sized + use<T>> {
        self.known.subscribe()
    }

    /// Nobody was told anything.
    pub fn new() -> BroadcastState<T> {
        BroadcastState {
            known: watch::Sender::new(SentStatus::ByNobody),
        }
    }

    /// One follower is told this; wakes the broadcaster if others may know something else.
    pub fn one(&self, status: &Arc<T>) {
        self.known.send_if_modified(|known| {
            let before = std::mem::replace(known, SentStatus::Apart);
            match before {
                SentStatus::ByNobody => *known = SentStatus::ByAll(Arc::clone(status)),
                SentStatus::ByAll(told) if told == *status => *known = SentStatus::ByAll(told),
                SentStatus::ByAll(_) => return true,
                SentStatus::Apart => {}
            }
            false
        });
    }

    /// All followers are told this, unless they know it; tells which.
    pub fn all(&self, status: &Arc<T>) -> bool {
        self.replace(SentStatus::ByAll(Arc::clone(status)))
    }

    /// Nobody follows any more.
    pub fn nobody(&self) {
        self.replace(SentStatus::ByNobody);
    }

    /// Replaces what is known without waking the broadcaster, who does it; tells whether it was something else.
    fn replace(&self, new: SentStatus<T>) -> bool {
        let mut differs = false;
        self.known.send_if_modified(|known| {
            differs = *known != new;
            *known = new;
            false
        });
        differs
    }
}

/// A frame of the event stream.
#[derive(Debug, Clone)]
pub struct EventFrame {
    /// The bytes.
    pub bytes: Bytes,
    /// Nothing comes after it.
    pub last: bool,
}

impl EventFrame {
    /// A frame of these bytes.
    pub fn text(bytes: impl Into<Bytes>) -> EventFrame {
        EventFrame {
            bytes: bytes.into(),
            last: false,
        }
    }

    /// The status.
    pub fn status(status: &StatusDocument) -> EventFrame {
        let mut bytes = b"event: status\ndata: ".to_vec();
        bytes.extend_from_slice(&status.text);
        bytes.extend_from_slice(b"\n\n");
        EventFrame::text(bytes)
    }

    /// The panels that were painted since a generation; none if none was.
    pub fn panels(glass: &DisplaySnapshot, seen: u64) -> Option<EventFrame> {
        let repainted: Vec<Value> = (0..)
            .zip(&glass.panels)
            .filter(|(_, panel)| panel.painted > seen)
            .map(|(index, panel): (usize, _)| json!({ "panel": index, "refresh": panel.refresh.name() }))
            .collect();
        if repainted.is_empty() {
            return None;
        }
        let data = json!({ "generation": glass.generation, "panels": repainted });
        Some(EventFrame::text(format!("event: panels\ndata: {data}\n\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who was told what; whether somebody knows an older status and the broadcaster is woken for it.
    #[test]
    fn nobody_is_left_with_an_older_status() {
        enum Recipients {
            One(&'static str),
            All(&'static str),
            Nobody,
        }
        use Recipients::{All, Nobody, One};
        let rows: &[(&[Recipients], bool, bool)] = &[
            (&[All("old")], true, false),
            (&[All("new")], false, false),
            // The only one there is knows it already.
            (&[One("new")], false, false),
            (&[All("old"), Nobody, One("new")], false, false),
            (&[All("new"), Nobody, One("old")], true, false),
            // One who came while a newer status waited for its turn, which then was taken back.
            (&[All("new"), One("old")], true, true),
            (&[All("new"), One("old"), One("new")], true, true),
            (&[One("old"), One("new")], true, true),
            (&[One("new"), One("new")], false, false),
        ];
        for (place, (steps, told, woken)) in rows.iter().enumerate() {
            let state = BroadcastState::new();
            let broadcaster = state.known.subscribe();
            for step in *steps {
                match step {
                    One(status) => state.one(&Arc::new(*status)),
                    All(status) => drop(state.all(&Arc::new(*status))),
                    Nobody => state.nobody(),
                }
            }
            assert_eq!(broadcaster.has_changed().ok(), Some(*woken), "row {place}");
            assert_eq!(state.all(&Arc::new("new")), *told, "row {place}");
        }
    }
}
