//! How a source is.

use alloc::{collections::BTreeMap, string::String};
use core::time::Duration;

use super::observation::Connection;

/// Why a source is down that there is no network to reach by.
const NO_NETWORK: &str = "no network";

/// State of a source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceState {
    /// A frame was understood on this connection, or the last poll answered.
    pub up: bool,
    /// Uptime at which it last said something of use.
    pub last_success: Option<Duration>,
    /// Why it is down, in words fit for people.
    pub last_error: Option<String>,
    /// Uptime of the next attempt.
    pub next_try: Option<Duration>,
    /// How much of what it sent was dropped, by reason.
    pub dropped: BTreeMap<&'static str, u64>,
}

impl SourceState {
    /// Takes note that there is no network to reach it by.
    pub fn lose_network(&mut self) {
        self.up = false;
        self.last_error = Some(NO_NETWORK.into());
        self.next_try = None;
    }

    /// Takes note that there is a network again: nobody has answered by it yet.
    pub fn regain_network(&mut self) {
        self.last_error.take_if(|error| error == NO_NETWORK);
    }

    /// Takes note of what was dropped.
    pub fn drop(&mut self, reason: &'static str, count: u32) {
        let dropped = self.dropped.entry(reason).or_default();
        *dropped = dropped.saturating_add(count.into());
    }

    /// Takes note of the state of the connection.
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
