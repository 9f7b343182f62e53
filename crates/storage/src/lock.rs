//! The lock that keeps a second clock out of a data folder.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io::{self, Read, Write},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::{
    fs::{FlockOperation, flock},
    io::retry_on_intr,
};

use crate::disk::{Disk, Folder, named};

/// Name of the file that is written and removed to test whether the folder is writable.
const PROBE: &str = "probe";

/// Longest process ID in the lock file, bytes.
const PID_LEN_MAX: u64 = 20;

/// The lock on a data folder. The kernel releases it when the process ends.
#[derive(Debug)]
pub struct Lock {
    file: File,
    unwritable: Option<io::Error>,
}

impl Lock {
    /// Why the folder is not writable; `None` if it is.
    pub fn unwritable(&self) -> Option<&io::Error> {
        self.unwritable.as_ref()
    }
}

impl AsFd for Lock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// The process that locks the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// The supervisor, as long as the clock runs.
    Clock,
    /// The device process, so that a new one cannot write before the old one is gone.
    Device,
}

/// Why a data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Another clock uses it.
    #[error("another clock{} uses {}: stop it, or choose another folder with --data-dir", .pid.map(|pid| format!(" (process {pid})")).unwrap_or_default(), .path.display())]
    Taken {
        /// The folder.
        path: PathBuf,
        /// Process ID of the other clock, if known.
        pid: Option<u32>,
    },
    /// The folder cannot be created or written for the first time.
    #[error("the data folder {} cannot be used ({error}): make it writable, or choose another with --data-dir", .path.display())]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// The I/O error.
        error: io::Error,
    },
}

/// Creates the folder if it does not exist, and locks it.
///
/// A folder with a lock file is used even if it is no longer writable, because a clock that cannot store anything still
/// shows the time.
///
/// # Errors
/// The folder cannot be created or written for the first time, or another clock uses it.
pub fn lock(path: &Path, holder: Holder) -> Result<Lock, FolderError> {
    let unusable = |error: io::Error| FolderError::Unusable {
        path: path.to_path_buf(),
        error,
    };
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(unusable)?;
    let name = match holder {
        Holder::Clock => "lock",
        Holder::Device => "lock.device",
    };
    let mut file = open(&Folder::new(path), name)
        .map_err(named(name))
        .map_err(unusable)?;
    match retry_on_intr(|| flock(&file, FlockOperation::NonBlockingLockExclusive)) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => {
            let mut text = String::new();
            // The process ID is only information for people.
            let _ = (&mut file).take(PID_LEN_MAX).read_to_string(&mut text);
            return Err(FolderError::Taken {
                path: path.to_path_buf(),
                pid: text.trim().parse().ok(),
            });
        }
        Err(error) => return Err(unusable(error.into())),
    }
    // A file with a second name may be a foreign one.
    if file.metadata().is_ok_and(|facts| facts.nlink() == 1) {
        // Not an error if the disk is full, because the process ID is only information for people.
        let _ = file
            .set_len(0)
            .and_then(|()| writeln!(file, "{}", std::process::id()));
    }
    Ok(Lock {
        file,
        unwritable: probe(path).err(),
    })
}

/// Opens or creates a lock file; opens it read-only if it is not writable.
fn open(folder: &Folder, name: &str) -> io::Result<File> {
    let opened = open_or_create(folder, name);
    opened.or_else(|error| folder.file(name).map_err(|_| error))
}

/// Opens a lock file with its content, or creates it.
pub(crate) fn open_or_create(folder: &Folder, name: &str) -> io::Result<File> {
    folder.file_with(
        name,
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600),
    )
}

/// Locks the folder, and waits for a process that is ending. A killed process needs a moment to end.
///
/// # Errors
/// As for [`lock`], after the wait.
pub fn lock_patiently(
    path: &Path,
    holder: Holder,
    patience: Duration,
) -> Result<Lock, FolderError> {
    const STEP: Duration = Duration::from_millis(20);
    let mut waited = Duration::ZERO;
    loop {
        match lock(path, holder) {
            Err(FolderError::Taken { .. }) if waited < patience => {
                std::thread::sleep(STEP);
                waited += STEP;
            }
            outcome => return outcome,
        }
    }
}

