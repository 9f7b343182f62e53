//! The settings in a data folder on which no clock runs.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use device::settings::{Settings, store};
use rustix::{
    fs::{Gid, Uid, chown},
    process::geteuid,
};
use storage::{
    Loaded, Store,
    disk::Folder,
    lock::{Holder, Lock, lock},
};

use crate::{failure::Failure, stored_state::StoredState};

/// The settings in a data folder; no clock can start on it meanwhile.
pub(crate) struct AtRest {
    /// What is stored.
    pub(crate) settings: Settings,
    folder: PathBuf,
    store: Store,
    _locks: [Lock; 2],
}

impl AtRest {
    /// Opens the folder.
    ///
    /// # Errors
    /// There is none, a clock runs on it, or nothing can be read in it.
    pub(crate) fn open(folder: &Path) -> Result<AtRest, Failure> {
        if !folder.is_dir() {
            let folder = folder.display();
            return Err(Failure::failed(format!(
                "there is no data folder {folder}: say where it is with --data-dir"
            )));
        }
        if !may_be_of_a_clock(folder) {
            let folder = folder.display();
            return Err(Failure::failed(format!(
                "{folder} is not a data folder of papertick: name that with --data-dir"
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
        let kept = StoredState::read(loaded, || (Settings::default(), Vec::new()))
            .map_err(|error| Failure::failed(error.to_string()))?;
        for note in notes {
            runtime::standard_error::print_error(&note);
        }
        Ok(AtRest {
            settings: kept.settings,
            folder: folder.to_path_buf(),
            store,
            _locks: locks,
        })
    }

    /// Stores other settings in the place of these and of every generation before them.
    ///
    /// # Errors
    /// They could not be stored; those from before are still there.
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
fn may_be_of_a_clock(folder: &Path) -> bool {
    let Ok(files) = fs::read_dir(folder) else {
        return true;
    };
    let names: Vec<_> = files.flatten().map(|file| file.file_name()).collect();
    let is_known = |name: &OsString| CLOCK_FILES.iter().any(|known| name == known);
    names.iter().all(|name| name == "lost+found") || names.iter().any(is_known)
}

impl Drop for AtRest {
    /// Whoever may do everything leaves nothing behind that the owner of the folder could not read.
    fn drop(&mut self) {
        if geteuid().is_root() {
            // What cannot be given back is told by the clock, which names it when it starts.
            let _ = give_back(&self.folder);
        }
    }
}

/// Gives the files of a folder to its owner.
fn give_back(folder: &Path) -> std::io::Result<()> {
    let owner = fs::metadata(folder)?;
    let (uid, gid) = (owner.uid(), owner.gid());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let there = entry.metadata()?;
        if there.is_file() && there.uid() != uid {
            chown(
                entry.path(),
                Some(Uid::from_raw(uid)),
                Some(Gid::from_raw(gid)),
            )?;
        }
    }
    Ok(())
}
