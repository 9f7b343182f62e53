//! Installs what is uploaded or fetched: one image at a time, piece by piece, on a thread of its own.
//!
//! Whoever brings an image holds an [`IncomingUpdate`]; dropping it before the end gives the image up.
//! The device hears of it as soon as the head of the image was judged, so that what is not for this clock disturbs nothing.

use std::{io, path::PathBuf, sync::Arc, thread, time::Duration};

use bytes::Bytes;
use device::{
    board::BoardSpec,
    input::{Input, UpdateEvent},
};
use feeds::image::{ImageHeader, ImageKind, VerifyingKey, page::Page};
use runtime::inbox::Inbox;
use rustix::fs::{StatVfsMountFlags, statvfs};
use semver::Version;
use storage::disk::Folder;
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch},
    time::Instant,
};

use super::{
    depot::Depot,
    judge::{self, ImageRefusal, Judge, Signatures, Versions},
    keys::KeyRing,
    page, record,
    slots::{Factory, Firmware, Program},
};
use crate::build;

/// Time in which a whole image has to come; nothing but the update is shown meanwhile.
pub const IMAGE_TIME: Duration = Duration::from_secs(30 * 60);

/// Steps that may wait for the one before them.
const STEPS_WAITING: usize = 1;

/// Configuration of the installer.
#[derive(Debug, Clone)]
pub struct InstallerConfig {
    /// The data folder.
    pub data_dir: PathBuf,
    /// Which program runs; none if the supervisor does not say, and then only pages can be installed.
    pub firmware: Option<Firmware>,
    /// The keys that are trusted.
    pub keys: KeyRing,
    /// Whether anybody has to sign.
    pub signatures: Signatures,
    /// The board.
    pub board: BoardSpec,
    /// The way into the device.
    pub inbox: Inbox,
}

impl InstallerConfig {
    /// What there is on a clock whose supervisor starts no other program, and where nobody is trusted.
    pub fn without_slots(board: BoardSpec, data_dir: PathBuf, inbox: Inbox) -> InstallerConfig {
        InstallerConfig {
            keys: KeyRing {
                files: Vec::new(),
                data_dir: data_dir.clone(),
            },
            data_dir,
            firmware: None,
            signatures: Signatures::Required,
            board,
            inbox,
        }
    }
}

/// Installs one image at a time.
#[derive(Debug, Clone)]
pub struct Installer {
    means: Arc<InstallerConfig>,
    place: Arc<Semaphore>,
    page: watch::Sender<Option<Arc<Page>>>,
}

/// What is going to come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announced {
    /// What it must be.
    pub kind: ImageKind,
    /// Which versions are taken.
    pub versions: Versions,
    /// How much will come, bytes; none if nobody said.
    pub bytes: Option<u64>,
    /// Its SHA-256, if somebody said.
    pub digest: Option<[u8; 32]>,
}

impl Installer {
    /// An installer, on a folder in which it clears away what an update left that was interrupted. Gives what should be
    /// said of the page that is installed, in words for people.
    pub fn new(means: InstallerConfig) -> (Installer, Option<String>) {
        drop(depot(&means));
        let found = page::installed(&mut Folder::new(&means.data_dir), &running(&means));
        let (page, note) = match found {
            Ok(page) => (page.map(Arc::new), None),
            Err(reason) => (None, Some(reason)),
        };
        let installer = Installer {
            means: Arc::new(means),
            place: Arc::new(Semaphore::new(1)),
            page: watch::Sender::new(page),
        };
        (installer, note)
    }

    /// What is needed to install something.
    pub fn means(&self) -> &InstallerConfig {
        &self.means
    }

    /// The version that runs; none where no other program can be installed, whenever one comes. It looks into folders.
    pub fn updatable(&self) -> Option<String> {
        // Whoever asks now and then has no news for the log.
        let keys = self.means.keys.good();
        let is_possible = self.is_possible(ImageKind::Firmware, &keys);
        is_possible
            .is_ok()
            .then(|| running(&self.means).to_string())
    }

    /// The page that was installed; none while the one inside the program is served.
    pub fn page(&self) -> Option<Arc<Page>> {
        self.page.borrow().clone()
    }

    /// Largest image, bytes.
    pub fn bytes_max(&self, kind: ImageKind) -> u64 {
        match kind {
            ImageKind::Firmware => self.means.board.firmware_slot_bytes,
            ImageKind::Page => self.means.board.web_slot_bytes,
        }
    }

