//! Recent events, numbered in order, so that a client that polls can detect what it missed.

use alloc::{collections::VecDeque, string::String, sync::Arc};

/// Number of recent events that are stored.
pub const EVENTS_MAX: usize = 32;

/// An event of the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceEvent {
    /// A new block.
    Block {
        /// Its height.
        height: u32,
    },
    /// A zap that was shown.
    Zap {
        /// Its amount, sats.
        sats: u64,
        /// Message of its sender.
        message: String,
    },
    /// A payment that was shown.
    Payment {
        /// Its amount, sats, rounded down.
        sats: u64,
        /// Word for its direction. `None` if the wallet did not report it.
        direction: Option<&'static str>,
    },
    /// The panels are refreshed through black and white.
    Refresh,
    /// A problem has started.
    Warning {
        /// A text for people.
        text: String,
    },
    /// A button was pressed.
    Button {
        /// Its number from 1. `None` for all of them together.
        button: Option<usize>,
        /// It was held.
        held: bool,
    },
}

/// Recent events.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventLog {
    /// Number of all events so far.
    count: u64,
    /// The newest events, oldest first.
    recent: Arc<VecDeque<DeviceEvent>>,
}

impl EventLog {
    /// Records an event.
    pub fn add(&mut self, event: DeviceEvent) {
        let recent = Arc::make_mut(&mut self.recent);
        if recent.len() == EVENTS_MAX {
            recent.pop_front();
        }
        recent.push_back(event);
        self.count += 1;
    }

    /// Number of all events so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Events after the first `count`, oldest first, and how many of them are no longer stored.
    pub fn since(&self, count: u64) -> (impl Iterator<Item = &DeviceEvent>, u64) {
        let new = self.count.saturating_sub(count);
        let stored = u64::try_from(self.recent.len()).unwrap_or(u64::MAX);
        let known = usize::try_from(new.min(stored)).unwrap_or(EVENTS_MAX);
        let skipped = self.recent.len().saturating_sub(known);
        (self.recent.iter().skip(skipped), new.saturating_sub(stored))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn missed_events_are_counted() {
        let mut log = EventLog::default();
        let heights = |log: &EventLog, count| {
            let (new, missed) = log.since(count);
            let height = |event: &DeviceEvent| match event {
                DeviceEvent::Block { height } => *height,
                _ => 0,
            };
            (new.map(height).collect::<Vec<_>>(), missed)
        };
        assert_eq!(heights(&log, 0), (Vec::new(), 0));
        for height in 1..=3 {
            log.add(DeviceEvent::Block { height });
        }
        assert_eq!(heights(&log, 0), (Vec::from([1, 2, 3]), 0));
        assert_eq!(heights(&log, 2), (Vec::from([3]), 0));
        assert_eq!(heights(&log, 3), (Vec::new(), 0));
        for height in 4..=40 {
            log.add(DeviceEvent::Block { height });
        }
        assert_eq!(heights(&log, 3), ((9..=40).collect(), 5));
        assert_eq!(log.count(), 40);
    }
}
