//! A disk in memory that fails and loses power at any step. Unsynced writes are lost, in whole or in part.

use std::{
    collections::BTreeMap,
    io::{self, Cursor},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use storage::{
    disk::Disk,
    large::{LargeDisk, Readable, WriteLock},
};

/// A disk that can fail at a step. Clones share their content until one of them changes it.
#[derive(Debug, Clone, Default)]
pub struct SimDisk {
    /// Descriptions of the steps, if they are recorded.
    log: Option<Vec<String>>,
    files: Vec<SimFile>,
    names: BTreeMap<String, usize>,
    names_synced: BTreeMap<String, usize>,
    changes: Vec<DirectoryChange>,
    steps: usize,
    trouble: Option<(usize, DiskFault)>,
    /// Files that cannot be read, and for how many times.
    unreadable: BTreeMap<String, u32>,
    dead: bool,
}

/// The fault that the disk simulates at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskFault {
    /// The power is cut: no later step happens.
    PowerCut,
    /// The step fails; later ones work.
    Error,
    /// The step and all later ones fail, if they change anything.
    ReadOnly,
}

#[derive(Debug, Clone, Default)]
struct SimFile {
    synced: Arc<Vec<u8>>,
    bytes: Arc<Vec<u8>>,
    startable_synced: bool,
    startable: bool,
}

/// A change of a directory that is not synced yet.
#[derive(Debug, Clone)]
enum DirectoryChange {
    Link {
        name: String,
        file: usize,
    },
    Rename {
        from: String,
        to: String,
        file: usize,
    },
    Remove {
        name: String,
    },
}

/// The unsynced writes that survive a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Survives {
    Nothing,
    /// All of it.
    Everything,
    /// The names, but no bytes: files exist and are empty.
    Names,
    /// The bytes of files with a name, but no change of names.
    Bytes,
    /// A random part, torn and reordered. Equal seeds give equal disks.
    Chance(u64),
}

/// A generator of small numbers. Equal seeds give equal disks.
#[derive(Debug, Clone)]
pub struct Dice(pub u64);

impl Dice {
    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let below = self.0 % bound.max(1) as u64;
        usize::try_from(below).unwrap_or_default()
    }
}

impl SimDisk {
    /// A disk with synced files.
    pub fn holding(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> SimDisk {
        let mut disk = SimDisk::default();
        for (name, bytes) in files {
            let bytes = Arc::new(bytes);
            disk.names.insert(name, disk.files.len());
            disk.files.push(SimFile {
                synced: Arc::clone(&bytes),
                bytes,
                ..SimFile::default()
            });
        }
        disk.names_synced = disk.names.clone();
        disk
    }

    /// Starts recording the steps.
    pub fn recording(mut self) -> SimDisk {
        self.log = Some(Vec::new());
        self
    }

    /// The recorded steps, one line each.
    pub fn recorded(&self) -> &[String] {
        self.log.as_deref().unwrap_or_default()
    }

    /// Sets a fault at a later step. The next step is 1.
    pub fn with_trouble(mut self, step: usize, trouble: DiskFault) -> SimDisk {
        self.steps = 0;
        self.trouble = Some((step, trouble));
        self
    }

    /// Makes the next reads of a file fail.
    pub fn with_unreadable(mut self, name: &str, times: u32) -> SimDisk {
        self.unreadable.insert(name.to_string(), times);
        self
    }

    /// Removes the faults.
    pub fn healthy(mut self) -> SimDisk {
        self.trouble = None;
        self.unreadable.clear();
        self
    }

    /// The disk after the power has come back.
    pub fn after_power_cut(&self, dice: &mut Dice) -> SimDisk {
        let mut names = self.names_synced.clone();
        // An ordered journal keeps the first changes, an unordered one any of them.
        let ordered = dice.below(2) == 0;
        let kept = dice.below(self.changes.len() + 1);
        for (at, change) in self.changes.iter().enumerate() {
            let survives = if ordered { at < kept } else { dice.below(2) == 0 };
            if survives {
                change.apply(&mut names);
            }
        }
        let files = self.files.iter();
        SimDisk::of(names, files.map(|file| file.after_power_cut(dice)))
    }

    /// The same for the cases without randomness.
    pub fn after(&self, survives: Survives) -> SimDisk {
        let files = self.files.iter();
        let old = self.names_synced.clone();
        let new = self.names.clone();
        match survives {
            Survives::Nothing => SimDisk::of(old, files.map(SimFile::as_synced)),
            Survives::Everything => SimDisk::of(new, files.map(SimFile::as_written)),
            Survives::Names => SimDisk::of(new, files.map(SimFile::as_synced)),
            Survives::Bytes => SimDisk::of(old, files.map(SimFile::as_written)),
            // Consecutive seeds would start with similar numbers.
            Survives::Chance(seed) => {
                let seed = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                self.after_power_cut(&mut Dice(seed.max(1)))
            }
        }
    }

    fn of(names: BTreeMap<String, usize>, files: impl Iterator<Item = SimFile>) -> SimDisk {
        SimDisk {
            files: files.collect(),
            names_synced: names.clone(),
            names,
            ..SimDisk::default()
        }
    }

    /// Returns whether a text is in a file with a name.
    pub fn holds(&self, text: &str) -> bool {
        let has = |bytes: &[u8]| {
            bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        };
        self.names
            .values()
            .any(|file| has(&self.files[*file].bytes))
    }

    /// The bytes of a file; `None` if there is no such name.
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        let file = self.names.get(name)?;
        Some(&self.files[*file].bytes)
    }

