//! Files that survive a power cut: settings and memory, each with its previous generation, and the chain of headers.
//!
//! `disk` is the folder, `document` the file format, `file` a file with its generations, `series` a file of records that
//! grows, `large` is for files that are too large for memory, `store_thread` writes on a separate thread, and `lock` keeps a
//! second clock out of the folder.
//!
//! **Invariant:** after a power cut at any moment, each file has the content before or after the save in progress. A file
//! that grows may have a part of the new records.

pub mod crash_dump;
pub mod disk;
pub mod document;
pub mod file;
pub mod large;
pub mod lock;
pub mod series;
pub mod store_thread;

use std::io;

use serde_json::{Map, Value};

use disk::Disk;
use file::{StateFile, StoredContent};
use series::{Records, Series};

/// Kind of the file with the settings and secrets.
pub const SETTINGS: &str = "settings";

/// Kind of the file with the memory of the device.
pub const MEMORY: &str = "memory";

/// Kind of the file with the block headers.
pub const CHAIN: &str = "chain";

/// Length of a block header, bytes.
pub const HEADER_BYTES: usize = 80;

/// The files of one clock.
pub struct Store {
    disk: Box<dyn Disk>,
    settings: StateFile,
    memory: StateFile,
    chain: Series,
}

/// Content of the files at the start.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The settings.
    pub settings: StoredContent,
    /// The memory.
    pub memory: StoredContent,
    /// The headers of blocks.
    pub chain: Records,
    /// Warnings for people.
    pub notes: Vec<String>,
}

impl Store {
    /// Opens and reads the files. Moves damaged files aside.
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

    /// Saves the settings. They are durable when this returns.
    ///
    /// # Errors
    /// The write failed; the previous settings are unchanged.
    pub fn save_settings(&mut self, settings: &Map<String, Value>) -> io::Result<()> {
        self.settings.save(self.disk.as_mut(), settings)
    }

    /// Saves the settings and replaces all previous generations, because these have an older password or none. They are
    /// durable when this returns.
    ///
    /// # Errors
    /// The write failed; the previous settings are unchanged.
    pub fn replace_settings(&mut self, settings: &Map<String, Value>) -> io::Result<()> {
        self.save_settings(settings)?;
        if let Err(error) = self.save_settings(settings) {
            // The new settings are durable. The previous generation is used only if they are damaged.
            tracing::warn!(%error, "cannot replace the previous generation of the settings");
        }
        Ok(())
    }

    /// Saves the memory. It is durable when this returns.
    ///
    /// # Errors
    /// The write failed; the previous memory is unchanged.
    pub fn save_memory(&mut self, memory: &Map<String, Value>) -> io::Result<()> {
        self.memory.save(self.disk.as_mut(), memory)
    }

    /// Saves the headers of a chain, and a description of their start. They are durable when this returns.
    ///
    /// # Errors
    /// Not all headers were written; the previous headers are unchanged.
    pub fn save_chain(&mut self, about: &Map<String, Value>, headers: &[u8]) -> io::Result<()> {
        self.chain.save(self.disk.as_mut(), about, headers)
    }

    /// Removes all settings, secrets, memory and headers, and all files that were moved aside.
    ///
    /// # Errors
    /// A file cannot be removed; all others are removed.
    pub fn wipe(&mut self) -> io::Result<()> {
        let chain = self.chain.wipe(self.disk.as_mut());
        let memory = self.memory.wipe(self.disk.as_mut());
        let settings = self.settings.wipe(self.disk.as_mut());
        chain.and(memory).and(settings)
    }
}