/// Checks that files can be written in the folder.
fn probe(path: &Path) -> io::Result<()> {
    let mut folder = Folder::new(path);
    let written = folder.write(PROBE, b"probe");
    let removed = folder.remove(PROBE);
    written.and(removed)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use std::{
        fs,
        sync::atomic::{AtomicBool, Ordering},
    };

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn a_folder_has_one_clock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/deep");
        let first = lock(&path, Holder::Clock).unwrap();
        let second = lock(&path, Holder::Clock).unwrap_err();
        let text = second.to_string();
        assert!(matches!(second, FolderError::Taken { .. }));
        assert!(text.contains(&std::process::id().to_string()), "{text}");
        assert!(text.contains("--data-dir"), "{text}");
        let device = lock(&path, Holder::Device).unwrap();
        drop((first, device));
        lock(&path, Holder::Clock).unwrap();
    }

    #[test]
    fn the_lock_waits_for_a_process_that_is_ending() {
        let folder = tempfile::tempdir().unwrap();
        for holder in [Holder::Clock, Holder::Device] {
            let first = lock(folder.path(), holder).unwrap();
            let refused = lock_patiently(folder.path(), holder, Duration::from_millis(50));
            assert!(matches!(refused, Err(FolderError::Taken { .. })));
            let is_free = AtomicBool::new(false);
            let ending = |held: Lock| {
                std::thread::sleep(Duration::from_millis(50));
                is_free.store(true, Ordering::SeqCst);
                drop(held);
            };
            std::thread::scope(|scope| {
                scope.spawn(|| ending(first));
                lock_patiently(folder.path(), holder, Duration::from_secs(10)).unwrap();
                assert!(
                    is_free.load(Ordering::SeqCst),
                    "the lock was taken before the other process ended"
                );
            });
        }
    }

    #[test]
    fn other_file_types_are_errors_and_do_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let lock_file = folder.path().join("lock");
        mknodat(CWD, &lock_file, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let error = lock(folder.path(), Holder::Clock).unwrap_err().to_string();
        assert!(error.contains("lock: it is a named pipe"), "{error}");
        fs::remove_file(&lock_file).unwrap();
        fs::create_dir(&lock_file).unwrap();
        let error = lock(folder.path(), Holder::Clock).unwrap_err().to_string();
        assert!(error.contains("lock: "), "{error}");

        // A folder that is not writable is used, but reported.
        fs::create_dir(folder.path().join(PROBE)).unwrap();
        let lock = lock(folder.path(), Holder::Device).unwrap();
        let error = lock.unwritable().unwrap().to_string();
        assert!(error.starts_with("probe: "), "{error}");
    }

    #[test]
    fn files_outside_of_the_folder_stay_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let foreign = folder.path().join("foreign");
        fs::write(&foreign, "foreign").unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        std::os::unix::fs::symlink(&foreign, data.join("lock")).unwrap();
        let error = lock(&data, Holder::Clock).unwrap_err().to_string();
        assert!(error.contains("lock: it is a link, not a file"), "{error}");
        // A dangling link would create the file.
        std::os::unix::fs::symlink(folder.path().join("new"), data.join("lock.device")).unwrap();
        lock(&data, Holder::Device).unwrap_err();
        assert!(!folder.path().join("new").exists());
        fs::remove_file(data.join("lock")).unwrap();
        fs::hard_link(&foreign, data.join("lock")).unwrap();
        lock(&data, Holder::Clock).unwrap();
        assert_eq!(fs::read_to_string(&foreign).unwrap(), "foreign");
    }

    #[test]
    fn a_file_is_not_a_folder() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = lock(&file.path().join("x"), Holder::Clock).unwrap_err();
        assert!(matches!(error, FolderError::Unusable { .. }));
    }
}
