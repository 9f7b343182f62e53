//! Fetches the list of releases and the image of a release.

use std::time::Duration;

use device::{releases::ReleasePlan, sources::Route};
use feeds::{
    image::{ImageFault, ImageKind},
    malformed::Malformed,
    release::{self, CHECKSUM_BODY_MAX, FEED_BODY_MAX, ListedRelease, firmware_asset},
};
use net::{
    dialer::Dialer,
    http::{self, Get, HttpError, RequestLimits},
    url::{BadUrl, Url},
};
use semver::Version;

use super::{
    installer::{Announced, IncomingUpdate, Installer, InstallerConfig},
    policy::{self, AcceptedVersions, ImageRefusal},
};
use crate::build;

/// Timeout for the list of releases and for a checksum.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout for the response with an image, and for each read of its body.
const IMAGE_READ_TIMEOUT: Duration = Duration::from_secs(15);

/// A release feed and how to connect to it.
#[derive(Debug, Clone)]
pub(super) struct ReleaseFeed {
    feed: Url,
    dialer: Dialer,
    /// Direct or through a proxy.
    route: Route,
}

/// Why nothing was installed; the text is for owners and contains no secret.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error("cannot fetch {0}: {1}")]
    Http(&'static str, HttpError),
    #[error("cannot fetch {0}: the server responded with status {1}")]
    Status(&'static str, u16),
    #[error("{0} is malformed ({reason})", reason = .1.0)]
    Malformed(&'static str, Malformed),
    #[error("the list has no version")]
    NoVersion,
    #[error("the release has no file {0} with a checksum")]
    NoImage(String),
    #[error("the address of {0} is invalid: {1}")]
    Address(&'static str, BadUrl),
    #[error("the settings were changed during the download")]
    Cancelled,
    #[error("{0}")]
    Refused(#[from] ImageRefusal),
}

impl FetchError {
    /// Whether the image was fetched but has no trusted signature.
    pub(super) fn is_unsigned(&self) -> bool {
        matches!(
            self,
            FetchError::Refused(ImageRefusal::Fault(
                ImageFault::Unsigned | ImageFault::Untrusted(_)
            ))
        )
    }
}

impl ReleaseFeed {
    pub(super) fn new(plan: &ReleasePlan, dialer: &Dialer) -> Result<ReleaseFeed, FetchError> {
        let feed = Url::parse(plan.feed.expose());
        Ok(ReleaseFeed {
            feed: feed.map_err(|error| FetchError::Address("the list", error))?,
            dialer: dialer.clone(),
            route: plan.route.clone(),
        })
    }

    pub(super) async fn releases(&self) -> Result<Vec<ListedRelease>, FetchError> {
        let list = self.get("the list", self.feed.clone(), FEED_BODY_MAX);
        let list = list.await?;
        release::feed(&list).map_err(|error| FetchError::Malformed("the list", error))
    }

    /// Fetches the image of a release. The caller finishes the update; dropping it aborts it.
    pub(super) async fn fetch(
        &self,
        installer: &Installer,
        release: &ListedRelease,
        version: Version,
    ) -> Result<IncomingUpdate, FetchError> {
        let (image, checksum) = self.addresses(release, installer.config())?;
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
            timeout: LIST_TIMEOUT,
            body_max,
        };
        let request = Get::new(url).accepting_json();
        let response = http::get(&self.dialer, &self.route, request, limits).await;
        let response = response.map_err(|error| FetchError::Http(what, error))?;
        if !response.status.is_success() {
            return Err(FetchError::Status(what, response.status.as_u16()));
        }
        Ok(response.body.into())
    }

    /// Addresses of the image for this clock and of its checksum.
    fn addresses(
        &self,
        release: &ListedRelease,
        config: &InstallerConfig,
    ) -> Result<(Url, Url), FetchError> {
        let name = image_name(config);
        let (image, checksum) = release
            .image(&name)
            .ok_or_else(|| FetchError::NoImage(name.clone()))?;
        let join = |what, url: &str| {
            let joined = self.feed.join(url);
            joined.map_err(|error| FetchError::Address(what, error))
        };
        Ok((join("the image", image)?, join("the checksum", checksum)?))
    }

    async fn fetch_image(
        &self,
        installer: &Installer,
        url: Url,
        version: Version,
        digest: [u8; 32],
    ) -> Result<IncomingUpdate, FetchError> {
        const WHAT: &str = "the image";
        let http_error = |error| FetchError::Http(WHAT, error);
        let request = Get::new(url);
        let opened = http::open(&self.dialer, &self.route, request, IMAGE_READ_TIMEOUT).await;
        let mut download = opened.map_err(http_error)?;
        if !download.status.is_success() {
            return Err(FetchError::Status(WHAT, download.status.as_u16()));
        }
        let length = download.headers.get(::http::header::CONTENT_LENGTH);
        let update = installer.begin(Announced {
            kind: ImageKind::Firmware,
            // Channel, pin and share were checked for this version, so no other version is accepted.
            versions: AcceptedVersions::Exactly(version),
            bytes: length.and_then(|length| length.to_str().ok()?.parse().ok()),
            digest: Some(digest),
        })?;
        match receive(&mut download, &update).await {
            Ok(()) => Ok(update),
            Err(error) => {
                update.abort().await;
                Err(error)
            }
        }
    }
}

/// File name of the image for a clock.
pub(super) fn image_name(config: &InstallerConfig) -> String {
    let panel = policy::panel(&config.board);
    firmware_asset(config.board.id, &panel, &build::BuildFacts::own().target)
}

async fn receive(download: &mut http::Download, update: &IncomingUpdate) -> Result<(), FetchError> {
    let http_error = |error| FetchError::Http("the image", error);
    while let Some(bytes) = download.chunk().await.map_err(http_error)? {
        update.append(bytes).await?;
    }
    Ok(())
}
