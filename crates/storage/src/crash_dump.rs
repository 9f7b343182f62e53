//! The file of the last crash dump, in the data folder.

use std::{io, path::Path};

use crate::disk::{Disk, Folder};

/// The file.
pub const FILE: &str = "coredump.dmp";

/// File of a dump that is not whole yet.
pub const PART: &str = "coredump.dmp.part";

/// Removes the dump, if there is one.
///
/// # Errors
/// It is still there.
pub fn forget(folder: &Path) -> io::Result<()> {
    let mut folder = Folder::new(folder);
    folder
        .remove(PART)
        .and_then(|()| folder.remove(FILE))
        .and_then(|()| folder.sync_folder())
}
