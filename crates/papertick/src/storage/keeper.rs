//! Does the file work of the main loop on a blocking thread, one piece after the other.

use std::io;

use serde_json::{Map, Value};
use tokio::task::{JoinHandle, spawn_blocking};

use super::Store;

/// Owns the store between pieces of work; there is never more than one.
pub struct Keeper {
    place: Place,
}

enum Place {
    Here(Box<Store>),
    AtWork(JoinHandle<(Box<Store>, io::Result<()>)>),
    /// Between the two.
    Moving,
}

impl Keeper {
    /// Takes the store.
    pub fn new(store: Store) -> Keeper {
        Keeper {
            place: Place::Here(Box::new(store)),
        }
    }

    /// Saves the settings; they are durable when this returns.
    ///
    /// # Errors
    /// The disk did not take them.
    pub async fn save_settings(&mut self, settings: Map<String, Value>) -> io::Result<()> {
        self.begin(move |store| store.save_settings(&settings))
            .await;
        self.ended().await
    }

    /// Begins to save the memory, after waiting for the work before it.
    pub async fn begin_memory(&mut self, memory: Map<String, Value>) {
        self.begin(move |store| store.save_memory(&memory)).await;
    }

    /// Removes settings, secrets and memory.
    ///
    /// # Errors
    /// Something is still there.
    pub async fn wipe(&mut self) -> io::Result<()> {
        self.begin(Store::wipe).await;
        self.ended().await
    }

    /// Waits until the work that was begun has ended.
    ///
    /// # Errors
    /// That of the work.
    pub async fn ended(&mut self) -> io::Result<()> {
        let Place::AtWork(work) = &mut self.place else {
            return Ok(());
        };
        match work.await {
            Ok((store, outcome)) => {
                self.place = Place::Here(store);
                outcome
            }
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => Err(io::Error::other(error)),
            },
        }
    }

    async fn begin(&mut self, work: impl FnOnce(&mut Store) -> io::Result<()> + Send + 'static) {
        if let Err(error) = self.ended().await {
            tracing::warn!(%error, "memory was not saved");
        }
        if let Place::Here(mut store) = std::mem::replace(&mut self.place, Place::Moving) {
            self.place = Place::AtWork(spawn_blocking(move || {
                let outcome = work(&mut store);
                (store, outcome)
            }));
        }
    }
}
