//! What survives a power cut: settings and memory, each one file with the generation before it, and the chain of headers.
//!
//! `disk` is the folder, `document` the form of a file, `file` one file with its generations,
//! `series` is a file that grows, `large` is for files too large for the memory,
//! `keeper` does the work on a thread of its own, `lock` keeps a second clock out of the folder.
//!
//! **Invariant:** whatever moment the power goes away, each file reads as it was before or after the save that ran; of one
//! that grows there may be a part of what was added.

pub mod crash_dump;
pub mod disk;
pub mod document;
pub mod file;
pub mod keeper;
pub mod large;
pub mod lock;
pub mod series;

use std::io;

use serde_json::{Map, Value};

use disk::Disk;
use file::{StateFile, StoredContent};
use series::{Records, Series};

/// The settings and secrets.
pub const SETTINGS: &str = "settings";

/// What the device remembers and the owner does not set.
pub const MEMORY: &str = "memory";

/// The headers of blocks.
pub const CHAIN: &str = "chain";

/// Bytes of a header of a block.
pub const HEADER_BYTES: usize = 80;

/// The files of one clock.
pub struct Store {
    disk: Box<dyn Disk>,
    settings: StateFile,
    memory: StateFile,
    chain: Series,
}

/// What was found at the start.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The settings.
    pub settings: StoredContent,
    /// The memory.
    pub memory: StoredContent,
    /// The headers of blocks.
    pub chain: Records,
    /// What went wrong, in words for people.
    pub notes: Vec<String>,
}

impl Store {
    /// Opens the files and reads them; damaged ones are kept aside.
    pub fn open(mut disk: Box<dyn Disk>) -> (Store, Loaded) {
        let (settings, settings_found) = StateFile::open(SETTINGS, disk.as_mut());
        let (memory, memory_found) = StateFile::open(MEMORY, disk.as_mut());
        let (chain, records, chain_notes) = Series::open(CHAIN, HEADER_BYTES, disk.as_mut());
        let notes = [settings_found.notes, memory_found.notes, chain_notes].concat();
        let store = Store {
            disk,
            settings,
            memory,
            chain,
        };
        let loaded = Loaded {
            settings: settings_found.content,
            memory: memory_found.content,
            chain: records,
            notes,
        };
        (store, loaded)
    }

    /// Saves the settings; they are durable when this returns.
    ///
    /// # Errors
    /// The disk did not take them; the ones from before are still there.
    pub fn save_settings(&mut self, settings: &Map<String, Value>) -> io::Result<()> {
        self.settings.save(self.disk.as_mut(), settings)
    }

    /// Saves the settings in place of every generation before them, for those are less safe: with an older password,
    /// or with none. They are durable when this returns.
    ///
    /// # Errors
    /// The disk did not take them; the ones from before are still there.
    pub fn replace_settings(&mut self, settings: &Map<String, Value>) -> io::Result<()> {
        self.save_settings(settings)?;
        if let Err(error) = self.save_settings(settings) {
            // What was asked for is durable; a generation is only of use if the newest one is damaged.
            tracing::warn!(%error, "an older generation of the settings is still there");
        }
        Ok(())
    }

    /// Saves the memory; it is durable when this returns.
    ///
    /// # Errors
    /// The disk did not take it; the one from before is still there.
    pub fn save_memory(&mut self, memory: &Map<String, Value>) -> io::Result<()> {
        self.memory.save(self.disk.as_mut(), memory)
    }

    /// Saves the headers of a chain, one after the other, and what they come after; durable when this returns.
    ///
    /// # Errors
    /// The disk did not take them all; those from before are still there.
    pub fn save_chain(&mut self, about: &Map<String, Value>, headers: &[u8]) -> io::Result<()> {
        self.chain.save(self.disk.as_mut(), about, headers)
    }

    /// Removes all settings, secrets, memory and headers, and all of them that was kept aside.
    ///
    /// # Errors
    /// The disk did not let go of something; what could be removed is gone.
    pub fn wipe(&mut self) -> io::Result<()> {
        let chain = self.chain.wipe(self.disk.as_mut());
        let memory = self.memory.wipe(self.disk.as_mut());
        let settings = self.settings.wipe(self.disk.as_mut());
        chain.and(memory).and(settings)
    }
}
