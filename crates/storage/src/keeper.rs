//! Does the file work on a thread of its own, one piece after the other, so that nothing else can keep it waiting.

use std::{io, thread};

use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use crate::Store;

/// Pieces of work that may wait for their turn.
const WORK_DEPTH: usize = 8;

/// Name of the thread.
const THREAD: &str = "store";

/// A way to have things stored; clones have them stored by the same thread.
#[derive(Debug, Clone)]
pub struct Keeper {
    work: mpsc::Sender<Job>,
}

/// The store and the work that waits for it.
pub struct Shelf {
    store: Store,
    work: mpsc::Receiver<Job>,
}

/// What there is to do.
enum Work {
    Settings(Map<String, Value>),
    ReplaceSettings(Map<String, Value>),
    Memory(Map<String, Value>),
    Chain(Map<String, Value>, Vec<u8>),
    Wipe,
}

/// A piece of work, and where its outcome goes.
struct Job {
    work: Work,
    done: oneshot::Sender<io::Result<()>>,
}

/// Work that was begun.
#[derive(Debug)]
pub struct Begun {
    done: oneshot::Receiver<io::Result<()>>,
}

/// Makes a way to have things stored.
pub fn keeper(store: Store) -> (Keeper, Shelf) {
    let (sender, receiver) = mpsc::channel(WORK_DEPTH);
    let shelf = Shelf {
        store,
        work: receiver,
    };
    (Keeper { work: sender }, shelf)
}

impl Shelf {
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

impl Job {
    fn perform(self, store: &mut Store) {
        let outcome = match self.work {
            Work::Settings(settings) => store.save_settings(&settings),
            Work::ReplaceSettings(settings) => store.replace_settings(&settings),
            Work::Memory(memory) => store.save_memory(&memory),
            Work::Chain(about, headers) => store.save_chain(&about, &headers),
            Work::Wipe => store.wipe(),
        };
        // Whoever asked may have gone away.
        let _ = self.done.send(outcome);
    }
}

impl Begun {
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

impl Keeper {
    /// Saves the settings; they are durable when this returns.
    ///
    /// # Errors
    /// The disk did not take them.
    pub async fn save_settings(&self, settings: Map<String, Value>) -> io::Result<()> {
        self.begin(Work::Settings(settings)).await.ended().await
    }

    /// Saves the settings in place of every generation before them; they are durable when this returns.
    ///
    /// # Errors
    /// The disk did not take them.
    pub async fn replace_settings(&self, settings: Map<String, Value>) -> io::Result<()> {
        self.begin(Work::ReplaceSettings(settings))
            .await
            .ended()
            .await
    }

    /// Begins to save the memory.
    pub async fn begin_memory(&self, memory: Map<String, Value>) -> Begun {
        self.begin(Work::Memory(memory)).await
    }

    /// Begins to save the headers of a chain, and what they come after.
    pub async fn begin_chain(&self, about: Map<String, Value>, headers: Vec<u8>) -> Begun {
        self.begin(Work::Chain(about, headers)).await
    }

    /// Removes settings, secrets, memory and headers; they are gone for good when this returns.
    ///
    /// # Errors
    /// Something is still there.
    pub async fn wipe(&self) -> io::Result<()> {
        self.begin(Work::Wipe).await.ended().await
    }

    async fn begin(&self, work: Work) -> Begun {
        let (done, ended) = oneshot::channel();
        // Without its thread the work is dropped, and whoever waits for its end finds that out.
        let _ = self.work.send(Job { work, done }).await;
        Begun { done: ended }
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
