//! Pool logos cached on disk, so that each is fetched once.

use std::{io, path::PathBuf};

use feeds::pools::logo::LogoSpec;
use storage::disk::{Disk, Folder};
use tokio::{fs, sync::watch, task::spawn_blocking};

/// A folder of logos, created with the first one.
#[derive(Debug, Clone)]
pub struct LogoCache {
    folder: PathBuf,
    /// How often it was cleared in this run, for all clones.
    clears: watch::Sender<u64>,
}

impl LogoCache {
    /// A cache in a folder that holds nothing else.
    pub fn new(folder: impl Into<PathBuf>) -> LogoCache {
        LogoCache {
            folder: folder.into(),
            clears: watch::Sender::new(0),
        }
    }

    /// Waits until it was cleared this many times, so that a logo written afterwards stays.
    pub async fn cleared(&self, times: u64) {
        let mut clears = self.clears.subscribe();
        let done = clears.wait_for(|clears| *clears >= times).await;
        done.expect("the cache itself holds the sender");
    }

    /// Reads a logo. `None` if it is missing or has the wrong size.
    pub async fn read(&self, spec: LogoSpec) -> Option<Vec<u8>> {
        let mut folder = self.folder().ok()?;
        spawn_blocking(move || read_logo(&mut folder, spec))
            .await
            .ok()?
    }

    /// Writes a logo atomically; a power cut leaves no partial file.
    ///
    /// # Errors
    /// The folder cannot be written to.
    pub async fn write(&self, spec: LogoSpec, picture: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder).await?;
        let (mut folder, picture) = (self.folder()?, picture.to_vec());
        let writing = spawn_blocking(move || folder.store(spec.file, &picture));
        writing.await.map_err(io::Error::other)?
    }

    /// Deletes all logos and returns their number.
    ///
    /// # Errors
    /// The folder cannot be read or a logo not be deleted.
    pub async fn clear(&self) -> io::Result<usize> {
        let cleared = self.delete_all().await;
        self.clears.send_modify(|clears| *clears += 1);
        cleared
    }

    async fn delete_all(&self) -> io::Result<usize> {
        let mut folder = match self.folder() {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(error),
        };
        let deleting = spawn_blocking(move || {
            let mut names = folder.names()?;
            names.retain(|name| !name.starts_with('.') && folder.file(name).is_ok());
            names.iter().try_for_each(|name| folder.remove(name))?;
            Ok(names.len())
        });
        deleting.await.map_err(io::Error::other)?
    }

    /// The folder, unless it is a link, which may lead out of the data folder.
    fn folder(&self) -> io::Result<Folder> {
        if self.folder.symlink_metadata()?.is_dir() {
            Ok(Folder::new(&self.folder))
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }
}

/// Reads a logo from a disk. `None` if it is missing or has the wrong size.
pub fn read_logo(disk: &mut dyn Disk, spec: LogoSpec) -> Option<Vec<u8>> {
    let picture = disk.read(spec.file).ok()??;
    (picture.len() == spec.bytes()).then_some(picture)
}
