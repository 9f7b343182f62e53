//! Files too large for the memory, and files that can be started.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read, Seek, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
};

use crate::disk::{Disk, Folder, open_file};

/// A file that is read piece by piece.
pub trait Readable: Read + Seek + Send {}

impl<T: Read + Seek + Send> Readable for T {}

/// A folder with large files in it.
pub trait LargeDisk: Disk {
    /// Adds bytes to the end of a file that only its owner can read; makes the file if it is not there.
    ///
    /// # Errors
    /// They were not all written.
    fn append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()>;

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
    fn append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(self.path().join(name))?
            .write_all(bytes)
    }

    fn open(&mut self, name: &str) -> io::Result<Box<dyn Readable>> {
        Ok(Box::new(open_file(&self.path().join(name))?))
    }

    fn make_startable(&mut self, name: &str) -> io::Result<()> {
        let path = self.path().join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))
    }
}

/// Writes a new file through a disk, piece by piece.
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
