//! A folder of files, reduced to the operations whose order matters in a power cut.

use std::{
    fs::{self, File, FileType, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{FileTypeExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rustix::{fs::OFlags, io::Errno};

/// Largest file that is read, bytes; far larger than all files of the clock.
const FILE_MAX: u64 = 1024 * 1024;

/// A folder of small files.
///
/// The content of a file is durable after [`Disk::sync`], and names after [`Disk::sync_folder`].
pub trait Disk: Send + 'static {
    /// Reads a file; `None` if it does not exist.
    ///
    /// # Errors
    /// The file cannot be read, or it is not a regular file.
    fn read(&mut self, name: &str) -> io::Result<Option<Vec<u8>>>;

    /// Names of all files in the folder.
    ///
    /// # Errors
    /// The folder cannot be listed.
    fn names(&mut self) -> io::Result<Vec<String>>;

    /// Creates or replaces a file that only its owner can read.
    ///
    /// # Errors
    /// The write failed; the content of the file is undefined.
    fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// Appends bytes to an existing file.
    ///
    /// # Errors
    /// The file does not exist, or not all bytes were written.
    fn append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// Makes the content of a file durable.
    ///
    /// # Errors
    /// The content may not be durable.
    fn sync(&mut self, name: &str) -> io::Result<()>;

    /// Renames a file; replaces a file with the new name.
    ///
    /// # Errors
    /// Nothing was renamed.
    fn rename(&mut self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file. Succeeds if it does not exist.
    ///
    /// # Errors
    /// The file cannot be removed.
    fn remove(&mut self, name: &str) -> io::Result<()>;

    /// Makes names durable.
    ///
    /// # Errors
    /// The names may not be durable.
    fn sync_folder(&mut self) -> io::Result<()>;

    /// Creates or replaces a file and makes it durable. A power cut meanwhile leaves the old file or the new one.
    ///
    /// # Errors
    /// The old file is still there, or the new one may not be durable.
    fn store(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let new = format!("{name}.new");
        self.write(&new, bytes)?;
        // Before the rename: otherwise the name could be durable without the bytes.
        self.sync(&new)?;
        self.rename(&new, name)?;
        self.sync_folder()
    }
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

    /// Opens a file for reading.
    ///
    /// # Errors
    /// The file does not exist, cannot be read, or is not a regular file.
    pub fn file(&self, name: &str) -> io::Result<File> {
        self.file_with(name, OpenOptions::new().read(true))
    }

    /// Opens a file, but no link: the owner of the folder may be another user, with fewer rights than this process.
    pub(crate) fn file_with(&self, name: &str, options: &mut OpenOptions) -> io::Result<File> {
        open(&self.path.join(name), options, OFlags::NOFOLLOW)
    }
}

impl Disk for Folder {
    fn read(&mut self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match self.file(name).and_then(|file| read_all(file, FILE_MAX)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn names(&mut self) -> io::Result<Vec<String>> {
        fs::read_dir(&self.path)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect()
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path.join(name);
        // An existing file may be readable by others, and the mode applies only to new files.
        self.remove(name)?;
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .and_then(|mut file| file.write_all(bytes));
        written.map_err(named(name))
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.file_with(name, OpenOptions::new().append(true))?
            .write_all(bytes)
    }

    fn sync(&mut self, name: &str) -> io::Result<()> {
        let synced = self.file(name).and_then(|file| file.sync_all());
        synced.map_err(named(name))
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to)).map_err(named(to))
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.path.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(named(name)(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }
}

/// Opens a file outside of the data folder for reading, also through a link; never blocks on a named pipe.
///
/// # Errors
/// The file does not exist, cannot be read, or is not a regular file.
pub fn open_file(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().read(true), OFlags::empty())
}

fn open(path: &Path, options: &mut OpenOptions, flags: OFlags) -> io::Result<File> {
    let flags = (flags | OFlags::NONBLOCK).bits();
    let opened = options
        .custom_flags(i32::try_from(flags).unwrap_or_default())
        .open(path);
    let file = opened.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::LOOP) => io::Error::new(error.kind(), "it is a link, not a file"),
        _ => error,
    })?;
    is_file(file.metadata()?.file_type())?;
    Ok(file)
}

/// Reads a whole file of at most `max` bytes.
///
/// # Errors
/// As for [`open_file`], or the file is larger.
pub fn read_at_most(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    read_all(open_file(path)?, max)
}

fn read_all(file: File, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One more byte, to detect a larger file.
    file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        let message = format!("it is larger than {max} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// Reads a whole text file of at most `max` bytes.
///
/// # Errors
/// As for [`read_at_most`], or the content is not UTF-8.
pub fn read_text(path: &Path, max: u64) -> io::Result<String> {
    let bytes = read_at_most(path, max)?;
    String::from_utf8(bytes).map_err(|error| {
        let message = format!(
            "it is not a text: byte {} is not UTF-8",
            error.utf8_error().valid_up_to()
        );
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}

fn is_file(kind: FileType) -> io::Result<()> {
    let what = if kind.is_file() {
        return Ok(());
    } else if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a named pipe"
    } else {
        "a device or socket"
    };
    let message = format!("it is {what}, not a file");
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

/// Prepends the name of the file to an error message.
pub fn named(name: &str) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{name}: {error}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use std::os::unix::fs::PermissionsExt;

    use rustix::fs::{CWD, FileType as Kind, Mode, mknodat};

    use super::*;
    use crate::large::LargeDisk;

    #[test]
    fn only_the_owner_can_read_files() {
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
    fn other_file_types_are_errors_and_do_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let mut disk = Folder::new(folder.path());
        fs::create_dir(folder.path().join("dir")).unwrap();
        mknodat(CWD, folder.path().join("pipe"), Kind::Fifo, Mode::RUSR, 0).unwrap();
        fs::write(
            folder.path().join("huge"),
            vec![b' '; 1 + FILE_MAX as usize],
        )
        .unwrap();
        std::os::unix::fs::symlink("huge", folder.path().join("link")).unwrap();
        for (name, words) in [
            ("link", "it is a link, not a file"),
            ("dir", "it is a folder, not a file"),
            ("pipe", "it is a named pipe, not a file"),
            ("huge", "it is larger than 1048576 bytes"),
        ] {
            assert_eq!(disk.read(name).unwrap_err().to_string(), words);
        }
        let unwritten = disk.write("dir", b"").unwrap_err().to_string();
        assert!(unwritten.starts_with("dir: "), "{unwritten}");
        let mut names = disk.names().unwrap();
        names.sort();
        assert_eq!(names, ["dir", "huge", "link", "pipe"]);
        assert!(disk.append("link", b"x").is_err());
        assert!(disk.make_executable("link").is_err());
    }

    /// Files in `/proc` cannot be synced, so a success would mean that the kernel was not called.
    #[test]
    fn syncing_calls_the_kernel() {
        let mut disk = Folder::new(Path::new("/proc/self"));
        assert!(disk.read("comm").unwrap().is_some());
        assert!(disk.sync("comm").is_err(), "bytes");
        assert!(disk.sync_folder().is_err(), "names");
    }

    #[test]
    fn a_missing_file_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut disk = Folder::new(folder.path());
        assert_eq!(disk.read("a").unwrap(), None);
        disk.remove("a").unwrap();
        assert!(disk.sync("a").is_err());
        assert!(disk.rename("a", "b").is_err());
        disk.sync_folder().unwrap();
    }
}
