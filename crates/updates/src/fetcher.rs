//! Fetches the list of releases, and what is to be installed of it.

use std::time::Duration;

use device::releases::ReleasePlan;
use feeds::{
    image::{ImageFault, ImageKind},
    malformed::Malformed,
    release::{self, CHECKSUM_BODY_MAX, FEED_BODY_MAX, ListedRelease, firmware_asset},
};
use net::{
    dialer::Dialer,
    http::{self, Get, HttpError, RequestLimits},
    route::Route,
    url::{BadUrl, Url},
};
use runtime::route::route;
use semver::Version;

use super::{
    installer::{Announced, IncomingUpdate, Installer, InstallerConfig},
    judge::{self, ImageRefusal, Versions},
};
use crate::build;

/// Longest time for the list of a release, or for a checksum.
const LIST_TIME: Duration = Duration::from_secs(10);

/// Longest time until an image begins to come, and longest pause in it.
const IMAGE_PAUSE: Duration = Duration::from_secs(15);

/// Where releases are, and the way there.
#[derive(Debug, Clone)]
pub(super) struct Source {
    feed: Url,
    dialer: Dialer,
    /// The path through a proxy, perhaps.
    route: Route,
}

/// Why nothing was installed, as text for owners. Contains no secret.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error("{0} was not fetched: {1}")]
    Http(&'static str, HttpError),
    #[error("{0} was not fetched: the server says {1}")]
    Status(&'static str, u16),
    #[error("{0} is not understood ({reason})", reason = .1.0)]
    Malformed(&'static str, Malformed),
    #[error("the list names no version")]
    NoVersion,
    #[error("the release has no {0} with a checksum beside it")]
    NoImage(String),
    #[error("the address of {0} cannot be used: {1}")]
    Address(&'static str, BadUrl),
    #[error("the settings were changed meanwhile")]
    NotWanted,
    #[error("{0}")]
    Refused(#[from] ImageRefusal),
}

impl FetchError {
    /// Tells whether the image was fetched, and nobody who is trusted had signed it.
    pub(super) fn is_unsigned(&self) -> bool {
        matches!(
            self,
            FetchError::Refused(ImageRefusal::Fault(
                ImageFault::Unsigned | ImageFault::Untrusted(_)
            ))
        )
    }
}

impl Source {
    /// The list that the settings name.
    pub(super) fn of(plan: &ReleasePlan, dialer: &Dialer) -> Result<Source, FetchError> {
        let feed = Url::parse(plan.feed.expose());
        Ok(Source {
            feed: feed.map_err(|error| FetchError::Address("the list", error))?,
            dialer: dialer.clone(),
            route: route(&plan.route),
        })
    }

    /// What is in the list.
    pub(super) async fn releases(&self) -> Result<Vec<ListedRelease>, FetchError> {
        let list = self.get("the list", self.feed.clone(), FEED_BODY_MAX);
        let list = list.await?;
        release::feed(&list).map_err(|error| FetchError::Malformed("the list", error))
    }

    /// Fetches a release, which was judged by this version; it is to be finished then. Dropping it gives it up.
    pub(super) async fn fetch(
        &self,
        installer: &Installer,
        release: &ListedRelease,
        version: Version,
    ) -> Result<IncomingUpdate, FetchError> {
        let (image, checksum) = self.places(release, installer.means())?;
        let checksum = self.get("the checksum", checksum, CHECKSUM_BODY_MAX);
        let digest = release::checksum(&checksum.await?);
        let digest = digest.map_err(|error| FetchError::Malformed("the checksum", error))?;
        self.fetch_image(installer, image, version, digest).await
    }

    async fn get(
        &self,
        what: &'static str,
        url: Url,
        body_max: usize,
    ) -> Result<Vec<u8>, FetchError> {
        let limits = RequestLimits {
            timeout: LIST_TIME,
            body_max,
        };
        let request = Get::new(url).accepting_json();
        let answer = http::get(&self.dialer, &self.route, request, limits).await;
        let answer = answer.map_err(|error| FetchError::Http(what, error))?;
        if !answer.status.is_success() {
            return Err(FetchError::Status(what, answer.status.as_u16()));
        }
        Ok(answer.body.into())
    }

    /// Where the image for this clock is, and its checksum.
    fn places(
        &self,
        release: &ListedRelease,
        means: &InstallerConfig,
    ) -> Result<(Url, Url), FetchError> {
        let name = asset(means);
        let (image, checksum) = release
            .image(&name)
            .ok_or_else(|| FetchError::NoImage(name.clone()))?;
        let place = |what, url: &str| {
            let joined = self.feed.join(url);
            joined.map_err(|error| FetchError::Address(what, error))
        };
        Ok((place("the image", image)?, place("the checksum", checksum)?))
    }

    async fn fetch_image(
        &self,
        installer: &Installer,
        url: Url,
        version: Version,
        digest: [u8; 32],
    ) -> Result<IncomingUpdate, FetchError> {
        const WHAT: &str = "the image";
        let broken = |error| FetchError::Http(WHAT, error);
        let request = Get::new(url);
        let opened = http::open(&self.dialer, &self.route, request, IMAGE_PAUSE).await;
        let mut download = opened.map_err(broken)?;
        if !download.status.is_success() {
            return Err(FetchError::Status(WHAT, download.status.as_u16()));
        }
        let length = download.headers.get(::http::header::CONTENT_LENGTH);
        let update = installer.begin(Announced {
            kind: ImageKind::Firmware,
            // Channel, pin and share were asked about this version, so that another one is not taken.
            versions: Versions::Just(version),
            bytes: length.and_then(|length| length.to_str().ok()?.parse().ok()),
            digest: Some(digest),
        })?;
        match receive(&mut download, &update).await {
            Ok(()) => Ok(update),
            Err(trouble) => {
                update.give_up().await;
                Err(trouble)
            }
        }
    }
}

/// Name of the image for a clock.
pub(super) fn asset(means: &InstallerConfig) -> String {
    let panel = judge::panel(&means.board);
    firmware_asset(means.board.id, &panel, &build::BuildFacts::own().target)
}

async fn receive(download: &mut http::Download, update: &IncomingUpdate) -> Result<(), FetchError> {
    let chunk = |error| FetchError::Http("the image", error);
    while let Some(bytes) = download.chunk().await.map_err(chunk)? {
        update.append(bytes).await?;
    }
    Ok(())
}
