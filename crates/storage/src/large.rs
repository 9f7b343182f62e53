//! Files too large for the memory, and files that can be started.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
};

use rustix::fs::{FlockOperation, flock};

use crate::disk::{Disk, Folder, open_file};

/// A file that is read piece by piece.
pub trait Readable: Read + Seek + Send {}

impl<T: Read + Seek + Send> Readable for T {}

/// Lock on a file that another process may write. Dropping it unlocks.
#[derive(Debug, Default)]
pub struct WriteLock {
    /// None where there is no other process.
    _lock: Option<File>,
}

/// A folder with large files in it.
pub trait LargeDisk: Disk {
    /// Waits until no other process changes a file, and keeps the others waiting until what it gives is dropped.
    ///
    /// # Errors
    /// There is no telling.
    fn turn(&mut self, name: &str) -> io::Result<WriteLock>;

    /// Opens a file for reading.
    ///
    /// # Errors
    /// It is not there or cannot be read.
    fn open(&mut self, name: &str) -> io::Result<Box<dyn Readable>>;

    /// Lets its owner start a file.
    ///
    /// # Errors
    /// It may not be startable.
    fn make_startable(&mut self, name: &str) -> io::Result<()>;
}

impl LargeDisk for Folder {
    fn turn(&mut self, name: &str) -> io::Result<WriteLock> {
        let path = self.path().join(format!("{name}.lock"));
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)?;
        flock(&file, FlockOperation::LockExclusive)?;
        Ok(WriteLock { _lock: Some(file) })
    }

    fn open(&mut self, name: &str) -> io::Result<Box<dyn Readable>> {
        Ok(Box::new(open_file(&self.path().join(name))?))
    }

    fn make_startable(&mut self, name: &str) -> io::Result<()> {
        let path = self.path().join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))
    }
}

/// Adds to a file through a disk, piece by piece.
pub struct Appending<'a> {
    /// Where the file is.
    pub disk: &'a mut dyn LargeDisk,
    /// Name of the file.
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
