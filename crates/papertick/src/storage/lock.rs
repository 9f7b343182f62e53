//! The lock that keeps a second clock out of a data folder.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::fs::{FlockOperation, flock};

/// Holds a data folder; the lock ends with the process, however that ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Who locks the folder.
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
        /// The other clock's process, if it could be found out.
        pid: Option<u32>,
    },
    /// It cannot be made or written.
    #[error("the data folder {} cannot be used ({error}): make it writable, or choose another with --data-dir", .path.display())]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// What the host says.
        error: io::Error,
    },
}

/// Makes the folder if it is not there, checks that it can be written, and locks it.
///
/// # Errors
/// It cannot be made or written, or another clock uses it.
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
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path.join(name))
        .map_err(unusable)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => {
            let mut text = String::new();
            // The number only helps people; without it the message is still true.
            let _ = file.read_to_string(&mut text);
            return Err(FolderError::Taken {
                path: path.to_path_buf(),
                pid: text.trim().parse().ok(),
            });
        }
        Err(error) => return Err(unusable(error.into())),
    }
    match probe(path) {
        // A clock on a full disk still shows the time, and says so when it cannot save.
        Err(error) if error.kind() != io::ErrorKind::StorageFull => return Err(unusable(error)),
        Ok(()) | Err(_) => {}
    }
    // The number only helps people; a full disk may have no room for it.
    let _ = file
        .set_len(0)
        .and_then(|()| writeln!(file, "{}", std::process::id()));
    Ok(Lock { _file: file })
}

/// Locks the folder for the device; waits a while for a device process that is ending.
///
/// # Errors
/// As for [`lock`], after the wait.
pub fn lock_patiently(path: &Path, patience: Duration) -> Result<Lock, FolderError> {
    const STEP: Duration = Duration::from_millis(20);
    let mut waited = Duration::ZERO;
    loop {
        match lock(path, Holder::Device) {
            Err(FolderError::Taken { .. }) if waited < patience => {
                std::thread::sleep(STEP);
                waited += STEP;
            }
            outcome => return outcome,
        }
    }
}

/// Checks that files can be made in the folder.
fn probe(path: &Path) -> io::Result<()> {
    let probe = path.join("probe");
    fs::write(&probe, b"")?;
    fs::remove_file(probe)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

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
    fn a_file_is_no_folder() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = lock(&file.path().join("x"), Holder::Clock).unwrap_err();
        assert!(matches!(error, FolderError::Unusable { .. }));
    }
}
