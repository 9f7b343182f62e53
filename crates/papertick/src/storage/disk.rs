//! The folder the files are in, reduced to the steps whose order matters in a power cut.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// A folder of small files.
///
/// Nothing is durable before [`Disk::sync`] for the bytes of a file and [`Disk::sync_folder`] for names.
pub trait Disk: Send + 'static {
    /// Reads a file; none if it is not there.
    ///
    /// # Errors
    /// It is there and cannot be read.
    fn read(&mut self, name: &str) -> io::Result<Option<Vec<u8>>>;

    /// Makes or replaces a file that only its owner can read.
    ///
    /// # Errors
    /// It could not be written; what it holds then is anybody's guess.
    fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// Makes the bytes of a file durable.
    ///
    /// # Errors
    /// They may not be durable.
    fn sync(&mut self, name: &str) -> io::Result<()>;

    /// Gives a file another name, in place of any file of that name.
    ///
    /// # Errors
    /// Both names are as before.
    fn rename(&mut self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file, if it is there.
    ///
    /// # Errors
    /// It is still there.
    fn remove(&mut self, name: &str) -> io::Result<()>;

    /// Makes names durable.
    ///
    /// # Errors
    /// They may not be durable.
    fn sync_folder(&mut self) -> io::Result<()>;
}

/// A folder of the host.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Uses a folder, which must exist.
    pub fn new(path: &Path) -> Folder {
        Folder {
            path: path.to_path_buf(),
        }
    }
}

impl Disk for Folder {
    fn read(&mut self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.path.join(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path.join(name);
        // A file that is there may be readable by others: the mode only counts for new ones.
        self.remove(name)?;
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        file.write_all(bytes)
    }

    fn sync(&mut self, name: &str) -> io::Result<()> {
        File::open(self.path.join(name))?.sync_all()
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.path.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn files_are_their_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mut disk = Folder::new(folder.path());
        let path = folder.path().join("a");
        fs::write(&path, "open to all").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        disk.write("a", b"secret").unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(disk.read("a").unwrap().unwrap(), b"secret");
    }

    #[test]
    fn a_file_that_is_not_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut disk = Folder::new(folder.path());
        assert_eq!(disk.read("a").unwrap(), None);
        disk.remove("a").unwrap();
        assert!(disk.sync("a").is_err());
        assert!(disk.rename("a", "b").is_err());
        disk.sync_folder().unwrap();
    }
}
