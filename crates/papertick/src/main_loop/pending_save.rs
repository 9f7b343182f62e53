//! When memory, history and headers are saved: not at each change, so that the disk is not worn out.

use std::{future::pending, io, time::Duration};

use futures_util::{StreamExt, stream::FuturesUnordered};
use storage::{StoredFile, store_thread::PendingWrite};
use tokio::time::Instant;

/// Shortest time between two saves of the memory.
pub const MEMORY_PERIOD: Duration = Duration::from_secs(60);

/// Shortest time between two saves of the headers: each writes all of them, and missing ones are downloaded again.
pub const HEADERS_PERIOD: Duration = Duration::from_secs(60 * 60);

/// Shortest time between two saves of the history.
pub const HISTORY_PERIOD: Duration = Duration::from_secs(10 * 60);

/// Time from a change to its save, so that changes that follow are saved together.
pub const MEMORY_DELAY: Duration = Duration::from_secs(5);

/// Longest time between two attempts to save after failures.
pub const SAVE_PAUSE_MAX: Duration = Duration::from_secs(60 * 60);

/// Schedules of the saves of all files that are not saved at each change.
#[derive(Debug)]
pub(super) struct PendingSaves([PendingSave; 3]);

/// Schedule of the saves of one file.
#[derive(Debug)]
struct PendingSave {
    file: StoredFile,
    /// Shortest time between two saves.
    period: Duration,
    /// Time of the first unsaved change.
    changed_at: Option<Instant>,
    /// Start of the last save.
    started_at: Option<Instant>,
    /// The write in progress.
    write: Option<PendingWrite>,
    failures: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SaveTrigger {
    /// The schedule: not too often.
    Scheduled,
    /// The device stops: the last chance.
    Shutdown,
}

impl PendingSaves {
    /// Schedules without changes.
    pub(super) fn new() -> PendingSaves {
        PendingSaves([
            PendingSave::every(MEMORY_PERIOD, StoredFile::Memory),
            PendingSave::every(HISTORY_PERIOD, StoredFile::History),
            PendingSave::every(HEADERS_PERIOD, StoredFile::Chain),
        ])
    }

    /// Records an unsaved change.
    pub(super) fn mark_changed(&mut self, file: StoredFile) {
        if let Some(save) = self.of(file) {
            save.mark_changed();
        }
    }

    /// A file with changes that should be saved now.
    pub(super) fn due(&self, trigger: SaveTrigger) -> Option<StoredFile> {
        let due = self.0.iter().find(|save| save.is_due(trigger));
        due.map(|save| save.file)
    }

    /// Records the start of a write of the newest content; `None` if there is nothing to write.
    pub(super) fn started(&mut self, file: StoredFile, write: Option<PendingWrite>) {
        let Some(save) = self.of(file) else { return };
        save.changed_at = None;
        if write.is_some() {
            save.started_at = Some(Instant::now());
            save.write = write;
        }
    }

    /// Time of the next save. `None` without unsaved changes.
    pub(super) fn due_at(&self) -> Option<Instant> {
        self.0.iter().filter_map(PendingSave::due_at).min()
    }

    /// Waits for the end of a write, and records it; never returns without a write in progress.
    pub(super) async fn finished(&mut self) -> (StoredFile, io::Result<()>) {
        let saves = self.0.iter_mut().filter(|save| save.write.is_some());
        let ends = saves.map(async |save| (save.file, save.finished().await));
        match ends.collect::<FuturesUnordered<_>>().next().await {
            Some(ended) => ended,
            None => pending().await,
        }
    }

    pub(super) fn is_writing(&self) -> bool {
        self.0.iter().any(|save| save.write.is_some())
    }

    /// The schedule of a file; `None` for the settings, which are saved at each change.
    fn of(&mut self, file: StoredFile) -> Option<&mut PendingSave> {
        self.0.iter_mut().find(|save| save.file == file)
    }
}

impl PendingSave {
    fn every(period: Duration, file: StoredFile) -> PendingSave {
        PendingSave {
            file,
            period,
            changed_at: None,
            started_at: None,
            write: None,
            failures: 0,
        }
    }

    fn mark_changed(&mut self) {
        self.changed_at.get_or_insert_with(Instant::now);
    }

    /// Time of the next save. `None` without unsaved changes, and while a write is in progress.
    fn due_at(&self) -> Option<Instant> {
        let changed_at = self.changed_at.filter(|_| self.write.is_none())?;
        let delayed = changed_at + MEMORY_DELAY;
        let spaced = self.started_at.map(|started_at| started_at + self.pause());
        Some(spaced.map_or(delayed, |spaced| spaced.max(delayed)))
    }

    /// Shortest time to the next save; doubles with each failure after the first.
    fn pause(&self) -> Duration {
        let factor = 2_u32.saturating_pow(self.failures.saturating_sub(1));
        self.period.saturating_mul(factor).min(SAVE_PAUSE_MAX)
    }

    fn is_due(&self, trigger: SaveTrigger) -> bool {
        match trigger {
            SaveTrigger::Scheduled => self.due_at().is_some_and(|at| at <= Instant::now()),
            SaveTrigger::Shutdown => self.changed_at.is_some(),
        }
    }

    /// Waits for the result of the write in progress. A failed one is retried.
    async fn finished(&mut self) -> io::Result<()> {
        let result = match &mut self.write {
            Some(write) => write.ended().await,
            None => pending().await,
        };
        self.write = None;
        match &result {
            Ok(()) => self.failures = 0,
            Err(_) => {
                self.failures = self.failures.saturating_add(1);
                self.mark_changed();
            }
        }
        result
    }
}
