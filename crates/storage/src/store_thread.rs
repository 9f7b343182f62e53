//! Performs all writes on a separate thread, in order, so that other blocking work cannot delay them.

use std::{io, thread};

use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use crate::{Store, StoredFile};

/// Most queued writes.
const JOBS_MAX: usize = 8;

const THREAD: &str = "store";

/// Sends writes to the storage thread. Clones share one thread.
#[derive(Debug, Clone)]
pub struct StoreHandle {
    jobs: mpsc::Sender<StoreJob>,
}

/// The store and its queued writes.
pub struct StoreWorker {
    store: Store,
    jobs: mpsc::Receiver<StoreJob>,
}

/// A write that the storage thread performs.
enum StoreTask {
    Save(StoredFile, Map<String, Value>),
    ReplaceSettings(Map<String, Value>),
    Wipe,
}

/// A task and the channel for its result.
struct StoreJob {
    task: StoreTask,
    reply: oneshot::Sender<io::Result<()>>,
}

/// A write in progress.
#[derive(Debug)]
pub struct PendingWrite {
    result: oneshot::Receiver<io::Result<()>>,
}

impl StoreWorker {
    /// Runs on a new thread until all handles are dropped.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn spawn_thread(mut self) -> io::Result<()> {
        let run = move || {
            while let Some(job) = self.jobs.blocking_recv() {
                job.perform(&mut self.store);
            }
        };
        thread::Builder::new().name(THREAD.to_string()).spawn(run)?;
        Ok(())
    }

    /// Runs as a task until all handles are dropped, for tests in virtual time.
    pub async fn run(mut self) {
        while let Some(job) = self.jobs.recv().await {
            job.perform(&mut self.store);
        }
    }
}

impl StoreJob {
    fn perform(self, store: &mut Store) {
        let result = match self.task {
            StoreTask::Save(file, body) => store.save(file, &body),
            StoreTask::ReplaceSettings(settings) => store.replace_settings(&settings),
            StoreTask::Wipe => store.wipe(),
        };
        // Fails if the caller does not wait any more.
        let _ = self.reply.send(result);
    }
}

impl PendingWrite {
    /// Waits for the end of the write. Cancel safe.
    ///
    /// # Errors
    /// The write failed.
    ///
    /// # Panics
    /// The thread has panicked.
    pub async fn ended(&mut self) -> io::Result<()> {
        let result = &mut self.result;
        result
            .await
            .expect("the thread runs until all handles are dropped, and replies to all jobs")
    }
}

impl StoreHandle {
    /// Makes a handle and the worker for a store.
    pub fn new(store: Store) -> (StoreHandle, StoreWorker) {
        let (sender, receiver) = mpsc::channel(JOBS_MAX);
        let worker = StoreWorker {
            store,
            jobs: receiver,
        };
        (StoreHandle { jobs: sender }, worker)
    }

    /// Saves the settings. They are durable when this returns.
    ///
    /// # Errors
    /// The write failed.
    pub async fn save_settings(&self, settings: Map<String, Value>) -> io::Result<()> {
        let mut write = self.begin_save(StoredFile::Settings, settings).await;
        write.ended().await
    }

    /// Saves the settings and replaces all previous generations. They are durable when this returns.
    ///
    /// # Errors
    /// The write failed.
    pub async fn replace_settings(&self, settings: Map<String, Value>) -> io::Result<()> {
        self.begin(StoreTask::ReplaceSettings(settings))
            .await
            .ended()
            .await
    }

    pub async fn begin_save(&self, file: StoredFile, body: Map<String, Value>) -> PendingWrite {
        self.begin(StoreTask::Save(file, body)).await
    }

    /// Removes settings, secrets, memory, headers and history durably.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub async fn wipe(&self) -> io::Result<()> {
        self.begin(StoreTask::Wipe).await.ended().await
    }

    async fn begin(&self, task: StoreTask) -> PendingWrite {
        let (reply, result) = oneshot::channel();
        // Fails only if the thread has panicked; then `PendingWrite::ended` panics.
        let _ = self.jobs.send(StoreJob { task, reply }).await;
        PendingWrite { result }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use std::sync::mpsc::sync_channel;

    use tokio::{runtime, task::spawn_blocking};

    use super::*;
    use crate::disk::Folder;

    #[test]
    fn other_blocking_work_does_not_delay_a_save() {
        let runtime = runtime::Builder::new_current_thread()
            .max_blocking_threads(1)
            .build()
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let open = || Store::open(Box::new(Folder::new(folder.path())));
        let (handle, worker) = StoreHandle::new(open().0);
        worker.spawn_thread().unwrap();
        let (end, ended) = sync_channel::<()>(0);
        runtime.block_on(async {
            let other = spawn_blocking(move || ended.recv());
            let settings = Map::from_iter([("a".to_string(), 1.into())]);
            let mut memory = handle.begin_save(StoredFile::Memory, Map::new()).await;
            handle.save_settings(settings.clone()).await.unwrap();
            memory.ended().await.unwrap();
            assert_eq!(open().1.settings.whole(), Some(settings));
            handle.wipe().await.unwrap();
            assert_eq!(open().1.settings.whole(), None);
            end.send(()).unwrap();
            other.await.unwrap().unwrap();
        });
    }
}
