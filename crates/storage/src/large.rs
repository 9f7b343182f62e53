//! Files that are too large for memory, and executable files.

use std::{
    fs::{File, Permissions},
    io::{self, Read, Seek, Write},
    os::unix::fs::PermissionsExt,
};

use rustix::fs::{FlockOperation, flock};

use crate::{
    disk::{Disk, Folder},
    lock::open_or_create,
};

/// A file that is read in parts.
pub trait Readable: Read + Seek + Send {}

impl<T: Read + Seek + Send> Readable for T {}

/// Lock on a file that another process may write. Dropping it unlocks.
#[derive(Debug, Default)]
pub struct WriteLock {
    /// `None` on a disk without other processes.
    _lock: Option<File>,
}

/// A folder with large files.
pub trait LargeDisk: Disk {
    /// Waits for the exclusive lock on a file, which other processes use, too.
    ///
    /// # Errors
    /// The file cannot be locked.
    fn lock(&mut self, name: &str) -> io::Result<WriteLock>;

    /// Opens a file for reading.
    ///
    /// # Errors
    /// The file does not exist or cannot be read.
    fn open(&mut self, name: &str) -> io::Result<Box<dyn Readable>>;

    /// Makes a file executable for its owner.
    ///
    /// # Errors
    /// The file may not be executable.
    fn make_executable(&mut self, name: &str) -> io::Result<()>;
}

impl LargeDisk for Folder {
    fn lock(&mut self, name: &str) -> io::Result<WriteLock> {
        let file = open_or_create(self, &format!("{name}.lock"))?;
        flock(&file, FlockOperation::LockExclusive)?;
        Ok(WriteLock { _lock: Some(file) })
    }

    fn open(&mut self, name: &str) -> io::Result<Box<dyn Readable>> {
        Ok(Box::new(self.file(name)?))
    }

    fn make_executable(&mut self, name: &str) -> io::Result<()> {
        self.file(name)?
            .set_permissions(Permissions::from_mode(0o700))
    }
}

/// A writer that appends to a file of a disk.
pub struct Appending<'a> {
    pub disk: &'a mut dyn LargeDisk,
    pub name: &'a str,
}

impl Write for Appending<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.append(self.name, bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
