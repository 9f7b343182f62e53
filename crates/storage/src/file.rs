//! One file with the generation before it, in three names: `<kind>.json`, `.previous` and `.new`.
//!
//! A save writes and syncs the new file under its own name, moves the current one to the previous name,
//! moves the new one to the current name and syncs the folder.
//! Whichever of these steps a power cut leaves behind, the current or the previous name holds a whole set.
//!
//! A *damaged* file was read, and is not what was written; it is kept aside at once.
//! An *unread* one may be as good as new: it stays where it is until a save needs its name, and is kept aside then.

use std::io;

use serde_json::{Map, Value};

use crate::{
    disk::Disk,
    document::{Damage, Document},
};

/// Files of one kind and name that are kept aside.
pub(crate) const KEPT_MAX: u32 = 5;

/// Attempts to read a file: what fails once may be fine a moment later.
pub(crate) const READ_TRIES: u32 = 3;

/// What is put behind the name of a file that is kept aside.
pub(crate) const DAMAGED: &str = "damaged";
const UNREAD: &str = "unread";

/// One file with the generation before it.
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
    /// Nothing that is worth keeping.
    Free,
    /// A whole set.
    Whole,
    /// Something that could not be read.
    Unread,
}

/// Result of loading.
#[derive(Debug, Default)]
pub struct LoadResult {
    /// The newest set that could be read.
    pub content: StoredContent,
    /// What went wrong, in words for people.
    pub notes: Vec<String>,
}

/// Content of the files of one kind.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum StoredContent {
    /// Nothing was ever stored, or everything was wiped.
    #[default]
    Nothing,
    /// A whole set.
    Whole(Map<String, Value>),
    /// Something was stored, and none of it is to be had.
    Lost,
}

impl StoredContent {
    /// The set, if it is to be had.
    pub fn whole(self) -> Option<Map<String, Value>> {
        match self {
            StoredContent::Whole(body) => Some(body),
            StoredContent::Nothing | StoredContent::Lost => None,
        }
    }
}

/// What reading one file name gave.
enum FileState {
    Missing,
    Whole(Document),
    Damaged(String),
    Unread(String),
}

impl StateFile {
    /// Finds the newest whole set; damaged files are kept aside.
    pub fn open(kind: &'static str, disk: &mut dyn Disk) -> (StateFile, LoadResult) {
        let mut file = StateFile {
            kind,
            generation: 0,
            current: FileUse::Free,
            previous: FileUse::Free,
        };
        let mut found = LoadResult::default();
        let looks = [
            (file.current(), file.look(disk, &file.current())),
            (file.previous(), file.look(disk, &file.previous())),
        ];
        let used = match &looks {
            [(_, FileState::Whole(_)), _] => "the current one is used",
            [_, (_, FileState::Whole(_))] => "the generation before it is used",
            [_, _] => "defaults are used",
        };
        let mut places = [FileUse::Free; 2];
        for (place, (name, look)) in places.iter_mut().zip(looks) {
            let lost = match look {
                FileState::Missing => continue,
                FileState::Whole(document) => {
                    *place = FileUse::Whole;
                    if !matches!(found.content, StoredContent::Whole(_)) {
                        file.generation = document.generation;
                        found.content = StoredContent::Whole(document.body);
                    }
                    continue;
                }
                FileState::Damaged(reason) => {
                    let kept = match keep_aside(disk, &name, DAMAGED) {
                        Ok(kept) => format!("it was kept as {kept}"),
                        Err(error) => format!("it could not be kept aside ({error})"),
                    };
                    format!("{name} is of no use ({reason}); {kept}")
                }
                FileState::Unread(reason) => {
                    *place = FileUse::Unread;
                    format!("{name} cannot be read ({reason}); it stays where it is")
                }
            };
            found.notes.push(format!("{lost}, {used}"));
            if found.content == StoredContent::Nothing {
                found.content = StoredContent::Lost;
            }
        }
        [file.current, file.previous] = places;
        if found.content == StoredContent::Nothing && file.was_lost(disk) {
            found.content = StoredContent::Lost;
            let name = file.current();
            let note = format!("{name} is not there, only what was kept aside; defaults are used");
            found.notes.push(note);
        }
        (file, found)
    }

    /// Tells whether there is a newest set, and it is whole.
    pub fn is_current(&self) -> bool {
        self.current == FileUse::Whole
    }

    /// Tells whether the newest set is one that could not be read: a save would put it aside, and it may be as good as new.
    pub fn is_unread(&self) -> bool {
        match self.current {
            FileUse::Unread => true,
            FileUse::Free => self.previous == FileUse::Unread,
            FileUse::Whole => false,
        }
    }

