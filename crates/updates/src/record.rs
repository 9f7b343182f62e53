//! The file in which the slots are kept, and the check whether a slot holds what was put into it.

use std::io::{self, Read};

use sha2::{Digest, Sha256};
use storage::{
    file::{StateFile, StoredContent},
    large::LargeDisk,
};

use super::slots::{ImageSlot, Slots};

/// Kind of the file.
pub const KIND: &str = "firmware";

/// Bytes that are looked at at once.
const CHUNK: usize = 64 * 1024;

/// Name of the file of a slot.
pub fn program_file(slot: ImageSlot) -> String {
    format!("firmware-{}", slot.word())
}

/// What of the programs is told where it cannot be read.
const UNREADABLE: &str =
    "what is known of the programs in the data folder cannot be read: the installed one runs";

/// Reads the slots; gives them with what went wrong, in words for people.
pub fn read(disk: &mut dyn LargeDisk) -> (Slots, Vec<String>) {
    let Ok(_turn) = disk.turn(KIND) else {
        // Without its turn it only looks, for it could put aside or undo what somebody else writes at this moment.
        return looked(disk);
    };
    let (mut file, found) = StateFile::open(KIND, disk);
    let mut slots = slots_in(found.content);
    if let Some(damage) = damage(&file, &found.notes) {
        // What was damaged has been put aside, so nobody else will hear of it.
        slots.note(&damage);
        // On a disk that does not take it the notes are in the log.
        let _ = file.save(disk, &slots.to_json());
    }
    (slots, found.notes)
}

/// Looks at the slots without changing anything on the disk.
pub fn look(disk: &mut dyn LargeDisk) -> Slots {
    looked(disk).0
}

/// The same with what went wrong; what is renamed meanwhile is found under the other name.
fn looked(disk: &mut dyn LargeDisk) -> (Slots, Vec<String>) {
    let found = StateFile::look_only(KIND, disk);
    let is_lost = found == StoredContent::Lost;
    let mut slots = slots_in(found);
    if is_lost {
        slots.note(UNREADABLE);
    }
    let notes = is_lost.then(|| UNREADABLE.to_string());
    (slots, notes.into_iter().collect())
}

/// Changes the slots, as they are on the disk at this moment; the change is durable when this returns.
///
/// Where what is on the disk is damaged, the change begins with what can be had, and says so in the slots.
///
/// # Errors
/// The disk did not take it, or what is on it cannot be read; the slots are as before.
pub fn change(disk: &mut dyn LargeDisk, change: impl FnOnce(&mut Slots)) -> io::Result<Slots> {
    // Supervisor and device are two processes that both change it.
    let _turn = disk.turn(KIND)?;
    let (mut file, found) = StateFile::open(KIND, disk);
    if file.is_unread() {
        // A save would put it aside, with all that is known of programs that work.
        return Err(io::Error::other(format!(
            "{}: make it readable, or move it away to begin anew",
            found.notes.join("; ")
        )));
    }
    let damage = damage(&file, &found.notes);
    let before = slots_in(found.content);
    let mut slots = before.clone();
    change(&mut slots);
    if let (Some(damage), None) = (&damage, &slots.last_failure) {
        slots.note(damage);
    }
    if slots != before {
        file.save(disk, &slots.to_json())?;
    }
    Ok(slots)
}

/// What is lost because it was damaged, in words for people; none if all is there, or is unread for now.
fn damage(file: &StateFile, notes: &[String]) -> Option<String> {
    let is_damaged = !notes.is_empty() && !file.is_current() && !file.is_unread();
    let told = || format!("what was known of the programs: {}", notes.join("; "));
    is_damaged.then(told)
}

/// What was kept; where that is lost, the installed program runs.
fn slots_in(content: StoredContent) -> Slots {
    let stored = content.whole();
    stored.as_ref().map(Slots::from_json).unwrap_or_default()
}

/// Tells whether a slot holds, byte by byte, the program that was put into it.
///
/// # Errors
/// It cannot be read at the moment, which says nothing of what is in it.
pub fn is_whole(disk: &mut dyn LargeDisk, slots: &Slots, slot: ImageSlot) -> io::Result<bool> {
    let Some(installed) = slots.get(slot) else {
        return Ok(false);
    };
    match digest(disk, &program_file(slot), installed.bytes) {
        Ok(digest) => Ok(digest == Some(installed.digest)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// SHA-256 of a file; none if it has another length.
fn digest(disk: &mut dyn LargeDisk, name: &str, bytes: u64) -> io::Result<Option<[u8; 32]>> {
    let mut file = disk.open(name)?;
    let mut hasher = Sha256::new();
    let mut left = bytes;
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match file.read(&mut chunk) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if read == 0 {
            break;
        }
        let Some(rest) = left.checked_sub(read as u64) else {
            return Ok(None);
        };
        left = rest;
        hasher.update(&chunk[..read]);
    }
    Ok((left == 0).then(|| hasher.finalize().into()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use std::fs;

    use storage::disk::Folder;

    use super::*;

    #[test]
    fn who_does_not_get_a_turn_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let names = || {
            let entries = fs::read_dir(folder.path()).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let file = folder.path().join(format!("{KIND}.json"));
        let in_the_way = folder.path().join(format!("{KIND}.lock"));
        fs::write(&file, "rubbish").unwrap();
        fs::create_dir(&in_the_way).unwrap();
        let before = names();
        let (slots, notes) = read(&mut Folder::new(folder.path()));
        assert_eq!(slots.last_failure.as_deref(), Some(UNREADABLE));
        assert_eq!(notes, [UNREADABLE]);
        assert_eq!(names(), before);
        assert_eq!(fs::read_to_string(&file).unwrap(), "rubbish");
        // With its turn it puts it aside, and notes that.
        fs::remove_dir(&in_the_way).unwrap();
        let (slots, _) = read(&mut Folder::new(folder.path()));
        assert_ne!(fs::read_to_string(&file).unwrap(), "rubbish");
        assert_eq!(look(&mut Folder::new(folder.path())), slots);
    }
}
