//! What followers are sent, and what they know of it.

use std::sync::Arc;

use bytes::Bytes;
use runtime::glass::DisplaySnapshot;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::documents::StatusDocument;

/// Frames that a client may lag behind before it is brought up to date at once.
pub const FRAMES_KEPT: usize = 64;

/// What followers know of the status, without what changes by the mere passing of time.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Known {
    /// Nobody follows.
    ByNobody,
    /// All were told this last.
    ByAll(Arc<str>),
    /// They may have been told different ones.
    Apart,
}

/// Remembers what followers were told, by whomever: frames for all, and the first one of each.
pub struct Told {
    known: watch::Sender<Known>,
}

impl Told {
    /// Learns when followers may know different things.
    pub fn apart(&self) -> watch::Receiver<impl Sized + use<>> {
        self.known.subscribe()
    }

    /// Nobody was told anything.
    pub fn new() -> Told {
        Told {
            known: watch::Sender::new(Known::ByNobody),
        }
    }

    /// One follower is told this; wakes the broadcaster if others may know something else.
    pub fn one(&self, status: &Arc<str>) {
        self.known.send_if_modified(|known| {
            let before = std::mem::replace(known, Known::Apart);
            match before {
                Known::ByNobody => *known = Known::ByAll(Arc::clone(status)),
                Known::ByAll(told) if told == *status => *known = Known::ByAll(told),
                Known::ByAll(_) => return true,
                Known::Apart => {}
            }
            false
        });
    }

    /// All followers are told this, unless they know it; tells which.
    pub fn all(&self, status: &Arc<str>) -> bool {
        self.replace(Known::ByAll(Arc::clone(status)))
    }

    /// Nobody follows any more.
    pub fn nobody(&self) {
        self.replace(Known::ByNobody);
    }

    /// Replaces what is known without waking the broadcaster, who does it; tells whether it was something else.
    fn replace(&self, new: Known) -> bool {
        let mut differs = false;
        self.known.send_if_modified(|known| {
            differs = *known != new;
            *known = new;
            false
        });
        differs
    }
}

/// One frame of the stream, as bytes.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The bytes.
    pub bytes: Bytes,
    /// Nothing comes after it.
    pub last: bool,
}

impl Frame {
    /// A frame of these bytes.
    pub fn text(bytes: impl Into<Bytes>) -> Frame {
        Frame {
            bytes: bytes.into(),
            last: false,
        }
    }

    /// The status.
    pub fn status(status: &StatusDocument) -> Frame {
        let mut bytes = b"event: status\ndata: ".to_vec();
        bytes.extend_from_slice(&status.text);
        bytes.extend_from_slice(b"\n\n");
        Frame::text(bytes)
    }

    /// The panels that were painted since a generation; none if none was.
    pub fn panels(glass: &DisplaySnapshot, seen: u64) -> Option<Frame> {
        let repainted: Vec<Value> = (0..)
            .zip(&glass.panels)
            .filter(|(_, panel)| panel.painted > seen)
            .map(|(index, panel): (usize, _)| json!({ "panel": index, "refresh": panel.refresh.name() }))
            .collect();
        if repainted.is_empty() {
            return None;
        }
        let data = json!({ "generation": glass.generation, "panels": repainted });
        Some(Frame::text(format!("event: panels\ndata: {data}\n\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who was told what; whether somebody knows an older status and the broadcaster is woken for it.
    #[test]
    fn nobody_is_left_with_an_older_status() {
        enum Telling {
            One(&'static str),
            All(&'static str),
            Nobody,
        }
        use Telling::{All, Nobody, One};
        let rows: &[(&[Telling], bool, bool)] = &[
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
            let state = Told::new();
            let broadcaster = state.known.subscribe();
            for step in *steps {
                match step {
                    One(status) => state.one(&Arc::from(*status)),
                    All(status) => drop(state.all(&Arc::from(*status))),
                    Nobody => state.nobody(),
                }
            }
            assert_eq!(broadcaster.has_changed().ok(), Some(*woken), "row {place}");
            assert_eq!(state.all(&Arc::from("new")), *told, "row {place}");
        }
    }
}
