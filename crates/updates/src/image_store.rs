//! Receives, verifies and activates one image at a time. Each step is refused unless the previous one has succeeded.
//!
//! An image is *received* into a temporary file, *verified* by reading that file again and unpacking it next to the
//! slot, and *activated* by changing the record of the slots. Before the last step nothing changes for the clock, and a
//! power cut leaves only temporary files.

use std::io::{self, Cursor, Write};

use feeds::image::{Image, ImageFault, ImageHeader, ImageKind, page::Page};
use semver::Version;
use sha2::{Digest, Sha256};
use storage::large::{Appending, LargeDisk, Readable};

use super::{
    policy::{ImagePolicy, ImageRefusal},
    record::{self, program_file},
    slots::{Factory, ImageSlot, Installed, Program, SkipReason, TrialState},
};

/// File of the image that is being received.
const INCOMING: &str = "update.part";

/// File of the installed page.
pub const PAGE: &str = "page.img";

/// Suffix of a slot's file while it is being written.
const NEW: &str = ".new";

/// Size of the write buffer, bytes.
const BUFFER_LEN: usize = 256 * 1024;

/// Receives and installs images on a disk.
pub struct ImageStore {
    disk: Box<dyn LargeDisk>,
    running: Program,
    factory: Factory,
    stage: UpdateStage,
}

enum UpdateStage {
    Idle,
    Receiving(Receiving),
    Received(ImagePolicy),
    Verified(Verified),
}

struct Receiving {
    policy: ImagePolicy,
    received: u64,
    hasher: Sha256,
    /// Received bytes of the header.
    header: Vec<u8>,
    buffer: Vec<u8>,
}

/// A verified image that can be activated.
enum Verified {
    Firmware {
        slot: ImageSlot,
        installed: Box<Installed>,
        /// The running version if this is a downgrade from it.
        downgrade_from: Option<Version>,
    },
    Page,
}

impl ImageStore {
    /// Opens a disk and removes the temporary files of an interrupted update.
    pub fn open(disk: Box<dyn LargeDisk>, running: Program, factory: Factory) -> ImageStore {
        let mut store = ImageStore {
            disk,
            running,
            factory,
            stage: UpdateStage::Idle,
        };
        store.abort();
        store
    }

    /// Starts to receive an image.
    ///
    /// # Errors
    /// Another update is in progress, or the temporary file cannot be created.
    pub fn begin(&mut self, policy: ImagePolicy) -> Result<(), ImageRefusal> {
        if !matches!(self.stage, UpdateStage::Idle) {
            return Err(ImageRefusal::Busy);
        }
        make_empty(self.disk.as_mut(), INCOMING).map_err(ImageRefusal::Disk)?;
        self.stage = UpdateStage::Receiving(Receiving {
            policy,
            received: 0,
            hasher: Sha256::new(),
            header: Vec::with_capacity(ImageHeader::BYTES),
            buffer: Vec::with_capacity(BUFFER_LEN),
        });
        Ok(())
    }