    pub fn all_names(&self) -> Vec<String> {
        self.names.keys().cloned().collect()
    }

    /// Returns whether a file is executable.
    pub fn is_startable(&self, name: &str) -> bool {
        let file = self.names.get(name);
        file.is_some_and(|file| self.files[*file].startable)
    }

    pub fn is_powered(&self) -> bool {
        !self.dead
    }

    fn powered(&self) -> io::Result<()> {
        if self.dead {
            return Err(io::Error::other("no power"));
        }
        Ok(())
    }

    /// Starts a step. After an error it may have happened in part.
    fn step(&mut self, what: &str, name: &str) -> io::Result<()> {
        self.powered()?;
        self.steps += 1;
        if let Some(log) = &mut self.log {
            log.push(format!("{what} {name}").trim_end().to_string());
        }
        match self.trouble {
            Some((step, DiskFault::PowerCut)) if step == self.steps => {
                self.dead = true;
                Err(io::Error::other("power cut"))
            }
            Some((step, DiskFault::Error)) if step == self.steps => {
                Err(io::Error::other("no space"))
            }
            _ => Ok(()),
        }
    }

    /// Starts a step that changes something.
    fn changing_step(&mut self, what: &str, name: &str) -> io::Result<()> {
        self.step(what, name)?;
        match self.trouble {
            Some((step, DiskFault::ReadOnly)) if step <= self.steps => {
                Err(io::ErrorKind::ReadOnlyFilesystem.into())
            }
            _ => Ok(()),
        }
    }

    fn change(&mut self, change: DirectoryChange) {
        change.apply(&mut self.names);
        self.changes.push(change);
    }

    fn find(&self, name: &str) -> io::Result<usize> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, name.to_string());
        self.names.get(name).copied().ok_or_else(missing)
    }
}

impl SimFile {
    fn as_synced(&self) -> SimFile {
        SimFile::settled(Arc::clone(&self.synced), self.startable_synced)
    }

    fn as_written(&self) -> SimFile {
        SimFile::settled(Arc::clone(&self.bytes), self.startable)
    }

    fn settled(bytes: Arc<Vec<u8>>, startable: bool) -> SimFile {
        SimFile {
            synced: Arc::clone(&bytes),
            bytes,
            startable_synced: startable,
            startable,
        }
    }

    fn after_power_cut(&self, dice: &mut Dice) -> SimFile {
        let startable = match dice.below(2) {
            0 => self.startable_synced,
            _ => self.startable,
        };
        if Arc::ptr_eq(&self.synced, &self.bytes) || self.synced == self.bytes {
            return SimFile::settled(Arc::clone(&self.synced), startable);
        }
        // Synced bytes stay; only bytes after them can be lost.
        let synced = self.synced.len();
        let mut bytes = self.bytes.to_vec();
        bytes.truncate(match dice.below(4) {
            0 => synced,
            1 => bytes.len(),
            _ => synced + dice.below(bytes.len() - synced + 1),
        });
        if dice.below(4) == 0 {
            // The length survives, the data does not.
            let from = synced + dice.below(bytes.len() - synced + 1);
            bytes.iter_mut().skip(from).for_each(|byte| *byte = 0);
        }
        SimFile::settled(Arc::new(bytes), startable)
    }
}

impl DirectoryChange {
    fn apply(&self, names: &mut BTreeMap<String, usize>) {
        match self {
            DirectoryChange::Link { name, file } => {
                names.insert(name.clone(), *file);
            }
            DirectoryChange::Rename { from, to, file } => {
                names.remove(from);
                names.insert(to.clone(), *file);
            }
            DirectoryChange::Remove { name } => {
                names.remove(name);
            }
        }
    }
}

impl Disk for SimDisk {
    fn read(&mut self, name: &str) -> io::Result<Option<Vec<u8>>> {
        self.step("read", name)?;
        if let Some(times) = self.unreadable.get_mut(name).filter(|times| **times > 0) {
            *times -= 1;
            return Err(io::Error::other("input/output error"));
        }
        Ok(self
            .names
            .get(name)
            .map(|file| self.files[*file].bytes.to_vec()))
    }

