//! Requests the update to the newest release, for HTTP and MQTT.

use device::{releases::ReleasePlan, view::View};
use feeds::image::ImageKind;
use net::url::Url;
use tokio::sync::{mpsc, watch};

use super::{installer::Installer, policy::ImageRefusal};

/// Most queued requests.
const REQUESTS_MAX: usize = 1;

/// Requests the update to the newest release.
#[derive(Debug, Clone)]
pub struct NewestRelease {
    installer: Installer,
    plans: watch::Receiver<Option<ReleasePlan>>,
    requests: mpsc::Sender<()>,
}

/// Why an update was not started.
#[derive(Debug, thiserror::Error)]
pub enum UpdateNotStarted {
    /// Updates are switched off.
    #[error("updates are switched off")]
    Disabled,
    /// Nothing can be installed now.
    #[error("{0}")]
    Refused(#[from] ImageRefusal),
    #[error("no address of a release feed is set")]
    NoFeed,
    /// The address of the feed is invalid.
    #[error("the address of the release feed is invalid")]
    BadFeed,
    /// The clock is starting or stopping.
    #[error("the clock is starting or stopping: try again later")]
    NotReady,
    /// Another request is queued.
    #[error("another request for an update is waiting")]
    Busy,
}

impl NewestRelease {
    /// A sender of requests and their receiver.
    pub fn new(
        installer: Installer,
        plans: watch::Receiver<Option<ReleasePlan>>,
    ) -> (NewestRelease, mpsc::Receiver<()>) {
        let (requests, receiver) = mpsc::channel(REQUESTS_MAX);
        let newest = NewestRelease {
            installer,
            plans,
            requests,
        };
        (newest, receiver)
    }

    pub fn installer(&self) -> &Installer {
        &self.installer
    }

    /// Requests to check for the newest release and to install it. The device and the record of the slots report the
    /// result.
    ///
    /// # Errors
    /// The update was not started.
    pub fn request(&self, view: &View) -> Result<(), UpdateNotStarted> {
        if !view.settings.active.ota_enabled {
            return Err(UpdateNotStarted::Disabled);
        }
        self.installer.ready(ImageKind::Firmware)?;
        let feed = view.settings.active.git_release_url.expose();
        if feed.is_empty() {
            return Err(UpdateNotStarted::NoFeed);
        }
        if Url::parse(feed).is_err() {
            return Err(UpdateNotStarted::BadFeed);
        }
        if self.plans.borrow().is_none() {
            return Err(UpdateNotStarted::NotReady);
        }
        self.requests.try_send(()).map_err(|error| match error {
            mpsc::error::TrySendError::Full(()) => UpdateNotStarted::Busy,
            mpsc::error::TrySendError::Closed(()) => UpdateNotStarted::NotReady,
        })
    }
}
