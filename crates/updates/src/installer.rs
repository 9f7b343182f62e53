//! Installs uploaded and fetched images, one at a time, on a separate thread.
//!
//! The sender of an image has an [`IncomingUpdate`]; dropping it aborts the update.
//! The device is notified only after the header was checked, so that an image for another clock does not disturb it.

use std::{
    io,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

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
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot},
    time::Instant,
};

use super::{
    image_store::ImageStore,
    keys::KeyRing,
    page,
    policy::{self, AcceptedVersions, ImagePolicy, ImageRefusal, Signatures},
    record,
    slots::{Factory, Firmware, Program},
};
use crate::build;

/// Timeout for a whole image. The panels show only the update during that time.
pub const IMAGE_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// Most queued steps of an installation.
const STEPS_MAX: usize = 1;

#[derive(Debug, Clone)]
pub struct InstallerConfig {
    /// The data folder.
    pub data_dir: PathBuf,
    /// The running program. `None` if the supervisor does not report it; then only pages can be installed.
    pub firmware: Option<Firmware>,
    pub keys: KeyRing,
    /// Whether images must be signed.
    pub signatures: Signatures,
    /// What updates the clock instead, such as an app store; nothing is installed then.
    pub managed_by: Option<String>,
    pub board: BoardSpec,
    /// Queue of inputs to the device.
    pub inbox: Inbox,
}

impl InstallerConfig {
    /// A configuration without slots for programs and without trusted keys.
    pub fn without_slots(board: BoardSpec, data_dir: PathBuf, inbox: Inbox) -> InstallerConfig {
        InstallerConfig {
            keys: KeyRing {
                files: Vec::new(),
                data_dir: data_dir.clone(),
            },
            data_dir,
            firmware: None,
            signatures: Signatures::Required,
            managed_by: None,
            board,
            inbox,
        }
    }
}

/// Installs one image at a time.
#[derive(Debug, Clone)]
pub struct Installer {
    config: Arc<InstallerConfig>,
    permit: Arc<Semaphore>,
    page: Arc<Mutex<Option<Arc<Page>>>>,
}

/// What is known about an image before it is received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announced {
    pub kind: ImageKind,
    pub versions: AcceptedVersions,
    /// Size in bytes, if known.
    pub bytes: Option<u64>,
    /// SHA-256, if known.
    pub digest: Option<[u8; 32]>,
}

impl Installer {
    /// Makes an installer and removes the temporary files of an interrupted update. The second part is a warning for
    /// people if the installed page cannot be used.
    pub fn new(config: InstallerConfig) -> (Installer, Option<String>) {
        drop(image_store(&config));
        let installed = page::installed(
            &mut Folder::new(&config.data_dir),
            &running_version(&config),
        );
        let (page, warning) = match installed {
            Ok(page) => (page.map(Arc::new), None),
            Err(warning) => (None, Some(warning)),
        };
        let installer = Installer {
            config: Arc::new(config),
            permit: Arc::new(Semaphore::new(1)),
            page: Arc::new(Mutex::new(page)),
        };
        (installer, warning)
    }

    pub fn config(&self) -> &InstallerConfig {
        &self.config
    }

    /// The running version; `None` if no other program can be installed here. Reads the folder of keys.
    pub fn updatable(&self) -> Option<String> {
        // Called periodically, so it must not log.
        let keys = self.config.keys.load_quietly();
        let is_possible = self.is_possible(ImageKind::Firmware, &keys);
        is_possible
            .is_ok()
            .then(|| running_version(&self.config).to_string())
    }

