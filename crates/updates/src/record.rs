//! The file with the state of the slots, and the integrity check of a slot's program.

use std::io::{self, Read};

use sha2::{Digest, Sha256};
use storage::{
    file::{StateFile, StoredContent},
    large::LargeDisk,
};

use super::slots::{ImageSlot, Slots};

/// Name of the state file.
pub const KIND: &str = "firmware";

/// Read buffer for digests, bytes.
const CHUNK_LEN: usize = 64 * 1024;

pub fn program_file(slot: ImageSlot) -> String {
    format!("firmware-{}", slot.name())
}

/// Failure if the file cannot be read.
const UNREADABLE: &str =
    "the state of the programs in the data folder cannot be read: the installed program runs";

/// Loads the slots and moves a damaged file aside. The second part has warnings for people.
pub fn load_and_repair(disk: &mut dyn LargeDisk) -> (Slots, Vec<String>) {
    let Ok(_lock) = disk.lock(KIND) else {
        // Without the lock a repair could undo a write of another process.
        return load_with_warnings(disk);
    };
    let (mut file, found) = StateFile::open(KIND, disk);
    let mut slots = slots_in(found.content);
    if let Some(damage) = damage(&file, &found.notes) {
        // Stored, because the damaged file was moved aside and later loads do not find it.
        slots.set_failure(&damage);
        // If this fails, the warnings are still in the log.
        let _ = file.save(disk, &slots.to_json());
    }
    (slots, found.notes)
}

/// Loads the slots without changing anything on the disk.
pub fn load(disk: &mut dyn LargeDisk) -> Slots {
    load_with_warnings(disk).0
}

fn load_with_warnings(disk: &mut dyn LargeDisk) -> (Slots, Vec<String>) {
    let found = StateFile::load(KIND, disk);
    let is_lost = found == StoredContent::Lost;
    let mut slots = slots_in(found);
    if is_lost {
        slots.set_failure(UNREADABLE);
    }
    let notes = is_lost.then(|| UNREADABLE.to_string());
    (slots, notes.into_iter().collect())
}

/// Loads the slots, changes and stores them. The change is durable when this returns.
///
/// If the file is damaged, the change starts from the last good state and records the damage as a failure.
///
/// # Errors
/// The file cannot be read or written; the slots are unchanged.
pub fn change(disk: &mut dyn LargeDisk, change: impl FnOnce(&mut Slots)) -> io::Result<Slots> {
    // The supervisor and the device are two processes that both change the file.
    let _lock = disk.lock(KIND)?;
    let (mut file, found) = StateFile::open(KIND, disk);
    if file.is_unreadable() {
        // A save would move the unreadable file aside and lose the state of the programs.
        return Err(io::Error::other(format!(
            "{}: make it readable, or move it away to start without it",
            found.notes.join("; ")
        )));
    }
    let damage = damage(&file, &found.notes);
    let before = slots_in(found.content);
    let mut slots = before.clone();
    change(&mut slots);
    if let (Some(damage), None) = (&damage, &slots.last_failure) {
        slots.set_failure(damage);
    }
    if slots != before {
        file.save(disk, &slots.to_json())?;
    }
    Ok(slots)
}

/// A description of damage for people; `None` if the file is intact or cannot be read now.
fn damage(file: &StateFile, notes: &[String]) -> Option<String> {
    let is_damaged = !notes.is_empty() && !file.is_current() && !file.is_unreadable();
    is_damaged.then(|| format!("state of the programs: {}", notes.join("; ")))
}

/// The stored slots. If they are lost, all slots are empty and the installed program runs.
fn slots_in(content: StoredContent) -> Slots {
    let stored = content.whole();
    stored.as_ref().map(Slots::from_json).unwrap_or_default()
}

/// Whether the file of a slot is unchanged since it was verified.
///
/// # Errors
/// The file cannot be read now, so its state is unknown.
pub fn is_intact(disk: &mut dyn LargeDisk, slots: &Slots, slot: ImageSlot) -> io::Result<bool> {
    let Some(installed) = slots.get(slot) else {
        return Ok(false);
    };
    match digest(disk, &program_file(slot), installed.bytes) {
        Ok(digest) => Ok(digest == Some(installed.digest)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// SHA-256 of a file; `None` if it has another length.
fn digest(disk: &mut dyn LargeDisk, name: &str, bytes: u64) -> io::Result<Option<[u8; 32]>> {
    let mut file = disk.open(name)?;
    let mut hasher = Sha256::new();
    let mut left = bytes;
    let mut chunk = vec![0; CHUNK_LEN];
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
