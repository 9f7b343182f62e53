//! Reads and writes the settings in a data folder while no clock uses it.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use device::settings::{Settings, store};
use rustix::{
    fs::{Gid, Uid, fchown},
    process::geteuid,
};
use storage::{
    Loaded, Store,
    disk::{Disk, Folder},
    lock::{Holder, Lock, lock},
};

use crate::{failure::Failure, stored_state::StoredState};

/// The settings in a data folder. The folder is locked, so that no clock can start on it.
pub(crate) struct OfflineSettings {
    /// The stored settings.
    pub(crate) settings: Settings,
    folder: PathBuf,
    store: Store,
    _locks: [Lock; 2],
}

impl OfflineSettings {
    /// Opens the folder.
    ///
    /// # Errors
    /// The folder does not exist, a clock uses it, or it cannot be read.
    pub(crate) fn open(folder: &Path) -> Result<OfflineSettings, Failure> {
        if !folder.is_dir() {
            let folder = folder.display();
            return Err(Failure::failed(format!(
                "there is no data folder {folder}: set it with --data-dir"
            )));
        }
        if !may_be_data_folder(folder) {
            let folder = folder.display();
            return Err(Failure::failed(format!(
                "{folder} is not a data folder of papertick: set that with --data-dir"
            )));
        }
        let locks = [lock(folder, Holder::Clock)?, lock(folder, Holder::Device)?];
        let (store, loaded) = Store::open(Box::new(Folder::new(folder)));
        let Loaded {
            settings, notes, ..
        } = loaded;
        let loaded = Loaded {
            settings,
            ..Loaded::default()
        };
        let stored = StoredState::read(loaded, || (Settings::default(), Vec::new()))
            .map_err(|error| Failure::failed(error.to_string()))?;
        for note in notes {
            runtime::standard_error::print_error(&note);
        }
        Ok(OfflineSettings {
            settings: stored.settings,
            folder: folder.to_path_buf(),
            store,
            _locks: locks,
        })
    }

    /// Replaces the stored settings and all previous generations of them.
    ///
    /// # Errors
    /// The write failed; the previous settings are unchanged.
    pub(crate) fn replace(&mut self, settings: Settings) -> Result<(), Failure> {
        let cannot = |error: std::io::Error| {
            let folder = self.folder.display();
            Failure::failed(format!("nothing was stored in {folder}: {error}"))
        };
        let stored = self.store.replace_settings(&store::to_json(&settings));
        stored.map_err(cannot)?;
        self.settings = settings;
        Ok(())
    }
}

/// Names of which a data folder has at least one, unless it is empty.
const CLOCK_FILES: [&str; 4] = [
    "lock",
    "settings.json",
    "settings.json.previous",
    "update-keys",
];

/// Returns whether a folder belongs to a clock, is empty, or cannot be read, which is reported later.
fn may_be_data_folder(folder: &Path) -> bool {
    let Ok(files) = fs::read_dir(folder) else {
        return true;
    };
    let names: Vec<_> = files.flatten().map(|file| file.file_name()).collect();
    let is_known = |name: &OsString| CLOCK_FILES.iter().any(|known| name == known);
    names.iter().all(|name| name == "lost+found") || names.iter().any(is_known)
}

impl Drop for OfflineSettings {
    /// If the command runs as root, makes the owner of the folder the owner of new files.
    fn drop(&mut self) {
        if geteuid().is_root() {
            // After a failure, the clock reports the files that it cannot read when it starts.
            let _ = restore_owner(&self.folder);
        }
    }
}

/// Makes the owner of a folder the owner of its files.
fn restore_owner(folder: &Path) -> std::io::Result<()> {
    let owner = fs::metadata(folder)?;
    let (uid, gid) = (owner.uid(), owner.gid());
    let mut disk = Folder::new(folder);
    for name in disk.names()? {
        // Neither a folder nor a link.
        let Ok(file) = disk.file(&name) else {
            continue;
        };
        let metadata = file.metadata()?;
        // A file with a second name may be a foreign one.
        if metadata.nlink() == 1 && metadata.uid() != uid {
            fchown(&file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
        }
    }
    Ok(())
}
