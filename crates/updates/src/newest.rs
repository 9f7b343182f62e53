//! Asks for the newest release: what every door does about it.

use device::{releases::ReleasePlan, view::View};
use feeds::image::ImageKind;
use net::url::Url;
use tokio::sync::{mpsc, watch};

use super::{installer::Installer, judge::ImageRefusal};

/// Wishes for the newest release that may wait.
const REQUESTS_MAX: usize = 1;

/// Asks for the newest release.
#[derive(Debug, Clone)]
pub struct Newest {
    installer: Installer,
    plans: watch::Receiver<Option<ReleasePlan>>,
    requests: mpsc::Sender<()>,
}

/// Why nobody looks for the newest release.
#[derive(Debug, thiserror::Error)]
pub enum NotAsked {
    /// The owner takes no updates.
    #[error("updates are switched off")]
    Disabled,
    /// Nothing can be installed at the moment.
    #[error("{0}")]
    Refused(#[from] ImageRefusal),
    /// The owner has not said where.
    #[error("no address of a release feed is set")]
    NoFeed,
    /// What the owner said is no address.
    #[error("the address of the release feed is none")]
    BadFeed,
    /// The clock is about to begin, or to end.
    #[error("the clock is not ready for it")]
    NotReady,
    /// Somebody else has asked, and was not heard yet.
    #[error("the clock has too much to do")]
    Busy,
}

impl Newest {
    /// A way to ask, and what is asked that way.
    pub fn new(
        installer: Installer,
        plans: watch::Receiver<Option<ReleasePlan>>,
    ) -> (Newest, mpsc::Receiver<()>) {
        let (requests, receiver) = mpsc::channel(REQUESTS_MAX);
        let newest = Newest {
            installer,
            plans,
            requests,
        };
        (newest, receiver)
    }

    /// What installs it.
    pub fn installer(&self) -> &Installer {
        &self.installer
    }

    /// Has somebody look for the newest release and install it if the clock takes it; how that ends is told by the
    /// device and in the record of updates.
    ///
    /// # Errors
    /// Nobody looks.
    pub fn ask(&self, view: &View) -> Result<(), NotAsked> {
        if !view.active.ota_enabled {
            return Err(NotAsked::Disabled);
        }
        self.installer.ready(ImageKind::Firmware)?;
        let feed = view.active.git_release_url.expose();
        if feed.is_empty() {
            return Err(NotAsked::NoFeed);
        }
        if Url::parse(feed).is_err() {
            return Err(NotAsked::BadFeed);
        }
        if self.plans.borrow().is_none() {
            return Err(NotAsked::NotReady);
        }
        self.requests.try_send(()).map_err(|error| match error {
            mpsc::error::TrySendError::Full(()) => NotAsked::Busy,
            mpsc::error::TrySendError::Closed(()) => NotAsked::NotReady,
        })
    }
}
