//! The file of the last crash dump, in the data folder.

use std::{io, path::Path};

use crate::disk::{Disk, Folder};

pub const FILE: &str = "coredump.dmp";

/// Name of the file of an incomplete dump.
pub const PART: &str = "coredump.dmp.part";

/// Removes the dump, if there is one.
///
/// # Errors
/// The file cannot be removed.
pub fn forget(folder: &Path) -> io::Result<()> {
    let mut folder = Folder::new(folder);
    folder
        .remove(PART)
        .and_then(|()| folder.remove(FILE))
        .and_then(|()| folder.sync_folder())
}