    /// Tells whether anything of a kind could be installed at this moment.
    ///
    /// # Errors
    /// Another update is under way, or nothing can be installed here.
    pub fn ready(&self, kind: ImageKind) -> Result<(), ImageRefusal> {
        if self.place.available_permits() == 0 {
            return Err(ImageRefusal::Busy);
        }
        let announced = Announced {
            kind,
            versions: Versions::NotOlder,
            bytes: None,
            digest: None,
        };
        self.judge(&announced).map(drop)
    }

    /// Begins to install what will come.
    ///
    /// # Errors
    /// Another update is under way, or nothing can be installed here.
    pub fn begin(&self, announced: Announced) -> Result<IncomingUpdate, ImageRefusal> {
        let place = Arc::clone(&self.place);
        let place = place.try_acquire_owned().map_err(|_| ImageRefusal::Busy)?;
        let judge = self.judge(&announced)?;
        let mut depot = depot(&self.means);
        depot.begin(judge)?;
        let (steps, todo) = mpsc::channel(STEPS_WAITING);
        let work = ImageInstallation {
            depot,
            announced,
            received: 0,
            percent: None,
            means: Arc::clone(&self.means),
            runtime: Handle::current(),
            page: self.page.clone(),
        };
        thread::Builder::new()
            .name("update".to_string())
            .spawn(move || work.run(todo, place))
            .map_err(ImageRefusal::Disk)?;
        Ok(IncomingUpdate {
            steps,
            until: Instant::now() + IMAGE_TIME,
        })
    }

    fn judge(&self, announced: &Announced) -> Result<Judge, ImageRefusal> {
        let means = &self.means;
        let keys = means.keys.keys();
        self.is_possible(announced.kind, &keys)?;
        if announced.kind == ImageKind::Firmware
            && let Some(firmware) = &means.firmware
        {
            // The other slot holds what is gone back to.
            let slots = record::look(&mut Folder::new(&means.data_dir));
            if slots.is_trial(firmware.running) {
                return Err(ImageRefusal::OnTrial(running(means)));
            }
        }
        Ok(Judge {
            kind: announced.kind,
            bytes_max: self.bytes_max(announced.kind),
            board: means.board.id.to_string(),
            panel: judge::panel(&means.board),
            target: build::BuildFacts::own().target,
            running: running(means),
            versions: announced.versions.clone(),
            keys,
            signatures: means.signatures,
        })
    }

    /// Tells whether anything of a kind is ever installed here, as long as the owner changes nothing.
    fn is_possible(&self, kind: ImageKind, keys: &[VerifyingKey]) -> Result<(), ImageRefusal> {
        let means = &self.means;
        if keys.is_empty() && means.signatures == Signatures::Required {
            return Err(ImageRefusal::NoKeys(
                means.keys.folder().display().to_string(),
            ));
        }
        if kind == ImageKind::Page {
            return Ok(());
        }
        if means.firmware.is_none() {
            return Err(ImageRefusal::NoSlots);
        }
        let disk = statvfs(&means.data_dir).map_err(|error| ImageRefusal::Disk(error.into()))?;
        match disk.f_flag.contains(StatVfsMountFlags::NOEXEC) {
            true => Err(ImageRefusal::NoExec),
            false => Ok(()),
        }
    }
}

/// An image that is being received. Dropping it cancels the update.
#[derive(Debug)]
pub struct IncomingUpdate {
    steps: mpsc::Sender<InstallStep>,
    /// When it has to have come whole.
    until: Instant,
}

/// A step of an installation and the channel for its result.
#[derive(Debug)]
enum InstallStep {
    Append(Bytes, oneshot::Sender<Result<(), ImageRefusal>>),
    Finish(oneshot::Sender<Result<ImageHeader, ImageRefusal>>),
    GiveUp(oneshot::Sender<Result<(), ImageRefusal>>),
}

impl IncomingUpdate {
    /// Takes the next bytes.
    ///
    /// # Errors
    /// The image is not taken, takes too long, or cannot be stored; it is to be given up.
    pub async fn append(&self, bytes: Bytes) -> Result<(), ImageRefusal> {
        self.in_time()?;
        let (outcome, told) = oneshot::channel();
        self.step(InstallStep::Append(bytes, outcome), told).await
    }

    /// Asks whether the image may still come.
    ///
    /// # Errors
    /// It takes too long, and has to be given up.
    pub fn in_time(&self) -> Result<(), ImageRefusal> {
        if Instant::now() < self.until {
            Ok(())
        } else {
            Err(ImageRefusal::Slow(IMAGE_TIME))
        }
    }

