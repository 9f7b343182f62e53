//! State of a source.

use alloc::{collections::BTreeMap, string::String};
use core::time::Duration;

use crate::observation::Connection;

/// Error of a source without a network.
const NO_NETWORK: &str = "no network";

/// State of a source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceState {
    /// A frame was decoded on this connection, or the last poll has succeeded.
    pub up: bool,
    /// Uptime of its newest data.
    pub last_success: Option<Duration>,
    /// Why it is down, as a text for people.
    pub last_error: Option<String>,
    /// Uptime of the next attempt.
    pub next_try: Option<Duration>,
    /// Numbers of dropped messages, by reason.
    pub dropped: BTreeMap<&'static str, u64>,
}

impl SourceState {
    /// Records that there is no network.
    pub fn lose_network(&mut self) {
        self.up = false;
        self.last_error = Some(NO_NETWORK.into());
        self.next_try = None;
    }

    /// Records that there is a network again. The source is not up yet.
    pub fn regain_network(&mut self) {
        self.last_error.take_if(|error| error == NO_NETWORK);
    }

    /// Counts dropped messages.
    pub fn drop(&mut self, reason: &'static str, count: u32) {
        let dropped = self.dropped.entry(reason).or_default();
        *dropped = dropped.saturating_add(count.into());
    }

    /// Records the state of the connection.
    pub fn follow(&mut self, connection: Connection, uptime: Duration) {
        match connection {
            Connection::Connecting => {
                self.up = false;
                self.next_try = None;
            }
            Connection::Up => {
                self.up = true;
                self.last_error = None;
                self.next_try = None;
            }
            Connection::Down { reason, retry_in } => {
                self.up = false;
                self.last_error = Some(reason);
                self.next_try = Some(uptime + retry_in);
            }
        }
    }
}
