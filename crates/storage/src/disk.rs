//! The folder the files are in, reduced to the steps whose order matters in a power cut.

use std::{
    fs::{self, File, FileType, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{FileTypeExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rustix::fs::OFlags;

/// Largest file that is read, bytes; far more than any of ours takes.
const FILE_MAX: u64 = 1024 * 1024;

/// A folder of small files.
///
/// Nothing is durable before [`Disk::sync`] for the bytes of a file and [`Disk::sync_folder`] for names.
pub trait Disk: Send + 'static {
    /// Reads a file; none if it is not there.
    ///
    /// # Errors
    /// It is there and cannot be read, or it is no file.
    fn read(&mut self, name: &str) -> io::Result<Option<Vec<u8>>>;

    /// Names of all that is there.
    ///
    /// # Errors
    /// They cannot be listed.
    fn names(&mut self) -> io::Result<Vec<String>>;

    /// Makes or replaces a file that only its owner can read.
    ///
    /// # Errors
    /// It could not be written; what it holds then is anybody's guess.
    fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// Adds bytes to the end of a file.
    ///
    /// # Errors
    /// They were not all written; the file is not made where there is none.
    fn append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()>;

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

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Disk for Folder {
    fn read(&mut self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match read_at_most(&self.path.join(name), FILE_MAX) {
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
        // A file that is there may be readable by others: the mode only counts for new ones.
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
        let file = OpenOptions::new().append(true).open(self.path.join(name));
        file?.write_all(bytes)
    }

    fn sync(&mut self, name: &str) -> io::Result<()> {
        let synced = open_file(&self.path.join(name)).and_then(|file| file.sync_all());
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

/// Opens a file for reading; never waits for the other end of a pipe.
///
/// # Errors
/// It is not there, cannot be read, or is something else than a file; the words say what.
pub fn open_file(path: &Path) -> io::Result<File> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    is_file(file.metadata()?.file_type())?;
    Ok(file)
}

/// Reads a whole file of at most so many bytes.
///
/// # Errors
/// As for [`open_file`], or it is larger; the words say so.
pub fn read_at_most(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than may be, so that a larger file is noticed.
    open_file(path)?
        .take(max.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        let words = format!("it is larger than {max} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, words));
    }
    Ok(bytes)
}

/// Reads a whole text of at most so many bytes.
///
/// # Errors
/// As for [`read_at_most`], or it is no text.
pub fn read_text(path: &Path, max: u64) -> io::Result<String> {
    let bytes = read_at_most(path, max)?;
    String::from_utf8(bytes).map_err(|error| {
        let words = format!(
            "it is no text: byte {} is not UTF-8",
            error.utf8_error().valid_up_to()
        );
        io::Error::new(io::ErrorKind::InvalidData, words)
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
    let words = format!("it is {what}, not a file");
    Err(io::Error::new(io::ErrorKind::InvalidInput, words))
}

/// Puts the name of the file before the words of an error.
pub fn named(name: &str) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{name}: {error}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use std::os::unix::fs::PermissionsExt;

    use rustix::fs::{CWD, FileType as Kind, Mode, mknodat};

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
    fn what_is_no_file_is_named_and_waited_for_by_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let mut disk = Folder::new(folder.path());
        fs::create_dir(folder.path().join("dir")).unwrap();
        mknodat(CWD, folder.path().join("pipe"), Kind::Fifo, Mode::RUSR, 0).unwrap();
        fs::write(
            folder.path().join("huge"),
            vec![b' '; 1 + FILE_MAX as usize],
        )
        .unwrap();
        for (name, words) in [
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
        assert_eq!(names, ["dir", "huge", "pipe"]);
    }

    /// Nothing on this file system can be synced, so whoever says that it was has not asked the kernel.
    #[test]
    fn syncing_asks_the_kernel() {
        let mut disk = Folder::new(Path::new("/proc/self"));
        assert!(disk.read("comm").unwrap().is_some());
        assert!(disk.sync("comm").is_err(), "bytes");
        assert!(disk.sync_folder().is_err(), "names");
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
