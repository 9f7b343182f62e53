//! Messages between a client and a relay.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error, IgnoredAny, SeqAccess, Visitor},
};

use super::event::NostrEvent;
use crate::malformed::Malformed;

/// Largest message that a relay may send, bytes; an encrypted payload alone may have 87 KiB.
pub const FRAME_MAX: usize = 256 * 1024;

/// Selects events; an empty field does not restrict.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Filter {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<u16>,
    /// Keys of authors, 64 hex digits each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// Keys of recipients, 64 hex digits each.
    #[serde(rename = "#p", skip_serializing_if = "Vec::is_empty")]
    pub recipients: Vec<String>,
    /// Earliest time of an event, s since 1970-01-01 UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Most stored events that the relay sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Encodes a subscription.
pub fn subscribe(subscription: &str, filter: &Filter) -> String {
    text(&("REQ", subscription, filter))
}

/// Encodes the end of a subscription.
pub fn close(subscription: &str) -> String {
    text(&("CLOSE", subscription))
}

/// Encodes the publication of an event.
pub fn publish(event: &NostrEvent) -> String {
    text(&("EVENT", event))
}

fn text(message: &impl Serialize) -> String {
    serde_json::to_string(message).expect("texts and numbers always have a JSON form")
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelayMessage {
    Event {
        subscription: String,
        /// The event, unverified.
        event: NostrEvent,
    },
    /// All stored events have been sent.
    EndOfStored {
        subscription: String,
    },
    /// The relay ended a subscription.
    Closed {
        subscription: String,
        /// The relay's reason.
        reason: String,
    },
    /// A text for people.
    Notice(String),
    /// Result of a publication.
    Taken {
        id: String,
        accepted: bool,
        /// The relay's reason otherwise.
        reason: String,
    },
    Other,
}

/// Parses a message from a relay.
///
/// # Errors
/// The text is too long, not a JSON array that starts with a text, or lacks fields of its type.
pub fn message(text: &[u8]) -> Result<RelayMessage, Malformed> {
    if text.len() > FRAME_MAX {
        return Err(Malformed("too-long"));
    }
    serde_json::from_slice(text).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => Malformed("message"),
        serde_json::error::Category::Io
        | serde_json::error::Category::Syntax
        | serde_json::error::Category::Eof => Malformed("json"),
    })
}

impl<'de> Deserialize<'de> for RelayMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RelayMessage, D::Error> {
        deserializer.deserialize_seq(MessageVisitor)
    }
}

struct MessageVisitor;

impl<'de> Visitor<'de> for MessageVisitor {
    type Value = RelayMessage;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a message of a relay")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<RelayMessage, A::Error> {
        let FrameText(word) = next(&mut items)?;
        let message = match word.as_ref() {
            "EVENT" => RelayMessage::Event {
                subscription: next(&mut items)?,
                event: next(&mut items)?,
            },
            "EOSE" => RelayMessage::EndOfStored {
                subscription: next(&mut items)?,
            },
            "CLOSED" => RelayMessage::Closed {
                subscription: next(&mut items)?,
                reason: items.next_element()?.unwrap_or_default(),
            },
            "NOTICE" => RelayMessage::Notice(next(&mut items)?),
            "OK" => RelayMessage::Taken {
                id: next(&mut items)?,
                accepted: next(&mut items)?,
                reason: items.next_element()?.unwrap_or_default(),
            },
            _ => RelayMessage::Other,
        };
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(message)
    }
}

#[derive(Deserialize)]
struct FrameText<'a>(#[serde(borrow)] Cow<'a, str>);

fn next<'de, A: SeqAccess<'de>, T: Deserialize<'de>>(items: &mut A) -> Result<T, A::Error> {
    items
        .next_element()?
        .ok_or_else(|| A::Error::custom("too short"))
}
