//! Does the file work on a thread of its own, one piece after the other, so that nothing else can keep it waiting.

use std::{io, thread};

use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use crate::Store;

/// Pieces of work that may wait for their turn.
const WORK_DEPTH: usize = 8;

/// Name of the thread.
const THREAD: &str = "store";

/// Sends writes to the storage thread. Clones share one thread.
#[derive(Debug, Clone)]
pub struct StoreHandle {
    work: mpsc::Sender<StoreJob>,
}

/// The store and the work that waits for it.
pub struct StoreWorker {
    store: Store,
    work: mpsc::Receiver<StoreJob>,
}

/// A write that the storage thread performs.
enum StoreTask {
    Settings(Map<String, Value>),
    ReplaceSettings(Map<String, Value>),
    Memory(Map<String, Value>),
    Chain(Map<String, Value>, Vec<u8>),
    Wipe,
}

/// A task and the channel for its result.
struct StoreJob {
    work: StoreTask,
    done: oneshot::Sender<io::Result<()>>,
}

/// A write in progress.
#[derive(Debug)]
pub struct PendingWrite {
    done: oneshot::Receiver<io::Result<()>>,
}

/// Makes a way to have things stored.
pub fn keeper(store: Store) -> (StoreHandle, StoreWorker) {
    let (sender, receiver) = mpsc::channel(WORK_DEPTH);
    let shelf = StoreWorker {
        store,
        work: receiver,
    };
    (StoreHandle { work: sender }, shelf)
}

impl StoreWorker {
    /// Works on a thread of its own until nobody can have anything stored any more.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub fn on_a_thread(mut self) -> io::Result<()> {
        let work = move || {
            while let Some(job) = self.work.blocking_recv() {
                job.perform(&mut self.store);
            }
        };
        thread::Builder::new()
            .name(THREAD.to_string())
            .spawn(work)?;
        Ok(())
    }

    /// Works as a task until nobody can have anything stored any more: for tests in virtual time, which threads know
    /// nothing of.
    pub async fn as_a_task(mut self) {
        while let Some(job) = self.work.recv().await {
            job.perform(&mut self.store);
        }
    }
}

impl StoreJob {
    fn perform(self, store: &mut Store) {
        let outcome = match self.work {
            StoreTask::Settings(settings) => store.save_settings(&settings),
            StoreTask::ReplaceSettings(settings) => store.replace_settings(&settings),
            StoreTask::Memory(memory) => store.save_memory(&memory),
            StoreTask::Chain(about, headers) => store.save_chain(&about, &headers),
            StoreTask::Wipe => store.wipe(),
        };
        // Whoever asked may have gone away.
        let _ = self.done.send(outcome);
    }
}

impl PendingWrite {
    /// Waits for the end of the work; dropping the future loses nothing.
    ///
    /// # Errors
    /// That of the work.
    ///
    /// # Panics
    /// The thread has panicked.
    pub async fn ended(&mut self) -> io::Result<()> {
        let done = &mut self.done;
        done.await
            .expect("the thread works until nobody can ask it, and answers all")
    }
}

impl StoreHandle {
    /// Saves the settings; they are durable when this returns.
    ///
    /// # Errors
    /// The disk did not take them.
    pub async fn save_settings(&self, settings: Map<String, Value>) -> io::Result<()> {
        self.begin(StoreTask::Settings(settings))
            .await
            .ended()
            .await
    }

    /// Saves the settings in place of every generation before them; they are durable when this returns.
    ///
    /// # Errors
    /// The disk did not take them.
    pub async fn replace_settings(&self, settings: Map<String, Value>) -> io::Result<()> {
        self.begin(StoreTask::ReplaceSettings(settings))
            .await
            .ended()
            .await
    }

    /// Begins to save the memory.
    pub async fn begin_memory(&self, memory: Map<String, Value>) -> PendingWrite {
        self.begin(StoreTask::Memory(memory)).await
    }

    /// Begins to save the headers of a chain, and what they come after.
    pub async fn begin_chain(&self, about: Map<String, Value>, headers: Vec<u8>) -> PendingWrite {
        self.begin(StoreTask::Chain(about, headers)).await
    }

    /// Removes settings, secrets, memory and headers; they are gone for good when this returns.
    ///
    /// # Errors
    /// Something is still there.
    pub async fn wipe(&self) -> io::Result<()> {
        self.begin(StoreTask::Wipe).await.ended().await
    }

    async fn begin(&self, work: StoreTask) -> PendingWrite {
        let (done, ended) = oneshot::channel();
        // Without its thread the work is dropped, and whoever waits for its end finds that out.
        let _ = self.work.send(StoreJob { work, done }).await;
        PendingWrite { done: ended }
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
    fn no_other_work_keeps_a_save_waiting() {
        let runtime = runtime::Builder::new_current_thread()
            .max_blocking_threads(1)
            .build()
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let open = || Store::open(Box::new(Folder::new(folder.path())));
        let (keeper, shelf) = keeper(open().0);
        shelf.on_a_thread().unwrap();
        let (end, ended) = sync_channel::<()>(0);
        runtime.block_on(async {
            let other = spawn_blocking(move || ended.recv());
            let settings = Map::from_iter([("a".to_string(), 1.into())]);
            let mut memory = keeper.begin_memory(Map::new()).await;
            keeper.save_settings(settings.clone()).await.unwrap();
            memory.ended().await.unwrap();
            assert_eq!(open().1.settings.whole(), Some(settings));
            keeper.wipe().await.unwrap();
            assert_eq!(open().1.settings.whole(), None);
            end.send(()).unwrap();
            other.await.unwrap().unwrap();
        });
    }
}
