//! The file in which the slots are kept, and the check whether a slot holds what was put into it.

use std::io::{self, Read};

use sha2::{Digest, Sha256};
use storage::{
    file::{Content, StateFile},
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

/// Reads the slots; gives them with what went wrong, in words for people.
pub fn read(disk: &mut dyn LargeDisk) -> (Slots, Vec<String>) {
    // Without its turn it reads all the same: what is renamed meanwhile is found under the other name.
    let _turn = disk.turn(KIND);
    let (_, found) = StateFile::open(KIND, disk);
    (slots_in(found.content), found.notes)
}

/// Looks at the slots without changing anything on the disk.
pub fn look(disk: &mut dyn LargeDisk) -> Slots {
    slots_in(StateFile::look_only(KIND, disk))
}

/// Changes the slots, as they are on the disk at this moment; the change is durable when this returns.
///
/// # Errors
/// The disk did not take it; the slots are as before.
pub fn change(disk: &mut dyn LargeDisk, change: impl FnOnce(&mut Slots)) -> io::Result<Slots> {
    // Supervisor and device are two processes that both change it.
    let _turn = disk.turn(KIND)?;
    let (mut file, found) = StateFile::open(KIND, disk);
    let before = slots_in(found.content);
    let mut slots = before.clone();
    change(&mut slots);
    if slots != before {
        file.save(disk, &slots.to_json())?;
    }
    Ok(slots)
}

/// What was kept; where that is lost, the installed program runs.
fn slots_in(content: Content) -> Slots {
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