    /// Notes that all has come, and installs it; it is durable when this returns.
    ///
    /// # Errors
    /// The image is not taken, or cannot be stored; it was given up.
    pub async fn finish(self) -> Result<ImageHeader, ImageRefusal> {
        let (outcome, told) = oneshot::channel();
        self.step(InstallStep::Finish(outcome), told).await
    }

    /// Gives the image up; the clock is as it was when this returns.
    pub async fn give_up(self) {
        let (outcome, told) = oneshot::channel();
        // One that was given up already is no less so.
        let _ = self.step(InstallStep::GiveUp(outcome), told).await;
    }

    async fn step<T>(
        &self,
        step: InstallStep,
        told: oneshot::Receiver<Result<T, ImageRefusal>>,
    ) -> Result<T, ImageRefusal> {
        let gone = || ImageRefusal::Disk(io::ErrorKind::BrokenPipe.into());
        self.steps.send(step).await.map_err(|_| gone())?;
        told.await.map_err(|_| gone())?
    }
}

/// The installation of one image.
struct ImageInstallation {
    depot: Depot,
    announced: Announced,
    received: u64,
    /// What the device was told last; none before it was told anything.
    percent: Option<u8>,
    means: Arc<InstallerConfig>,
    runtime: Handle,
    page: watch::Sender<Option<Arc<Page>>>,
}

