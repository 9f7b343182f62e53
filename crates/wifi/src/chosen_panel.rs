//! The panel that was chosen in the portal: a file in the data folder with its name.

use std::{
    io,
    path::{Path, PathBuf},
};

use board::wiring;
use storage::disk::{Disk, Folder, named};

const FILE: &str = "panel";

/// The known panel of this name.
pub fn find(name: &str) -> Option<&'static str> {
    wiring::displays().find(|known| known.eq_ignore_ascii_case(name))
}

/// The panel that was chosen; `None` if there is none.
///
/// # Errors
/// The file cannot be read, or names no known panel.
pub fn read(data_dir: &Path) -> io::Result<Option<&'static str>> {
    let stored = Folder::new(data_dir).read(FILE).map_err(named(FILE))?;
    let Some(bytes) = stored else { return Ok(None) };
    let known = str::from_utf8(&bytes).ok().and_then(find);
    let unknown = || io::Error::other("this version does not know it");
    known.map(Some).ok_or_else(unknown)
}

/// A choice that is stored with the credentials of a network.
#[derive(Debug)]
pub struct PanelChoice {
    pub data_dir: PathBuf,
    /// Name of a known panel; empty for none.
    pub name: String,
}

impl PanelChoice {
    pub(super) fn store(&self) -> io::Result<()> {
        match self.name.as_str() {
            "" => wipe(&self.data_dir),
            name => Folder::new(&self.data_dir).store(FILE, name.as_bytes()),
        }
    }
}

/// Removes the choice.
///
/// # Errors
/// The file cannot be removed.
pub fn wipe(data_dir: &Path) -> io::Result<()> {
    let mut folder = Folder::new(data_dir);
    folder.remove(FILE)?;
    folder.sync_folder()
}
