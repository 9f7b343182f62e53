//! When the memory and the headers are saved.

use std::{future::pending, io, time::Duration};

use storage::keeper::PendingWrite;
use tokio::time::Instant;

/// Least time between two saves of the memory.
pub const MEMORY_PERIOD: Duration = Duration::from_secs(60);

/// Time a change of the memory waits for company.
pub const MEMORY_DELAY: Duration = Duration::from_secs(5);

/// Longest pause between two saves of what could not be saved: a full disk is written to no end otherwise.
pub const SAVE_PAUSE_MAX: Duration = Duration::from_secs(60 * 60);

/// Whether something that may wait is to be saved, and when it was saved last.
#[derive(Debug, Default)]
pub(super) struct PendingSave {
    pub(super) since: Option<Instant>,
    pub(super) saved: Option<Instant>,
    /// The save that runs.
    pub(super) saving: Option<PendingWrite>,
    /// Saves in a row that have failed.
    failed: u32,
}

/// When the memory is to be saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// Not too often.
    InTime,
    /// Now, for there is no later.
    AtTheEnd,
}

impl PendingSave {
    /// When it is to be saved; none if it is, or is being saved.
    pub(super) fn due(&self) -> Option<Instant> {
        let since = self.since.filter(|_| self.saving.is_none())?;
        let spaced = self.saved.map(|saved| saved + self.pause());
        Some(spaced.map_or(since + MEMORY_DELAY, |spaced| {
            spaced.max(since + MEMORY_DELAY)
        }))
    }

    /// Least time between two saves: ever longer while they fail.
    fn pause(&self) -> Duration {
        let longer = 2_u32.saturating_pow(self.failed.saturating_sub(1));
        MEMORY_PERIOD.saturating_mul(longer).min(SAVE_PAUSE_MAX)
    }

    /// Takes note of how the save that ran has ended; one that failed is tried again.
    pub(super) fn ended(&mut self, outcome: &io::Result<()>) {
        self.saving = None;
        match outcome {
            Ok(()) => self.failed = 0,
            Err(_) => {
                self.failed = self.failed.saturating_add(1);
                self.since.get_or_insert_with(Instant::now);
            }
        }
    }

    pub(super) fn is_due(&self, due: Due) -> bool {
        match due {
            Due::InTime => self.due().is_some_and(|due| due <= Instant::now()),
            Due::AtTheEnd => self.since.is_some(),
        }
    }

    /// How the save that runs has ended; never without one.
    pub(super) async fn saved(&mut self) -> io::Result<()> {
        match &mut self.saving {
            Some(saving) => saving.ended().await,
            None => pending().await,
        }
    }
}