    /// The newest whole set, found without a change to the disk.
    pub fn look_only(kind: &'static str, disk: &mut dyn Disk) -> StoredContent {
        let file = StateFile {
            kind,
            generation: 0,
            current: FileUse::Free,
            previous: FileUse::Free,
        };
        let mut found = StoredContent::Nothing;
        for name in [file.current(), file.previous()] {
            match file.look(disk, &name) {
                FileState::Whole(document) => return StoredContent::Whole(document.body),
                FileState::Damaged(_) | FileState::Unread(_) => found = StoredContent::Lost,
                FileState::Missing => {}
            }
        }
        found
    }

    /// Saves a set.
    ///
    /// # Errors
    /// The disk did not take it; the set from before is still the one that will be found.
    pub fn save(&mut self, disk: &mut dyn Disk, body: &Map<String, Value>) -> io::Result<()> {
        let document = Document {
            generation: self.generation + 1,
            body: body.clone(),
        };
        let new = format!("{}.new", self.current());
        let prepared = disk
            .write(&new, &document.encode(self.kind))
            .and_then(|()| disk.sync(&new))
            .and_then(|()| self.make_room(disk));
        if let Err(error) = prepared {
            // A full disk needs the room; if it cannot be had, the next save takes the same name.
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
                // The set was refused, so the one before must be found; the disk may refuse that too.
                if !moved {
                    let _ = disk.remove(&self.current());
                } else if disk.rename(&self.previous(), &self.current()).is_ok() {
                    (self.current, self.previous) = (FileUse::Whole, FileUse::Free);
                }
            })?;
        self.generation = document.generation;
        self.current = FileUse::Whole;
        Ok(())
    }

    /// Removes all generations and all that was kept aside.
    ///
    /// # Errors
    /// Something is still there.
    pub fn wipe(&mut self, disk: &mut dyn Disk) -> io::Result<()> {
        let current = self.current();
        let older = [format!("{current}.new"), self.previous()]
            .into_iter()
            .chain(self.all_kept());
        (self.current, self.previous) = (FileUse::Free, FileUse::Free);
        let mut outcome = Ok(());
        for name in older {
            outcome = outcome.and(disk.remove(&name));
        }
        // The current one goes last: a power cut in the middle must not bring an older set back.
        outcome
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

    fn look(&self, disk: &mut dyn Disk, name: &str) -> FileState {
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
                // Nothing is wrong with it, and the newer program may come back.
                Err(damage @ Damage::Newer) => FileState::Unread(damage.to_string()),
                Err(damage) => FileState::Damaged(reason(&bytes, damage)),
            },
            Err(error) => FileState::Unread(error.to_string()),
        }
    }

    /// Keeps aside what could not be read and is in the way of a save.
    fn make_room(&mut self, disk: &mut dyn Disk) -> io::Result<()> {
        if self.previous == FileUse::Unread && self.current == FileUse::Whole {
            keep_aside(disk, &self.previous(), UNREAD)?;
            self.previous = FileUse::Free;
        }
        if self.current == FileUse::Unread {
            keep_aside(disk, &self.current(), UNREAD)?;
            self.current = FileUse::Free;
        }
        Ok(())
    }

    /// Tells whether something was kept aside, or may have been.
    fn was_lost(&self, disk: &mut dyn Disk) -> bool {
        let Ok(names) = disk.names() else {
            return true;
        };
        self.all_kept().any(|kept| names.contains(&kept))
    }

    /// All names under which files of this kind are kept aside.
    fn all_kept(&self) -> impl Iterator<Item = String> + use<> {
        let names = [self.current(), self.previous()];
        names.into_iter().flat_map(|name| {
            [DAMAGED, UNREAD].into_iter().flat_map(move |what| {
                let name = name.clone();
                (1..=KEPT_MAX).map(move |number| kept_name(&name, what, number))
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

pub(crate) fn kept_name(name: &str, what: &str, number: u32) -> String {
    format!("{name}.{what}-{number}")
}

/// Moves a file to a name of its own, and says which.
///
/// # Errors
/// It is still where it was.
pub(crate) fn keep_aside(disk: &mut dyn Disk, name: &str, what: &str) -> io::Result<String> {
    let names = disk.names()?;
    let free = (1..KEPT_MAX).find(|number| !names.contains(&kept_name(name, what, *number)));
    let kept = kept_name(name, what, free.unwrap_or(KEPT_MAX));
    disk.rename(name, &kept)?;
    disk.sync_folder()?;
    Ok(kept)
}
