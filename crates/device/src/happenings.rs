//! Recent events, numbered in order, so that a client that polls can detect what it missed.

use alloc::{collections::VecDeque, string::String, sync::Arc};

/// Events that are kept.
pub const HAPPENINGS_MAX: usize = 32;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
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
pub struct Happenings {
    /// Number of all events so far.
    count: u64,
    /// The newest events, oldest first.
    kept: Arc<VecDeque<Happening>>,
}

impl Happenings {
    /// Records an event.
    pub fn add(&mut self, happening: Happening) {
        let kept = Arc::make_mut(&mut self.kept);
        if kept.len() == HAPPENINGS_MAX {
            kept.pop_front();
        }
        kept.push_back(happening);
        self.count += 1;
    }

    /// Number of all events so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Events after the first `count`, oldest first, and how many of them are no longer kept.
    pub fn since(&self, count: u64) -> (impl Iterator<Item = &Happening>, u64) {
        let news = self.count.saturating_sub(count);
        let kept = u64::try_from(self.kept.len()).unwrap_or(u64::MAX);
        let known = usize::try_from(news.min(kept)).unwrap_or(HAPPENINGS_MAX);
        let skipped = self.kept.len().saturating_sub(known);
        (self.kept.iter().skip(skipped), news.saturating_sub(kept))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn who_looks_too_late_is_told_how_much_was_missed() {
        let mut happenings = Happenings::default();
        let heights = |happenings: &Happenings, count| {
            let (news, missed) = happenings.since(count);
            let height = |happening: &Happening| match happening {
                Happening::Block { height } => *height,
                Happening::Zap { .. }
                | Happening::Payment { .. }
                | Happening::Refresh
                | Happening::Warning { .. }
                | Happening::Button { .. } => 0,
            };
            (news.map(height).collect::<Vec<_>>(), missed)
        };
        assert_eq!(heights(&happenings, 0), (Vec::new(), 0));
        for height in 1..=3 {
            happenings.add(Happening::Block { height });
        }
        assert_eq!(heights(&happenings, 0), (Vec::from([1, 2, 3]), 0));
        assert_eq!(heights(&happenings, 2), (Vec::from([3]), 0));
        assert_eq!(heights(&happenings, 3), (Vec::new(), 0));
        for height in 4..=40 {
            happenings.add(Happening::Block { height });
        }
        assert_eq!(heights(&happenings, 3), ((9..=40).collect(), 5));
        assert_eq!(happenings.count(), 40);
    }
}
