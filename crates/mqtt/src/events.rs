//! Events of the device that wait to be published.

use std::collections::VecDeque;

use device::event_log::{DeviceEvent, EVENTS_MAX, EventLog};

/// Events that wait to be published; the newest are kept.
#[derive(Debug)]
pub(super) struct EventQueue {
    waiting: VecDeque<DeviceEvent>,
    /// Number of events of the device that have been read.
    read: u64,
}

impl EventQueue {
    /// A queue for the events after the present ones.
    pub(super) fn new(log: &EventLog) -> EventQueue {
        EventQueue {
            waiting: VecDeque::new(),
            read: log.count(),
        }
    }

    /// Adds the new events of the device. Returns how many events are lost.
    pub(super) fn read(&mut self, log: &EventLog) -> u64 {
        let (new, missed) = log.since(self.read);
        self.waiting.extend(new.cloned());
        self.read = log.count();
        let excess = self.waiting.len().saturating_sub(EVENTS_MAX);
        self.waiting.drain(..excess);
        missed.saturating_add(u64::try_from(excess).unwrap_or(u64::MAX))
    }

    /// Takes the oldest event.
    pub(super) fn pop(&mut self) -> Option<DeviceEvent> {
        self.waiting.pop_front()
    }
}
