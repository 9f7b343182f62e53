//! Messages of the event stream.

use api::{
    documents::state::{PaintedPanel, PaintedPanels},
    schema::Word,
};
use bytes::Bytes;
use runtime::panels::PanelsSnapshot;

use super::documents::StatusDocument;

/// Messages that a client may lag behind. Beyond that it gets the current state instead of the missed messages.
pub const MESSAGES_MAX: usize = 64;

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
