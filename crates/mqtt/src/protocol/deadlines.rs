//! Deadlines for the responses of the broker.
//!
//! The time for a response starts when the packet that it answers has been sent completely. The time for sending is
//! limited elsewhere, by the writer.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

/// Longest time that the broker may take for a response.
pub const RESPONSE_TIMEOUT: Duration = Duration::from_secs(20);

/// A response that the broker has not sent yet.
#[derive(Debug, Clone, Copy)]
struct PendingResponse {
    /// Bytes of the connection up to the end of the packet that is answered.
    end: u64,
    /// When its time started. `None` while that packet is not sent completely.
    started: Option<Instant>,
}

impl PendingResponse {
    fn deadline(&self) -> Option<Instant> {
        self.started.map(|started| started + RESPONSE_TIMEOUT)
    }
}

/// All responses that the broker has not sent yet. `unsent` is the number of bytes that wait to be sent, up to the end of
/// the packet that is answered.
#[derive(Debug, Default)]
pub(super) struct PendingResponses {
    /// Bytes of the connection that have been sent.
    sent: u64,
    pingresp: Option<PendingResponse>,
    /// CONNACK or SUBACK.
    handshake: Option<PendingResponse>,
    pubacks: VecDeque<PendingResponse>,
}

impl PendingResponses {
    /// Expects PINGRESP. A second ping does not extend the deadline of the first.
    pub(super) fn expect_pingresp(&mut self, unsent: usize) {
        let response = self.response(unsent);
        self.pingresp.get_or_insert(response);
    }

    pub(super) fn pingresp_received(&mut self) {
        self.pingresp = None;
    }

    /// Expects CONNACK or SUBACK.
    pub(super) fn expect_handshake(&mut self, unsent: usize) {
        self.handshake = Some(self.response(unsent));
    }

    /// CONNACK or SUBACK was received.
    pub(super) fn handshake_received(&mut self) {
        self.handshake = None;
    }

    pub(super) fn expect_puback(&mut self, unsent: usize) {
        let response = self.response(unsent);
        self.pubacks.push_back(response);
    }

    /// A PUBACK was received. The time for the next one starts again, because the broker may handle messages in turn.
    pub(super) fn puback_received(&mut self, now: Instant) {
        self.pubacks.pop_front();
        if let Some(Some(started)) = self.pubacks.front_mut().map(|next| &mut next.started) {
            *started = now;
        }
    }

    /// Number of messages that are not acknowledged.
    pub(super) fn pubacks(&self) -> usize {
        self.pubacks.len()
    }

    /// So many bytes were sent.
    pub(super) fn bytes_sent(&mut self, count: usize, now: Instant) {
        self.sent += u64::try_from(count).unwrap_or(u64::MAX);
        let pending = self.pubacks.iter_mut();
        for response in pending.chain(&mut self.pingresp).chain(&mut self.handshake) {
            if response.started.is_none() && response.end <= self.sent {
                response.started = Some(now);
            }
        }
    }

    /// When the next response must have come. `None` if none is expected, or what they answer is not sent yet.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let next = [self.pingresp, self.handshake, self.pubacks.front().copied()];
        let next = next.into_iter().flatten();
        next.filter_map(|response| response.deadline()).min()
    }

    fn response(&self, unsent: usize) -> PendingResponse {
        let unsent = u64::try_from(unsent).unwrap_or(u64::MAX);
        PendingResponse {
            end: self.sent.saturating_add(unsent),
            started: None,
        }
    }
}