    /// The installed page; `None` if the built-in page is served.
    pub fn page(&self) -> Option<Arc<Page>> {
        let page = self.page.lock();
        page.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Largest image, bytes.
    pub fn bytes_max(&self, kind: ImageKind) -> u64 {
        match kind {
            ImageKind::Firmware => self.config.board.firmware_slot_bytes,
            ImageKind::Page => self.config.board.web_slot_bytes,
        }
    }

    /// Checks whether an image of a kind can be installed now.
    ///
    /// # Errors
    /// Another update is in progress, or no such image can be installed here.
    pub fn ready(&self, kind: ImageKind) -> Result<(), ImageRefusal> {
        if self.permit.available_permits() == 0 {
            return Err(ImageRefusal::Busy);
        }
        let announced = Announced {
            kind,
            versions: AcceptedVersions::NotOlder,
            bytes: None,
            digest: None,
        };
        self.policy(&announced).map(drop)
    }

    /// Starts to install an image.
    ///
    /// # Errors
    /// Another update is in progress, or no such image can be installed here.
    pub fn begin(&self, announced: Announced) -> Result<IncomingUpdate, ImageRefusal> {
        let permit = Arc::clone(&self.permit);
        let permit = permit.try_acquire_owned().map_err(|_| ImageRefusal::Busy)?;
        let policy = self.policy(&announced)?;
        let mut store = image_store(&self.config);
        store.begin(policy)?;
        let (steps, step_queue) = mpsc::channel(STEPS_MAX);
        let installation = ImageInstallation {
            store,
            announced,
            received: 0,
            percent: None,
            config: Arc::clone(&self.config),
            runtime: Handle::current(),
            page: Arc::clone(&self.page),
        };
        thread::Builder::new()
            .name("update".to_string())
            .spawn(move || installation.run(step_queue, permit))
            .map_err(ImageRefusal::Disk)?;
        Ok(IncomingUpdate {
            steps,
            deadline: Instant::now() + IMAGE_TIMEOUT,
        })
    }

    fn policy(&self, announced: &Announced) -> Result<ImagePolicy, ImageRefusal> {
        let config = &self.config;
        let keys = config.keys.load();
        self.is_possible(announced.kind, &keys)?;
        if announced.kind == ImageKind::Firmware
            && let Some(firmware) = &config.firmware
        {
            // The other slot has the program to fall back to.
            let slots = record::load(&mut Folder::new(&config.data_dir));
            if slots.is_trial(firmware.running) {
                return Err(ImageRefusal::OnTrial(running_version(config)));
            }
        }
        Ok(ImagePolicy {
            kind: announced.kind,
            bytes_max: self.bytes_max(announced.kind),
            board: config.board.id.to_string(),
            panel: policy::panel(&config.board),
            target: build::BuildFacts::own().target,
            running: running_version(config),
            versions: announced.versions.clone(),
            keys,
            signatures: config.signatures,
        })
    }

    /// Checks whether images of a kind can be installed here with the current configuration.
    fn is_possible(&self, kind: ImageKind, keys: &[VerifyingKey]) -> Result<(), ImageRefusal> {
        let config = &self.config;
        if let Some(manager) = &config.managed_by {
            return Err(ImageRefusal::Managed(manager.clone()));
        }
        if keys.is_empty() && config.signatures == Signatures::Required {
            return Err(ImageRefusal::NoKeys(
                config.keys.folder().display().to_string(),
            ));
        }
        if kind == ImageKind::Page {
            return Ok(());
        }
        if config.firmware.is_none() {
            return Err(ImageRefusal::NoSlots);
        }
        let disk = statvfs(&config.data_dir).map_err(|error| ImageRefusal::Disk(error.into()))?;
        if disk.f_flag.contains(StatVfsMountFlags::NOEXEC) {
            Err(ImageRefusal::NoExec)
        } else {
            Ok(())
        }
    }
}

/// An image that is being received. Dropping it cancels the update.
#[derive(Debug)]
pub struct IncomingUpdate {
    steps: mpsc::Sender<InstallStep>,
    /// When the whole image must have been received.
    deadline: Instant,
}

/// A step of an installation and the channel for its result.
#[derive(Debug)]
enum InstallStep {
    Append(Bytes, oneshot::Sender<Result<(), ImageRefusal>>),
    Finish(oneshot::Sender<Result<ImageHeader, ImageRefusal>>),
    Abort(oneshot::Sender<Result<(), ImageRefusal>>),
}

impl IncomingUpdate {
    /// Appends received bytes.
    ///
    /// # Errors
    /// The image is refused, the timeout has passed, or the write fails; the caller must abort the update.
    pub async fn append(&self, bytes: Bytes) -> Result<(), ImageRefusal> {
        self.check_deadline()?;
        let (reply, result) = oneshot::channel();
        self.send(InstallStep::Append(bytes, reply), result).await
    }