    fn names(&mut self) -> io::Result<Vec<String>> {
        self.step("list", "")?;
        Ok(self.names.keys().cloned().collect())
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.powered()?;
        let trouble = self.changing_step("write", name);
        if is_read_only(&trouble) {
            return trouble;
        }
        let file = self.files.len();
        let written = if trouble.is_ok() { bytes.len() } else { bytes.len() / 2 };
        self.files.push(SimFile {
            bytes: Arc::new(bytes[..written].to_vec()),
            ..SimFile::default()
        });
        self.change(DirectoryChange::Link {
            name: name.to_string(),
            file,
        });
        trouble
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.powered()?;
        let file = self.find(name)?;
        let trouble = self.changing_step("append", name);
        if is_read_only(&trouble) {
            return trouble;
        }
        let written = if trouble.is_ok() { bytes.len() } else { bytes.len() / 2 };
        Arc::make_mut(&mut self.files[file].bytes).extend_from_slice(&bytes[..written]);
        trouble
    }

    fn sync(&mut self, name: &str) -> io::Result<()> {
        self.step("sync", name)?;
        let file = self.find(name)?;
        let file = &mut self.files[file];
        file.synced = Arc::clone(&file.bytes);
        file.startable_synced = file.startable;
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        self.powered()?;
        let trouble = self.changing_step("rename", from);
        let file = self.find(from)?;
        // A rename at a power cut may have happened; one that failed has not.
        if trouble.is_ok() || self.dead {
            let (from, to) = (from.to_string(), to.to_string());
            self.change(DirectoryChange::Rename { from, to, file });
        }
        trouble
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        self.powered()?;
        let trouble = self.changing_step("remove", name);
        if trouble.is_ok() || self.dead {
            self.change(DirectoryChange::Remove {
                name: name.to_string(),
            });
        }
        trouble
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        self.step("sync the folder", "")?;
        self.names_synced = self.names.clone();
        self.changes.clear();
        Ok(())
    }
}

fn is_read_only(trouble: &io::Result<()>) -> bool {
    let kind = trouble.as_ref().err().map(io::Error::kind);
    kind == Some(io::ErrorKind::ReadOnlyFilesystem)
}

impl LargeDisk for SimDisk {
    fn lock(&mut self, _: &str) -> io::Result<WriteLock> {
        Ok(WriteLock::default())
    }

    fn open(&mut self, name: &str) -> io::Result<Box<dyn Readable>> {
        self.step("open", name)?;
        let file = self.find(name)?;
        Ok(Box::new(Cursor::new(self.files[file].bytes.to_vec())))
    }

    fn make_executable(&mut self, name: &str) -> io::Result<()> {
        self.changing_step("make startable", name)?;
        let file = self.find(name)?;
        self.files[file].startable = true;
        Ok(())
    }
}

/// A disk that tests can read while a store uses it.
#[derive(Debug, Clone, Default)]
pub struct SharedDisk(Arc<Mutex<SimDisk>>);

impl SharedDisk {
    pub fn look(&self) -> SimDisk {
        self.disk().clone()
    }

    pub fn of(disk: SimDisk) -> SharedDisk {
        SharedDisk(Arc::new(Mutex::new(disk)))
    }

    /// Sets a fault at a later step. The next step is 1.
    pub fn arrange(&self, step: usize, trouble: DiskFault) {
        let mut disk = self.disk();
        *disk = disk.clone().with_trouble(step, trouble);
    }

    /// Removes the faults.
    pub fn heal(&self) {
        let mut disk = self.disk();
        *disk = disk.clone().healthy();
    }

    fn disk(&self) -> MutexGuard<'_, SimDisk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Disk for SharedDisk {
    fn read(&mut self, name: &str) -> io::Result<Option<Vec<u8>>> {
        self.disk().read(name)
    }

    fn names(&mut self) -> io::Result<Vec<String>> {
        self.disk().names()
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.disk().write(name, bytes)
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.disk().append(name, bytes)
    }

    fn sync(&mut self, name: &str) -> io::Result<()> {
        self.disk().sync(name)
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        self.disk().rename(from, to)
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        self.disk().remove(name)
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        self.disk().sync_folder()
    }
}

impl LargeDisk for SharedDisk {
    fn lock(&mut self, _: &str) -> io::Result<WriteLock> {
        Ok(WriteLock::default())
    }

    fn open(&mut self, name: &str) -> io::Result<Box<dyn Readable>> {
        self.disk().open(name)
    }

    fn make_executable(&mut self, name: &str) -> io::Result<()> {
        self.disk().make_executable(name)
    }
}
