//! Receives, verifies and installs one image at a time; each step is refused unless the one before it was done.
//!
//! An image is *received* into a file of its own, *verified* by reading that file again and unpacking it beside the
//! slot, and *switched* to by moving the one pointer. Until the last step the clock is as it was, and a power cut leaves
//! only files that nobody looks at.

use std::io::{self, Cursor, Write};

use feeds::image::{Image, ImageFault, ImageHeader, ImageKind, page::Page};
use semver::Version;
use sha2::{Digest, Sha256};
use storage::large::{Appending, LargeDisk, Readable};

use super::{
    judge::{ImageRefusal, Judge},
    record::{self, program_file},
    slots::{Factory, ImageSlot, Installed, Program, Shun, TrialState},
};

/// File of what is being received.
const INCOMING: &str = "update.part";

/// File of the page that was installed.
pub const PAGE: &str = "page.img";

/// What is put behind the name of a slot's file while it is being written.
const NEW: &str = ".new";

/// Bytes that are gathered before they are written.
const GATHERED: usize = 256 * 1024;

/// The place where images arrive.
pub struct Depot {
    disk: Box<dyn LargeDisk>,
    running: Program,
    factory: Factory,
    stage: UpdateStage,
}

/// The stage of an update.
enum UpdateStage {
    Idle,
    Receiving(Receiving),
    Received(Judge),
    Verified(Verified),
}

struct Receiving {
    judge: Judge,
    received: u64,
    hasher: Sha256,
    /// What has come of the head.
    head: Vec<u8>,
    gathered: Vec<u8>,
}

/// An image that can be switched to.
enum Verified {
    Firmware {
        slot: ImageSlot,
        installed: Box<Installed>,
        /// The version that runs, if it is newer: somebody goes back from it.
        leaves: Option<Version>,
    },
    Page,
}

impl Depot {
    /// Takes a disk and clears away what an update left that was interrupted.
    pub fn open(disk: Box<dyn LargeDisk>, running: Program, factory: Factory) -> Depot {
        let mut depot = Depot {
            disk,
            running,
            factory,
            stage: UpdateStage::Idle,
        };
        depot.abandon();
        depot
    }

    /// Begins to receive an image.
    ///
    /// # Errors
    /// Another update is under way, or there is a file in the way that cannot be removed.
    pub fn begin(&mut self, judge: Judge) -> Result<(), ImageRefusal> {
        if !matches!(self.stage, UpdateStage::Idle) {
            return Err(ImageRefusal::Busy);
        }
        make_empty(self.disk.as_mut(), INCOMING).map_err(ImageRefusal::Disk)?;
        self.stage = UpdateStage::Receiving(Receiving {
            judge,
            received: 0,
            hasher: Sha256::new(),
            head: Vec::with_capacity(ImageHeader::BYTES),
            gathered: Vec::with_capacity(GATHERED),
        });
        Ok(())
    }

