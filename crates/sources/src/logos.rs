//! Pictures of pools on disk, so that each is fetched once.

use std::{
    io,
    path::{Path, PathBuf},
};

use feeds::pools::logo::LogoSpec;
use storage::disk::{Disk, Folder};
use tokio::{fs, sync::watch, task::spawn_blocking};

/// A folder of pictures; it is made when the first one is kept.
#[derive(Debug, Clone)]
pub struct LogoCache {
    folder: PathBuf,
    /// Times it was cleared in this run, for all clones.
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

    /// Waits until it was cleared so many times, so that what is kept afterwards stays.
    pub async fn cleared(&self, times: u64) {
        let mut clears = self.clears.subscribe();
        let done = clears.wait_for(|clears| *clears >= times).await;
        done.expect("the cache itself holds the sender");
    }

    /// A picture that was kept; none if its size is not what it must be.
    pub async fn read(&self, spec: LogoSpec) -> Option<Vec<u8>> {
        let mut folder = Folder::new(&self.folder);
        spawn_blocking(move || kept(&mut folder, spec)).await.ok()?
    }

    /// Keeps a picture; a half-written one is never seen, not even after a power cut.
    ///
    /// # Errors
    /// The folder cannot be written to.
    pub async fn write(&self, spec: LogoSpec, picture: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder).await?;
        let (mut folder, picture) = (Folder::new(&self.folder), picture.to_vec());
        let keeping = spawn_blocking(move || keep(&mut folder, spec, &picture));
        keeping.await.map_err(io::Error::other)?
    }

    /// Deletes all pictures and says how many there were.
    ///
    /// # Errors
    /// The folder cannot be read or a picture not be deleted.
    pub async fn clear(&self) -> io::Result<usize> {
        let cleared = self.delete_all().await;
        self.clears.send_modify(|clears| *clears += 1);
        cleared
    }

    async fn delete_all(&self) -> io::Result<usize> {
        let mut entries = match fs::read_dir(&self.folder).await {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(error),
        };
        let mut deleted = 0;
        while let Some(entry) = entries.next_entry().await? {
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if entry.file_type().await?.is_file() && !is_hidden {
                remove(&entry.path()).await?;
                deleted += 1;
            }
        }
        Ok(deleted)
    }
}

/// A picture that was kept in a folder; none if its size is not what it must be.
pub fn kept(disk: &mut dyn Disk, spec: LogoSpec) -> Option<Vec<u8>> {
    let picture = disk.read(spec.file).ok()??;
    (picture.len() == spec.bytes()).then_some(picture)
}

/// Keeps a picture in a folder; it is durable when this returns.
///
/// # Errors
/// The disk did not take it; what was kept before is still there.
pub fn keep(disk: &mut dyn Disk, spec: LogoSpec, picture: &[u8]) -> io::Result<()> {
    let half = format!("{}.tmp", spec.file);
    disk.write(&half, picture)
        // Else the name may be there after a power cut and the bytes not: a picture of nothing, of the right size.
        .and_then(|()| disk.sync(&half))
        .and_then(|()| disk.rename(&half, spec.file))
        .and_then(|()| disk.sync_folder())
}

/// Deletes a file; one that is already gone is no error.
async fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file).await {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
