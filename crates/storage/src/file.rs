//! A file with its previous generation, under three names: `<kind>.json`, `.previous` and `.new`.
//!
//! A save writes and syncs `.new`, renames the current file to `.previous`, renames `.new` to the current name, and syncs
//! the folder. After a power cut at any of these steps, the current or the previous file is complete.
//!
//! A *damaged* file could be read, but its checksum does not match; it is moved aside at once.
//! An *unreadable* file may still be intact: it is moved aside only when a save needs its name.

use std::io;

use serde_json::{Map, Value};

use crate::{
    disk::Disk,
    document::{Damage, Document},
};

/// Most files per name that are moved aside.
const ASIDE_MAX: u32 = 5;

/// Attempts to read a file, because an I/O error may be temporary.
const READ_TRIES: u32 = 3;

/// Suffix of a damaged file that was moved aside.
const DAMAGED: &str = "damaged";

/// Suffix of an unreadable file that was moved aside.
const UNREADABLE: &str = "unread";

/// A file with its previous generation.
#[derive(Debug)]
pub struct StateFile {
    kind: &'static str,
    generation: u64,
    current: FileUse,
    previous: FileUse,
}

/// Whether a file may be overwritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileUse {
    /// There is no file, or it was moved aside.
    Free,
    Whole,
    /// The file could not be read.
    Unreadable,
}

#[derive(Debug, Default)]
pub struct LoadResult {
    /// The newest content that could be read.
    pub content: StoredContent,
    /// Warnings for people.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub enum StoredContent {
    /// Nothing was stored, or everything was wiped.
    #[default]
    Nothing,
    Whole(Map<String, Value>),
    /// Something was stored, but none of it can be read.
    Lost,
}

impl StoredContent {
    /// The content, if it is complete.
    pub fn whole(self) -> Option<Map<String, Value>> {
        match self {
            StoredContent::Whole(body) => Some(body),
            StoredContent::Nothing | StoredContent::Lost => None,
        }
    }
}

/// Result of reading one file.
enum FileState {
    Missing,
    Whole(Document),
    Damaged(String),
    Unreadable(String),
}

impl StateFile {
    /// Finds the newest complete file, and moves damaged files aside.
    pub fn open(kind: &'static str, disk: &mut dyn Disk) -> (StateFile, LoadResult) {
        let mut file = StateFile {
            kind,
            generation: 0,
            current: FileUse::Free,
            previous: FileUse::Free,
        };
        let mut found = LoadResult::default();
        let states = [
            (file.current(), file.read(disk, &file.current())),
            (file.previous(), file.read(disk, &file.previous())),
        ];
        let used = match &states {
            [(_, FileState::Whole(_)), _] => "the current one is used",
            [_, (_, FileState::Whole(_))] => "the previous generation is used",
            [_, _] => "defaults are used",
        };
        let mut uses = [FileUse::Free; 2];
        for (file_use, (name, state)) in uses.iter_mut().zip(states) {
            let problem = match state {
                FileState::Missing => continue,
                FileState::Whole(document) => {
                    *file_use = FileUse::Whole;
                    if !matches!(found.content, StoredContent::Whole(_)) {
                        file.generation = document.generation;
                        found.content = StoredContent::Whole(document.body);
                    }
                    continue;
                }
                FileState::Damaged(reason) => {
                    let moved = match move_aside(disk, &name, DAMAGED) {
                        Ok(moved) => format!("it was renamed to {moved}"),
                        Err(error) => format!("it could not be renamed ({error})"),
                    };
                    format!("{name} is not usable ({reason}); {moved}")
                }
                FileState::Unreadable(reason) => {
                    *file_use = FileUse::Unreadable;
                    format!("{name} cannot be read ({reason}); it was not changed")
                }
            };
            found.notes.push(format!("{problem}, {used}"));
            if found.content == StoredContent::Nothing {
                found.content = StoredContent::Lost;
            }
        }
        [file.current, file.previous] = uses;
        if found.content == StoredContent::Nothing && file.was_lost(disk) {
            found.content = StoredContent::Lost;
            let name = file.current();
            let note = format!("{name} is missing, only damaged copies exist; defaults are used");
            found.notes.push(note);
        }
        (file, found)
    }

    pub fn is_current(&self) -> bool {
        self.current == FileUse::Whole
    }

    /// Whether the newest file could not be read. It may be intact, but a save would move it aside.
    pub fn is_unreadable(&self) -> bool {
        match self.current {
            FileUse::Unreadable => true,
            FileUse::Free => self.previous == FileUse::Unreadable,
            FileUse::Whole => false,
        }
    }

    /// Loads the newest complete content without any change to the disk.
    pub fn load(kind: &'static str, disk: &mut dyn Disk) -> StoredContent {
        let file = StateFile {
            kind,
            generation: 0,
            current: FileUse::Free,
            previous: FileUse::Free,
        };
        let mut found = StoredContent::Nothing;
        for name in [file.current(), file.previous()] {
            match file.read(disk, &name) {
                FileState::Whole(document) => return StoredContent::Whole(document.body),
                FileState::Damaged(_) | FileState::Unreadable(_) => found = StoredContent::Lost,
                FileState::Missing => {}
            }
        }
        found
    }