    /// Appends received bytes. As soon as the header is complete, an image for another clock is refused.
    ///
    /// # Errors
    /// The image is refused, or the write fails; the update is aborted.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), ImageRefusal> {
        let UpdateStage::Receiving(receiving) = &mut self.stage else {
            return Err(ImageRefusal::NotYet("begun"));
        };
        let appended = receiving.append(self.disk.as_mut(), bytes);
        appended.inspect_err(|_| self.abort())
    }

    /// Completes the reception; `announced` is the expected SHA-256.
    ///
    /// # Errors
    /// The digest differs, or the write fails; the update is aborted.
    pub fn received(&mut self, announced: Option<[u8; 32]>) -> Result<(), ImageRefusal> {
        let stage = std::mem::replace(&mut self.stage, UpdateStage::Idle);
        let UpdateStage::Receiving(receiving) = stage else {
            self.stage = stage;
            return Err(ImageRefusal::NotYet("begun"));
        };
        let finished = receiving.finish(self.disk.as_mut(), announced);
        let policy = finished.inspect_err(|_| self.abort())?;
        self.stage = UpdateStage::Received(policy);
        Ok(())
    }

    /// Reads the image from the disk, checks its signature, and unpacks its content.
    ///
    /// # Errors
    /// The image is refused, or the write fails; the update is aborted.
    pub fn verify(&mut self) -> Result<ImageHeader, ImageRefusal> {
        let stage = std::mem::replace(&mut self.stage, UpdateStage::Idle);
        let UpdateStage::Received(policy) = stage else {
            self.stage = stage;
            return Err(ImageRefusal::NotYet("received"));
        };
        let verified = self.verify_and_unpack(&policy);
        let (header, verified) = verified.inspect_err(|_| self.abort())?;
        self.stage = UpdateStage::Verified(verified);
        Ok(header)
    }

    /// Activates the image: a program at the next start, a page at once. It is durable when this returns.
    ///
    /// # Errors
    /// The write fails; nothing has changed for the clock, and the update is aborted.
    pub fn activate(&mut self) -> Result<(), ImageRefusal> {
        let stage = std::mem::replace(&mut self.stage, UpdateStage::Idle);
        let UpdateStage::Verified(verified) = stage else {
            self.stage = stage;
            return Err(ImageRefusal::NotYet("verified"));
        };
        let activated = match verified {
            Verified::Firmware {
                slot,
                installed,
                downgrade_from,
            } => record::change(self.disk.as_mut(), |slots| {
                slots.activate(slot, *installed);
                if let Some(version) = downgrade_from {
                    slots.skip_version(&version, SkipReason::Left);
                }
            })
            .map(|_| ()),
            Verified::Page => self
                .disk
                .rename(INCOMING, PAGE)
                .and_then(|()| self.disk.sync_folder()),
        };
        activated
            .map_err(ImageRefusal::Disk)
            .inspect_err(|_| self.abort())
    }

    fn verify_and_unpack(
        &mut self,
        policy: &ImagePolicy,
    ) -> Result<(ImageHeader, Verified), ImageRefusal> {
        let file = self.disk.open(INCOMING).map_err(ImageRefusal::Disk)?;
        let mut image = Image::open(file)?;
        policy.check(image.head())?;
        if policy.needs_signature(image.head()) {
            image.verify(&policy.keys)?;
        }
        let header = image.head().clone();
        let verified = match header.kind {
            ImageKind::Firmware => {
                let (slot, installed) = self.unpack(image)?;
                let is_downgrade = policy.is_older(&header);
                Verified::Firmware {
                    slot,
                    installed,
                    downgrade_from: is_downgrade.then(|| policy.running.clone()),
                }
            }
            ImageKind::Page => {
                let page = unpack_page(image)?;
                policy.check_page(&page.manifest.min_firmware)?;
                Verified::Page
            }
        };
        Ok((header, verified))
    }

    /// Writes a program to a temporary file, and renames it to the slot's file when it is complete and durable.
    fn unpack(
        &mut self,
        mut image: Image<Box<dyn Readable>>,
    ) -> Result<(ImageSlot, Box<Installed>), ImageRefusal> {
        let (slots, _) = record::load_and_repair(self.disk.as_mut());
        let slot = slots.free_slot(self.running, &self.factory);
        let name = program_file(slot);
        let new = format!("{name}{NEW}");
        make_empty(self.disk.as_mut(), &new).map_err(ImageRefusal::Disk)?;
        let appending = Appending {
            disk: self.disk.as_mut(),
            name: &new,
        };
        let mut file = io::BufWriter::with_capacity(BUFFER_LEN, appending);
        image.unpack(&mut file).map_err(unpack_error)?;
        file.flush().map_err(ImageRefusal::Disk)?;
        drop(file);
        let header = image.head();
        let renamed = self
            .disk
            .make_executable(&new)
            .and_then(|()| self.disk.sync(&new))
            // The record must not refer to the slot while its file changes.
            .and_then(|()| record::change(self.disk.as_mut(), |slots| slots.clear(slot)))
            .and_then(|_| self.disk.rename(&new, &name))
            .and_then(|()| self.disk.sync_folder())
            .and_then(|()| self.disk.remove(INCOMING));
        renamed.map_err(ImageRefusal::Disk)?;
        let installed = Installed {
            version: header.version.clone(),
            bytes: header.content_bytes,
            digest: header.content_digest,
            factory_build: self.factory.build.clone(),
            trial_state: TrialState::Trial { starts: 0 },
            executions: 0,
        };
        Ok((slot, Box::new(installed)))
    }

    /// Aborts the update and removes its temporary files.
    pub fn abort(&mut self) {
        self.stage = UpdateStage::Idle;
        let new_files = ImageSlot::ALL.map(|slot| format!("{}{NEW}", program_file(slot)));
        for name in [INCOMING.to_string()].iter().chain(&new_files) {
            // The next update overwrites a file that cannot be removed.
            if let Err(error) = self.disk.remove(name) {
                tracing::warn!(%error, %name, "cannot remove a temporary file of an update");
            }
        }
    }
}