impl ImageInstallation {
    /// Takes step after step until the image is installed or given up; the place is free again after that, unless the
    /// clock is about to be started again.
    fn run(mut self, mut todo: mpsc::Receiver<InstallStep>, place: OwnedSemaphorePermit) {
        // Whoever brought the image may be gone when there is an outcome, which is seen at the next step.
        while let Some(step) = todo.blocking_recv() {
            match step {
                InstallStep::Append(bytes, outcome) => match self.append(&bytes) {
                    Ok(()) => drop(outcome.send(Ok(()))),
                    Err(refusal) => {
                        self.give_up(&refusal.to_string());
                        drop(place);
                        let _ = outcome.send(Err(refusal));
                        return;
                    }
                },
                InstallStep::GiveUp(outcome) => {
                    self.give_up("it did not come whole");
                    drop(place);
                    let _ = outcome.send(Ok(()));
                    return;
                }
                InstallStep::Finish(outcome) => {
                    let finished = self.finish();
                    match &finished {
                        Ok(head) => self.installed(head, place),
                        Err(refusal) => {
                            self.give_up(&refusal.to_string());
                            drop(place);
                        }
                    }
                    let _ = outcome.send(finished);
                    return;
                }
            }
        }
        self.give_up("it broke off");
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), ImageRefusal> {
        self.depot.append(bytes)?;
        self.received += bytes.len() as u64;
        // Before that nothing is known of it.
        if self.received < ImageHeader::BYTES as u64 {
            return Ok(());
        }
        if self.percent.is_none() {
            self.tell(UpdateEvent::Started);
        }
        let all = self.announced.bytes.unwrap_or(u64::MAX).max(1);
        let percent = self.received.saturating_mul(100) / all;
        let percent = u8::try_from(percent).unwrap_or(100).min(100);
        if self.percent.replace(percent) != Some(percent) {
            self.tell(UpdateEvent::Progress(percent));
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<ImageHeader, ImageRefusal> {
        self.depot.received(self.announced.digest)?;
        let head = self.depot.verify()?;
        self.depot.switch()?;
        Ok(head)
    }

    /// Tells what was installed to whoever uses it.
    fn installed(&self, head: &ImageHeader, place: OwnedSemaphorePermit) {
        let version = &head.version;
        match head.kind {
            ImageKind::Firmware => {
                tracing::info!(%version, "new firmware is installed, the clock is started again");
                // Until then there is nothing to be updated.
                place.forget();
                self.tell(UpdateEvent::Verified);
            }
            ImageKind::Page => {
                tracing::info!(%version, "a new page is installed");
                let disk = &mut Folder::new(&self.means.data_dir);
                match page::installed(disk, &running(&self.means)) {
                    Ok(page) => drop(self.page.send_replace(page.map(Arc::new))),
                    Err(reason) => tracing::warn!("{reason}"),
                }
                self.tell(UpdateEvent::Installed);
            }
        }
    }

    fn give_up(&mut self, reason: &str) {
        self.depot.abandon();
        tracing::warn!(%reason, "an update was given up");
        if self.percent.is_some() {
            self.tell(UpdateEvent::Failed(reason.to_string()));
        }
    }

    /// Tells the device, and waits until that is visible.
    fn tell(&self, upload: UpdateEvent) {
        // Without the device there is nobody who could want to know.
        let _ = self
            .runtime
            .block_on(self.means.inbox.settle(Input::Uploaded(upload)));
    }
}

/// The version that runs.
pub fn running(means: &InstallerConfig) -> Version {
    let firmware = means.firmware.as_ref();
    let told = firmware.and_then(|firmware| Version::parse(&firmware.version).ok());
    told.unwrap_or_else(|| Factory::own().version)
}

fn depot(means: &InstallerConfig) -> Depot {
    let disk = Box::new(Folder::new(&means.data_dir));
    match &means.firmware {
        Some(firmware) => Depot::open(disk, firmware.running, firmware.factory.clone()),
        None => Depot::open(disk, Program::Factory, Factory::own()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tempfile::TempDir;
    use tokio::time::advance;

    use super::*;

    /// Those of a clock without slots for programs, which nobody hears.
    fn means(folder: &Path) -> InstallerConfig {
        let (inbox, _) = runtime::inbox::inbox();
        let board = *board::spec::find("rev-b").unwrap();
        InstallerConfig::without_slots(board, folder.to_path_buf(), inbox)
    }

    /// One that takes any page.
    fn of_pages(folder: &Path) -> Installer {
        let means = InstallerConfig {
            signatures: Signatures::NotRequired,
            ..means(folder)
        };
        Installer::new(means).0
    }

    fn announced(kind: ImageKind) -> Announced {
        Announced {
            kind,
            versions: Versions::NotOlder,
            bytes: None,
            digest: None,
        }
    }

    #[tokio::test]
    async fn nothing_is_offered_where_nothing_is_ever_installed() {
        let folder = TempDir::new().unwrap();
        let nothing = means(folder.path());
        let offers =
            |means: &InstallerConfig| Installer::new(means.clone()).0.updatable().is_some();
        assert!(!offers(&nothing));
        let with_slots = InstallerConfig {
            firmware: Some(Firmware {
                running: Program::Factory,
                version: "4.1.0".into(),
                factory: Factory::own(),
            }),
            ..nothing.clone()
        };
        assert!(!offers(&with_slots), "it trusts no key");
        let trusting = InstallerConfig {
            signatures: Signatures::NotRequired,
            ..with_slots.clone()
        };
        assert!(offers(&trusting));
        assert!(!offers(&InstallerConfig {
            firmware: None,
            ..trusting
        }));

        let (installer, _) = Installer::new(with_slots.clone());
        let keys = with_slots.keys.folder();
        std::fs::create_dir(&keys).unwrap();
        std::fs::write(keys.join("bad.pub"), "no key").unwrap();
        assert_eq!(installer.updatable(), None);
        let key = minisign::KeyPair::generate_unencrypted_keypair()
            .unwrap()
            .pk;
        std::fs::write(keys.join("good.pub"), key.to_box().unwrap().to_string()).unwrap();
        assert_eq!(installer.updatable().as_deref(), Some("4.1.0"));
        let under_way = installer.begin(announced(ImageKind::Firmware)).unwrap();
        assert!(installer.updatable().is_some(), "it is only busy");
        drop(under_way);
    }

    #[tokio::test(start_paused = true)]
    async fn an_image_that_does_not_end_is_given_up() {
        let folder = TempDir::new().unwrap();
        let installer = of_pages(folder.path());
        let announced = announced(ImageKind::Page);
        let byte = || Bytes::from_static(b"P");
        let update = installer.begin(announced.clone()).unwrap();
        advance(IMAGE_TIME - Duration::from_millis(1)).await;
        update.append(byte()).await.unwrap();
        let another = installer.begin(announced.clone());
        assert!(matches!(another, Err(ImageRefusal::Busy)), "{another:?}");
        advance(Duration::from_millis(1)).await;
        let late = update.append(byte()).await.unwrap_err();
        assert_eq!(late.to_string(), "it did not come whole within 30 minutes");
        update.give_up().await;
        assert!(installer.begin(announced).is_ok());
    }

    #[tokio::test]
    async fn an_image_that_breaks_off_leaves_nothing() {
        let folder = TempDir::new().unwrap();
        let installer = of_pages(folder.path());
        let announced = announced(ImageKind::Page);
        let update = installer.begin(announced.clone()).unwrap();
        update.append(Bytes::from_static(b"P")).await.unwrap();
        let parts = || {
            let entries = std::fs::read_dir(folder.path()).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name());
            names.filter(|name| name == "update.part").count()
        };
        assert_eq!(parts(), 1);
        drop(update);
        while installer.place.available_permits() == 0 {
            thread::yield_now();
        }
        assert_eq!(parts(), 0);
        assert!(installer.begin(announced).is_ok());
    }
}
