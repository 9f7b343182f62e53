//! When the memory and the headers are saved: not at each change, so that the disk is not worn out.

use std::{future::pending, io, time::Duration};

use storage::store_thread::PendingWrite;
use tokio::time::Instant;

/// Shortest time between two saves of the memory.
pub const MEMORY_PERIOD: Duration = Duration::from_secs(60);

/// Shortest time between two saves of the headers: each writes all of them, and missing ones are downloaded again.
pub const HEADERS_PERIOD: Duration = Duration::from_secs(60 * 60);

/// Time from a change of the memory to its save, so that changes that follow are saved together.
pub const MEMORY_DELAY: Duration = Duration::from_secs(5);

/// Longest time between two attempts to save after failures.
pub const SAVE_PAUSE_MAX: Duration = Duration::from_secs(60 * 60);

/// Schedule of the saves of one file.
#[derive(Debug)]
pub(super) struct PendingSave {
    /// Shortest time between two saves.
    period: Duration,
    /// Time of the first unsaved change.
    changed_at: Option<Instant>,
    /// Start of the last save.
    started_at: Option<Instant>,
    /// The write in progress.
    pub(super) write: Option<PendingWrite>,
    failures: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SaveTrigger {
    /// The schedule: not too often.
    Scheduled,
    /// The device stops: the last chance.
    Shutdown,
}

impl PendingSave {
    /// A schedule without changes.
    pub(super) fn every(period: Duration) -> PendingSave {
        PendingSave {
            period,
            changed_at: None,
            started_at: None,
            write: None,
            failures: 0,
        }
    }

    /// Records an unsaved change.
    pub(super) fn mark_changed(&mut self) {
        self.changed_at.get_or_insert_with(Instant::now);
    }

    pub(super) fn started(&mut self, write: PendingWrite) {
        self.changed_at = None;
        self.started_at = Some(Instant::now());
        self.write = Some(write);
    }

    /// Time of the next save. `None` without unsaved changes, and while a write is in progress.
    pub(super) fn due_at(&self) -> Option<Instant> {
        let changed_at = self.changed_at.filter(|_| self.write.is_none())?;
        let delayed = changed_at + MEMORY_DELAY;
        let spaced = self.started_at.map(|started_at| started_at + self.pause());
        Some(spaced.map_or(delayed, |spaced| spaced.max(delayed)))
    }

    /// Shortest time to the next save; after a failure a minute, which doubles with each further one.
    fn pause(&self) -> Duration {
        let Some(doubled) = self.failures.checked_sub(1) else {
            return self.period;
        };
        let factor = 2_u32.saturating_pow(doubled);
        MEMORY_PERIOD.saturating_mul(factor).min(SAVE_PAUSE_MAX)
    }

    /// Records the result of the write; a failed one is retried.
    pub(super) fn ended(&mut self, result: &io::Result<()>) {
        self.write = None;
        match result {
            Ok(()) => self.failures = 0,
            Err(_) => {
                self.failures = self.failures.saturating_add(1);
                self.mark_changed();
            }
        }
    }

    pub(super) fn is_due(&self, trigger: SaveTrigger) -> bool {
        match trigger {
            SaveTrigger::Scheduled => self.due_at().is_some_and(|at| at <= Instant::now()),
            SaveTrigger::Shutdown => self.changed_at.is_some(),
        }
    }

    /// Waits for the result of the write in progress; never returns without one.
    pub(super) async fn finished(&mut self) -> io::Result<()> {
        match &mut self.write {
            Some(write) => write.ended().await,
            None => pending().await,
        }
    }
}