    /// Checks the timeout.
    ///
    /// # Errors
    /// The timeout has passed; the caller must abort the update.
    pub fn check_deadline(&self) -> Result<(), ImageRefusal> {
        if Instant::now() < self.deadline {
            Ok(())
        } else {
            Err(ImageRefusal::Slow(IMAGE_TIMEOUT))
        }
    }

    /// Installs the received image. It is durable when this returns.
    ///
    /// # Errors
    /// The image is refused, or the write fails; the update is aborted.
    pub async fn finish(self) -> Result<ImageHeader, ImageRefusal> {
        let (reply, result) = oneshot::channel();
        self.send(InstallStep::Finish(reply), result).await
    }

    /// Aborts the update. Its temporary files are removed when this returns.
    pub async fn abort(self) {
        let (reply, result) = oneshot::channel();
        // Fails if the update was aborted already.
        let _ = self.send(InstallStep::Abort(reply), result).await;
    }

    async fn send<T>(
        &self,
        step: InstallStep,
        result: oneshot::Receiver<Result<T, ImageRefusal>>,
    ) -> Result<T, ImageRefusal> {
        let closed = || ImageRefusal::Disk(io::ErrorKind::BrokenPipe.into());
        self.steps.send(step).await.map_err(|_| closed())?;
        result.await.map_err(|_| closed())?
    }
}

struct ImageInstallation {
    store: ImageStore,
    announced: Announced,
    received: u64,
    /// Last progress sent to the device; `None` if the device was not notified yet.
    percent: Option<u8>,
    config: Arc<InstallerConfig>,
    runtime: Handle,
    page: Arc<Mutex<Option<Arc<Page>>>>,
}

impl ImageInstallation {
    /// Performs steps until the image is installed or the update is aborted. Then the permit is released, unless the
    /// clock is about to restart.
    fn run(mut self, mut steps: mpsc::Receiver<InstallStep>, permit: OwnedSemaphorePermit) {
        // A reply fails if the sender of the image is gone. Then the queue is closed, too.
        while let Some(step) = steps.blocking_recv() {
            match step {
                InstallStep::Append(bytes, reply) => match self.append(&bytes) {
                    Ok(()) => drop(reply.send(Ok(()))),
                    Err(refusal) => {
                        self.abort(&refusal.to_string());
                        drop(permit);
                        let _ = reply.send(Err(refusal));
                        return;
                    }
                },
                InstallStep::Abort(reply) => {
                    self.abort("the image is incomplete");
                    drop(permit);
                    let _ = reply.send(Ok(()));
                    return;
                }
                InstallStep::Finish(reply) => {
                    let finished = self.finish();
                    match &finished {
                        Ok(header) => self.installed(header, permit),
                        Err(refusal) => {
                            self.abort(&refusal.to_string());
                            drop(permit);
                        }
                    }
                    let _ = reply.send(finished);
                    return;
                }
            }
        }
        self.abort("the transfer was interrupted");
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), ImageRefusal> {
        self.store.append(bytes)?;
        self.received += bytes.len() as u64;
        // The header is not checked before it is complete.
        if self.received < ImageHeader::BYTES as u64 {
            return Ok(());
        }
        if self.percent.is_none() {
            self.notify(UpdateEvent::Started);
        }
        let all = self.announced.bytes.unwrap_or(u64::MAX).max(1);
        let percent = self.received.saturating_mul(100) / all;
        let percent = u8::try_from(percent).unwrap_or(100).min(100);
        if self.percent.replace(percent) != Some(percent) {
            self.notify(UpdateEvent::Progress(percent));
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<ImageHeader, ImageRefusal> {
        self.store.received(self.announced.digest)?;
        let header = self.store.verify()?;
        self.store.activate()?;
        Ok(header)
    }

    /// Publishes an installed image.
    fn installed(&self, header: &ImageHeader, permit: OwnedSemaphorePermit) {
        let version = &header.version;
        match header.kind {
            ImageKind::Firmware => {
                tracing::info!(%version, "new firmware installed, the clock restarts");
                // No other update may start before the restart.
                permit.forget();
                self.notify(UpdateEvent::Verified);
            }
            ImageKind::Page => {
                tracing::info!(%version, "new page installed");
                let disk = &mut Folder::new(&self.config.data_dir);
                match page::installed(disk, &running_version(&self.config)) {
                    Ok(page) => {
                        let mut current = self.page.lock().unwrap_or_else(PoisonError::into_inner);
                        *current = page.map(Arc::new);
                    }
                    Err(warning) => tracing::warn!("{warning}"),
                }
                self.notify(UpdateEvent::Installed);
            }
        }
    }

    fn abort(&mut self, reason: &str) {
        self.store.abort();
        tracing::warn!(%reason, "update aborted");
        if self.percent.is_some() {
            self.notify(UpdateEvent::Failed(reason.to_string()));
        }
    }

    /// Notifies the device, and waits until that is visible.
    fn notify(&self, event: UpdateEvent) {
        // Fails only if the device has stopped.
        let _ = self
            .runtime
            .block_on(self.config.inbox.settle(Input::Uploaded(event)));
    }
}

pub fn running_version(config: &InstallerConfig) -> Version {
    let firmware = config.firmware.as_ref();
    let reported = firmware.and_then(|firmware| Version::parse(&firmware.version).ok());
    reported.unwrap_or_else(|| Factory::own().version)
}

fn image_store(config: &InstallerConfig) -> ImageStore {
    let disk = Box::new(Folder::new(&config.data_dir));
    match &config.firmware {
        Some(firmware) => ImageStore::open(disk, firmware.running, firmware.factory.clone()),
        None => ImageStore::open(disk, Program::Factory, Factory::own()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tempfile::TempDir;

    use super::*;

    /// A configuration without slots; nothing reads its inbox.
    fn config(folder: &Path) -> InstallerConfig {
        let (inbox, _) = runtime::inbox::inbox();
        let board = *board::spec::find("rev-b").unwrap();
        InstallerConfig::without_slots(board, folder.to_path_buf(), inbox)
    }

    fn announced(kind: ImageKind) -> Announced {
        Announced {
            kind,
            versions: AcceptedVersions::NotOlder,
            bytes: None,
            digest: None,
        }
    }

    #[tokio::test]
    async fn a_clock_without_slots_or_keys_is_not_updatable() {
        let folder = TempDir::new().unwrap();
        let without_slots = config(folder.path());
        let is_updatable =
            |config: &InstallerConfig| Installer::new(config.clone()).0.updatable().is_some();
        assert!(!is_updatable(&without_slots));
        let with_slots = InstallerConfig {
            firmware: Some(Firmware {
                running: Program::Factory,
                version: "4.1.0".into(),
                factory: Factory::own(),
            }),
            ..without_slots.clone()
        };
        assert!(!is_updatable(&with_slots), "no trusted key");
        let unsigned = InstallerConfig {
            signatures: Signatures::NotRequired,
            ..with_slots.clone()
        };
        assert!(is_updatable(&unsigned));
        assert!(!is_updatable(&InstallerConfig {
            managed_by: Some("Umbrel".into()),
            ..unsigned.clone()
        }));
        assert!(!is_updatable(&InstallerConfig {
            firmware: None,
            ..unsigned
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
        let update = installer.begin(announced(ImageKind::Firmware)).unwrap();
        assert!(installer.updatable().is_some(), "it is only busy");
        drop(update);
    }
}
