//! Files that survive a power cut: settings, memory, history and block headers, each with its previous generation.
//!
//! `disk` is the folder, `document` the file format, `file` a file with its generations, `large` is for files that are too
//! large for memory, `store_thread` writes on a separate thread, and `lock` keeps a second clock out of the folder.
//!
//! **Invariant:** after a power cut at any moment, each file has the content before or after the save in progress.

pub mod crash_dump;
pub mod disk;
pub mod document;
pub mod file;
pub mod large;
pub mod lock;
pub mod store_thread;

use std::io;

use serde_json::{Map, Value};

use disk::Disk;
use file::{StateFile, StoredContent};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredFile {
    Settings,
    Memory,
    /// The block headers.
    Chain,
    /// The recorded values.
    History,
}

impl StoredFile {
    /// Kind of the file, the start of its name.
    pub const fn kind(self) -> &'static str {
        match self {
            StoredFile::Settings => "settings",
            StoredFile::Memory => "memory",
            StoredFile::Chain => "chain",
            StoredFile::History => "history",
        }
    }
}

/// The file of block headers of versions before `chain.json`. It is not read, because headers are downloaded again.
const OLD_CHAIN: &str = "chain.dat";

pub struct Store {
    disk: Box<dyn Disk>,
    /// In the order of [`StoredFile`].
    files: [StateFile; 4],
}

/// Content of the files at the start.
#[derive(Debug, Default)]
pub struct Loaded {
    pub settings: StoredContent,
    pub memory: StoredContent,
    /// The headers of blocks.
    pub chain: StoredContent,
    pub history: StoredContent,
    /// Warnings for people.
    pub notes: Vec<String>,
}

impl Store {
    /// Opens and reads the files. Moves damaged files aside.
    pub fn open(mut disk: Box<dyn Disk>) -> (Store, Loaded) {
        let mut open = |file: StoredFile| StateFile::open(file.kind(), disk.as_mut());
        let (settings, settings_found) = open(StoredFile::Settings);
        let (memory, memory_found) = open(StoredFile::Memory);
        let (chain, chain_found) = open(StoredFile::Chain);
        let (history, history_found) = open(StoredFile::History);
        let loaded = Loaded {
            notes: [
                settings_found.notes,
                memory_found.notes,
                chain_found.notes,
                history_found.notes,
            ]
            .concat(),
            settings: settings_found.content,
            memory: memory_found.content,
            chain: chain_found.content,
            history: history_found.content,
        };
        // If it stays, it does no harm.
        let _ = disk.remove(OLD_CHAIN);
        let files = [settings, memory, chain, history];
        (Store { disk, files }, loaded)
    }

    /// Saves a file. It is durable when this returns.
    ///
    /// # Errors
    /// The write failed; the previous content is unchanged.
    pub fn save(&mut self, file: StoredFile, body: &Map<String, Value>) -> io::Result<()> {
        self.files[file as usize].save(self.disk.as_mut(), body)
    }

    /// Saves the settings and replaces all previous generations, because these have an older password or none. They are
    /// durable when this returns.
    ///
    /// # Errors
    /// The write failed; the previous settings are unchanged.
    pub fn replace_settings(&mut self, settings: &Map<String, Value>) -> io::Result<()> {
        self.save(StoredFile::Settings, settings)?;
        if let Err(error) = self.save(StoredFile::Settings, settings) {
            // The new settings are durable. The previous generation is used only if they are damaged.
            tracing::warn!(%error, "cannot replace the previous generation of the settings");
        }
        Ok(())
    }

    /// Removes all settings, secrets, memory, headers and history, and all files that were moved aside.
    ///
    /// # Errors
    /// A file cannot be removed; all others are removed.
    pub fn wipe(&mut self) -> io::Result<()> {
        let mut wiped = Ok(());
        for file in self.files.iter_mut().rev() {
            wiped = wiped.and(file.wipe(self.disk.as_mut()));
        }
        wiped
    }
}