    /// Takes the next bytes of it. As soon as the head is there, an image for another clock is refused.
    ///
    /// # Errors
    /// It is not taken, or the disk is full; the update has ended.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), ImageRefusal> {
        let UpdateStage::Receiving(receiving) = &mut self.stage else {
            return Err(ImageRefusal::NotYet("begun"));
        };
        let taken = receiving.take(self.disk.as_mut(), bytes);
        taken.inspect_err(|_| self.abandon())
    }

    /// Notes that all of it has come; `announced` is the SHA-256 that it should have.
    ///
    /// # Errors
    /// It is another one, or the disk did not take it; the update has ended.
    pub fn received(&mut self, announced: Option<[u8; 32]>) -> Result<(), ImageRefusal> {
        let stage = std::mem::replace(&mut self.stage, UpdateStage::Idle);
        let UpdateStage::Receiving(receiving) = stage else {
            self.stage = stage;
            return Err(ImageRefusal::NotYet("begun"));
        };
        let ended = receiving.end(self.disk.as_mut(), announced);
        let judge = ended.inspect_err(|_| self.abandon())?;
        self.stage = UpdateStage::Received(judge);
        Ok(())
    }

    /// Reads it again, checks who signed it, and puts its content where it belongs.
    ///
    /// # Errors
    /// It is not taken, or the disk is full; the update has ended.
    pub fn verify(&mut self) -> Result<ImageHeader, ImageRefusal> {
        let stage = std::mem::replace(&mut self.stage, UpdateStage::Idle);
        let UpdateStage::Received(judge) = stage else {
            self.stage = stage;
            return Err(ImageRefusal::NotYet("received"));
        };
        let verified = self.verified(&judge);
        let (head, verified) = verified.inspect_err(|_| self.abandon())?;
        self.stage = UpdateStage::Verified(verified);
        Ok(head)
    }

    /// Lets the clock use it: a program from the next start on, a page at once. It is durable when this returns.
    ///
    /// # Errors
    /// The disk did not take it; the clock is as it was, and the update has ended.
    pub fn switch(&mut self) -> Result<(), ImageRefusal> {
        let stage = std::mem::replace(&mut self.stage, UpdateStage::Idle);
        let UpdateStage::Verified(verified) = stage else {
            self.stage = stage;
            return Err(ImageRefusal::NotYet("verified"));
        };
        let switched = match verified {
            Verified::Firmware {
                slot,
                installed,
                leaves,
            } => record::change(self.disk.as_mut(), |slots| {
                slots.switch(slot, *installed);
                if let Some(version) = leaves {
                    slots.shun(&version, Shun::Left);
                }
            })
            .map(|_| ()),
            Verified::Page => self
                .disk
                .rename(INCOMING, PAGE)
                .and_then(|()| self.disk.sync_folder()),
        };
        switched
            .map_err(ImageRefusal::Disk)
            .inspect_err(|_| self.abandon())
    }

    fn verified(&mut self, judge: &Judge) -> Result<(ImageHeader, Verified), ImageRefusal> {
        let file = self.disk.open(INCOMING).map_err(ImageRefusal::Disk)?;
        let mut image = Image::open(file)?;
        judge.judge(image.head())?;
        if judge.needs_signature(image.head()) {
            image.verify(&judge.keys)?;
        }
        let head = image.head().clone();
        let verified = match head.kind {
            ImageKind::Firmware => {
                let (slot, installed) = self.unpack(image)?;
                let leaves = judge.is_older(&head).then(|| judge.running.clone());
                Verified::Firmware {
                    slot,
                    installed,
                    leaves,
                }
            }
            ImageKind::Page => {
                let page = page_of(image)?;
                judge.judge_page(&page.manifest.min_firmware)?;
                Verified::Page
            }
        };
        Ok((head, verified))
    }

    /// Writes a program beside its slot, and when it is whole and durable, into it.
    fn unpack(
        &mut self,
        mut image: Image<Box<dyn Readable>>,
    ) -> Result<(ImageSlot, Box<Installed>), ImageRefusal> {
        let (slots, _) = record::read(self.disk.as_mut());
        let slot = slots.free(self.running, &self.factory);
        let name = program_file(slot);
        let new = format!("{name}{NEW}");
        make_empty(self.disk.as_mut(), &new).map_err(ImageRefusal::Disk)?;
        let appending = Appending {
            disk: self.disk.as_mut(),
            name: &new,
        };
        let mut file = io::BufWriter::with_capacity(GATHERED, appending);
        image.unpack(&mut file).map_err(stored)?;
        file.flush().map_err(ImageRefusal::Disk)?;
        drop(file);
        let head = image.head();
        let placed = self
            .disk
            .make_startable(&new)
            .and_then(|()| self.disk.sync(&new))
            // Nothing may point at the slot any more when its bytes change.
            .and_then(|()| record::change(self.disk.as_mut(), |slots| slots.clear(slot)))
            .and_then(|_| self.disk.rename(&new, &name))
            .and_then(|()| self.disk.sync_folder())
            .and_then(|()| self.disk.remove(INCOMING));
        placed.map_err(ImageRefusal::Disk)?;
        let installed = Installed {
            version: head.version.clone(),
            bytes: head.content_bytes,
            digest: head.content_digest,
            beside: self.factory.build.clone(),
            standing: TrialState::Trial { starts: 0 },
            handovers: 0,
        };
        Ok((slot, Box::new(installed)))
    }

    /// Gives up what is under way, and clears away what came of it.
    pub fn abandon(&mut self) {
        self.stage = UpdateStage::Idle;
        let leftovers = ImageSlot::ALL.map(|slot| format!("{}{NEW}", program_file(slot)));
        for name in [INCOMING.to_string()].iter().chain(&leftovers) {
            // What stays is overwritten by the next update.
            if let Err(error) = self.disk.remove(name) {
                tracing::warn!(%error, %name, "what is left of an update stays");
            }
        }
    }
}