    /// Saves new content.
    ///
    /// # Errors
    /// The write failed; a load still finds the previous content.
    pub fn save(&mut self, disk: &mut dyn Disk, body: &Map<String, Value>) -> io::Result<()> {
        let generation = self.generation + 1;
        let new = format!("{}.new", self.current());
        let prepared = disk
            .write(&new, &Document::encode(self.kind, generation, body))
            .and_then(|()| disk.sync(&new))
            .and_then(|()| self.move_unreadable_aside(disk));
        if let Err(error) = prepared {
            // The disk may be full. If the file cannot be removed, the next save replaces it.
            let _ = disk.remove(&new);
            return Err(error);
        }
        let moved = self.current == FileUse::Whole;
        if moved {
            disk.rename(&self.current(), &self.previous())?;
            (self.current, self.previous) = (FileUse::Free, FileUse::Whole);
        }
        disk.rename(&new, &self.current())
            .and_then(|()| disk.sync_folder())
            .inspect_err(|_| {
                // Restores the previous state, because the save failed. This may fail, too.
                if !moved {
                    let _ = disk.remove(&self.current());
                } else if disk.rename(&self.previous(), &self.current()).is_ok() {
                    (self.current, self.previous) = (FileUse::Whole, FileUse::Free);
                }
            })?;
        self.generation = generation;
        self.current = FileUse::Whole;
        Ok(())
    }

    /// Removes all generations and all files that were moved aside.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn wipe(&mut self, disk: &mut dyn Disk) -> io::Result<()> {
        let current = self.current();
        let older = [format!("{current}.new"), self.previous()]
            .into_iter()
            .chain(self.aside_names());
        (self.current, self.previous) = (FileUse::Free, FileUse::Free);
        let mut removed = Ok(());
        for name in older {
            removed = removed.and(disk.remove(&name));
        }
        // The current file is removed last, so that a power cut does not bring back an older generation.
        removed
            .and(disk.sync_folder())
            .and(disk.remove(&current))
            .and(disk.sync_folder())
    }

    fn current(&self) -> String {
        format!("{}.json", self.kind)
    }

    fn previous(&self) -> String {
        format!("{}.json.previous", self.kind)
    }

    fn read(&self, disk: &mut dyn Disk, name: &str) -> FileState {
        let mut read = disk.read(name);
        for _ in 1..READ_TRIES {
            if read.is_err() {
                read = disk.read(name);
            }
        }
        match read {
            Ok(None) => FileState::Missing,
            Ok(Some(bytes)) => match Document::decode(self.kind, &bytes) {
                Ok(document) => FileState::Whole(document),
                // The file is intact, and the newer program may be installed again.
                Err(damage @ Damage::Newer) => FileState::Unreadable(damage.to_string()),
                Err(damage) => FileState::Damaged(reason(&bytes, damage)),
            },
            Err(error) => FileState::Unreadable(error.to_string()),
        }
    }

    /// Moves unreadable files aside that a save would overwrite.
    fn move_unreadable_aside(&mut self, disk: &mut dyn Disk) -> io::Result<()> {
        if self.previous == FileUse::Unreadable && self.current == FileUse::Whole {
            move_aside(disk, &self.previous(), UNREADABLE)?;
            self.previous = FileUse::Free;
        }
        if self.current == FileUse::Unreadable {
            move_aside(disk, &self.current(), UNREADABLE)?;
            self.current = FileUse::Free;
        }
        Ok(())
    }

    /// Whether a file was moved aside; true if the names cannot be listed.
    fn was_lost(&self, disk: &mut dyn Disk) -> bool {
        let Ok(names) = disk.names() else {
            return true;
        };
        self.aside_names().any(|name| names.contains(&name))
    }

    /// All names of files of this kind that were moved aside.
    fn aside_names(&self) -> impl Iterator<Item = String> + use<> {
        let names = [self.current(), self.previous()];
        names.into_iter().flat_map(|name| {
            [DAMAGED, UNREADABLE].into_iter().flat_map(move |what| {
                let name = name.clone();
                (1..=ASIDE_MAX).map(move |number| aside_name(&name, what, number))
            })
        })
    }
}

fn reason(bytes: &[u8], damage: Damage) -> String {
    if bytes.is_empty() {
        return "it is empty".to_string();
    }
    damage.to_string()
}

fn aside_name(name: &str, what: &str, number: u32) -> String {
    format!("{name}.{what}-{number}")
}

/// Renames a file to a free name with a suffix. Returns the new name.
///
/// # Errors
/// The file cannot be renamed.
fn move_aside(disk: &mut dyn Disk, name: &str, what: &str) -> io::Result<String> {
    let names = disk.names()?;
    let free = (1..ASIDE_MAX).find(|number| !names.contains(&aside_name(name, what, *number)));
    let moved = aside_name(name, what, free.unwrap_or(ASIDE_MAX));
    disk.rename(name, &moved)?;
    disk.sync_folder()?;
    Ok(moved)
}