impl Receiving {
    fn append(&mut self, disk: &mut dyn LargeDisk, bytes: &[u8]) -> Result<(), ImageRefusal> {
        let max = self.policy.bytes_max;
        self.received += bytes.len() as u64;
        if self.received > max {
            return Err(ImageRefusal::Oversize(max));
        }
        self.hasher.update(bytes);
        let missing = ImageHeader::BYTES - self.header.len();
        if missing > 0 {
            let part = &bytes[..bytes.len().min(missing)];
            self.header.extend_from_slice(part);
            if let Ok(header) = self.header.as_slice().try_into() {
                self.policy.check(&ImageHeader::decode(header)?)?;
            }
        }
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER_LEN {
            self.flush(disk)?;
        }
        Ok(())
    }

    fn finish(
        mut self,
        disk: &mut dyn LargeDisk,
        announced: Option<[u8; 32]>,
    ) -> Result<ImagePolicy, ImageRefusal> {
        let digest: [u8; 32] = self.hasher.clone().finalize().into();
        if announced.is_some_and(|announced| announced != digest) {
            return Err(ImageRefusal::Digest);
        }
        self.flush(disk)?;
        disk.sync(INCOMING).map_err(ImageRefusal::Disk)?;
        Ok(self.policy)
    }

    fn flush(&mut self, disk: &mut dyn LargeDisk) -> Result<(), ImageRefusal> {
        disk.append(INCOMING, &self.buffer)
            .map_err(ImageRefusal::Disk)?;
        self.buffer.clear();
        Ok(())
    }
}

/// Creates an empty file; replaces an existing one.
fn make_empty(disk: &mut dyn LargeDisk, name: &str) -> io::Result<()> {
    disk.remove(name)?;
    disk.write(name, &[])
}

/// Reads the installed page; `None` if no page is installed.
///
/// # Errors
/// The page is damaged.
pub fn installed_page(disk: &mut dyn LargeDisk) -> Result<Option<(ImageHeader, Page)>, ImageFault> {
    let file = match disk.open(PAGE) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let image = Image::open(file)?;
    let header = image.head().clone();
    if header.kind != ImageKind::Page {
        return Err(ImageFault::Page("it holds firmware"));
    }
    Ok(Some((header, unpack_page(image)?)))
}

fn unpack_page(mut image: Image<Box<dyn Readable>>) -> Result<Page, ImageFault> {
    let mut content = Cursor::new(Vec::new());
    image.unpack(&mut content)?;
    Page::parse(content.get_ref())
}

/// An I/O error is a failed write; all other faults are in the image.
fn unpack_error(fault: ImageFault) -> ImageRefusal {
    if let ImageFault::Io(error) = fault {
        return ImageRefusal::Disk(error);
    }
    ImageRefusal::Fault(fault)
}