impl Receiving {
    fn take(&mut self, disk: &mut dyn LargeDisk, bytes: &[u8]) -> Result<(), ImageRefusal> {
        let max = self.judge.bytes_max;
        self.received += bytes.len() as u64;
        if self.received > max {
            return Err(ImageRefusal::Oversize(max));
        }
        self.hasher.update(bytes);
        let missing = ImageHeader::BYTES - self.head.len();
        if missing > 0 {
            let part = &bytes[..bytes.len().min(missing)];
            self.head.extend_from_slice(part);
            if let Ok(head) = self.head.as_slice().try_into() {
                self.judge.judge(&ImageHeader::decode(head)?)?;
            }
        }
        self.gathered.extend_from_slice(bytes);
        if self.gathered.len() >= GATHERED {
            self.write(disk)?;
        }
        Ok(())
    }

    fn end(
        mut self,
        disk: &mut dyn LargeDisk,
        announced: Option<[u8; 32]>,
    ) -> Result<Judge, ImageRefusal> {
        let digest: [u8; 32] = self.hasher.clone().finalize().into();
        if announced.is_some_and(|announced| announced != digest) {
            return Err(ImageRefusal::Digest);
        }
        self.write(disk)?;
        disk.sync(INCOMING).map_err(ImageRefusal::Disk)?;
        Ok(self.judge)
    }

    fn write(&mut self, disk: &mut dyn LargeDisk) -> Result<(), ImageRefusal> {
        disk.append(INCOMING, &self.gathered)
            .map_err(ImageRefusal::Disk)?;
        self.gathered.clear();
        Ok(())
    }
}

/// Makes a file of nothing, in place of any other.
fn make_empty(disk: &mut dyn LargeDisk, name: &str) -> io::Result<()> {
    disk.remove(name)?;
    disk.write(name, &[])
}

/// Reads the page that was installed; none if there is none.
///
/// # Errors
/// It is damaged.
pub fn installed_page(disk: &mut dyn LargeDisk) -> Result<Option<(ImageHeader, Page)>, ImageFault> {
    let file = match disk.open(PAGE) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let image = Image::open(file)?;
    let head = image.head().clone();
    if head.kind != ImageKind::Page {
        return Err(ImageFault::Page("it holds firmware"));
    }
    Ok(Some((head, page_of(image)?)))
}

fn page_of(mut image: Image<Box<dyn Readable>>) -> Result<Page, ImageFault> {
    let mut content = Cursor::new(Vec::new());
    image.unpack(&mut content)?;
    Page::parse(content.get_ref())
}

/// Tells an image that cannot be used from a disk that does not take it.
fn stored(fault: ImageFault) -> ImageRefusal {
    if let ImageFault::Io(error) = fault {
        return ImageRefusal::Disk(error);
    }
    ImageRefusal::Fault(fault)
}
