//! Which images are accepted: for this board, its panels and this machine, with an accepted version, signed by a trusted
//! key.

use std::time::Duration;

use device::board::BoardSpec;
use feeds::{
    image::{ImageFault, ImageHeader, ImageKind, VerifyingKey},
    release::is_newer,
};
use semver::Version;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone)]
pub struct ImagePolicy {
    pub kind: ImageKind,
    /// Largest image, bytes.
    pub bytes_max: u64,
    pub board: String,
    pub panel: String,
    /// Required target triple.
    pub target: String,
    pub running: Version,
    pub versions: AcceptedVersions,
    pub keys: Vec<VerifyingKey>,
    /// Whether images must be signed.
    pub signatures: Signatures,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcceptedVersions {
    /// Any build of this version.
    Exactly(Version),
    /// The running version and newer ones.
    NotOlder,
    All,
}

/// Whether images must be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Signatures {
    /// Images must be signed by a trusted key.
    #[default]
    Required,
    /// Unsigned images are accepted.
    NotRequired,
}

/// Why an image is refused.
#[derive(Debug, thiserror::Error)]
pub enum ImageRefusal {
    /// Another update is in progress.
    #[error("another update is in progress")]
    Busy,
    /// The running version is on trial, so the program in the other slot is still needed.
    #[error("version {0} is still on trial: try again in a few minutes")]
    OnTrial(Version),
    /// The previous step of the update is missing.
    #[error("nothing was {0} yet")]
    NotYet(&'static str),
    /// The timeout has passed.
    #[error("the image was not received completely within {} minutes", .0.as_secs() / 60)]
    Slow(Duration),
    /// The image is too large.
    #[error("the image is larger than {0} bytes, which is the size of its slot")]
    Oversize(u64),
    /// The image is damaged or not trusted.
    #[error("{0}")]
    Fault(#[from] ImageFault),
    #[error("it is a {kind}: upload it to {path}")]
    Kind {
        kind: &'static str,
        path: &'static str,
    },
    #[error("it is for the board {image}, but this is {own}")]
    Board { image: String, own: String },
    #[error("it is for panels of {image}, but these are {own}")]
    Panel {
        image: String,
        /// These panels.
        own: String,
    },
    /// The image is for other machines.
    #[error("it is for {image}, but this machine is {own}")]
    Target {
        image: String,
        /// Target of this machine.
        own: String,
    },
    /// The image is older than the running version.
    #[error(
        "it is version {image}, which is older than the running {running}: add downgrade=true to install it anyway"
    )]
    Older { image: Version, running: Version },
    /// The image has another version than the list of releases says.
    #[error("it is version {image}, but the list says {listed}")]
    Mislabelled { image: Version, listed: Version },
    /// The page needs newer firmware.
    #[error(
        "it needs version {needs} or newer, but {running} is running: update the firmware first"
    )]
    NeedsNewer { needs: Version, running: Version },
    /// An app store or a package manager updates the clock instead.
    #[error("{0} updates this clock: install the new version there")]
    Managed(String),
    /// No key is trusted.
    #[error(
        "no key is trusted here: put the public key of the signer into the folder {0}, or start the clock with --update-key FILE"
    )]
    NoKeys(String),
    /// The supervisor does not support slots.
    #[error("the supervisor of this clock cannot start another program: restart the clock by hand")]
    NoSlots,
    /// The digest of the image differs from the announced one.
    #[error("its SHA-256 differs from the announced one")]
    Digest,
    /// Programs in the data folder cannot be executed.
    #[error("the data folder is on a file system that does not allow programs (noexec)")]
    NoExec,
    /// An I/O error.
    #[error("it cannot be stored: {0}")]
    Disk(std::io::Error),
}

impl ImagePolicy {
    /// Checks the header of an image, before the rest is received.
    ///
    /// # Errors
    /// The image is for another clock, or its version is not accepted.
    pub fn check(&self, header: &ImageHeader) -> Result<(), ImageRefusal> {
        if header.kind != self.kind {
            let (kind, path) = match header.kind {
                ImageKind::Firmware => ("firmware", "/upload/firmware"),
                ImageKind::Page => ("page", "/upload/webui"),
            };
            return Err(ImageRefusal::Kind { kind, path });
        }
        if header.signed_bytes() > self.bytes_max {
            return Err(ImageRefusal::Oversize(self.bytes_max));
        }
        match header.kind {
            ImageKind::Firmware => self.check_firmware(header),
            // The manifest of a page has its requirements.
            ImageKind::Page => Ok(()),
        }
    }

    fn check_firmware(&self, header: &ImageHeader) -> Result<(), ImageRefusal> {
        let both = |image: &str, own: &str| (image.to_string(), own.to_string());
        if header.board != self.board {
            let (image, own) = both(&header.board, &self.board);
            return Err(ImageRefusal::Board { image, own });
        }
        if header.panel != self.panel {
            let (image, own) = both(&header.panel, &self.panel);
            return Err(ImageRefusal::Panel { image, own });
        }
        if header.target != self.target {
            let (image, own) = both(&header.target, &self.target);
            return Err(ImageRefusal::Target { image, own });
        }
        let image = || header.version.clone();
        match &self.versions {
            AcceptedVersions::Exactly(listed) if header.version.cmp_precedence(listed).is_ne() => {
                Err(ImageRefusal::Mislabelled {
                    image: image(),
                    listed: listed.clone(),
                })
            }
            AcceptedVersions::NotOlder if self.is_older(header) => Err(ImageRefusal::Older {
                image: image(),
                running: self.running.clone(),
            }),
            AcceptedVersions::Exactly(_) | AcceptedVersions::NotOlder | AcceptedVersions::All => {
                Ok(())
            }
        }
    }

    /// Whether the image is firmware older than the running version.
    pub fn is_older(&self, header: &ImageHeader) -> bool {
        header.kind == ImageKind::Firmware && is_newer(&self.running, &header.version)
    }

    /// Whether the image must be signed. A downgrade always must, because an attacker could use it to bring back an old
    /// vulnerability.
    pub fn needs_signature(&self, header: &ImageHeader) -> bool {
        match self.signatures {
            Signatures::Required => true,
            Signatures::NotRequired => self.is_older(header),
        }
    }

    /// Checks the oldest firmware that a page supports.
    ///
    /// # Errors
    /// The running firmware is older.
    pub fn check_page(&self, needs: &Version) -> Result<(), ImageRefusal> {
        if is_newer(needs, &self.running) {
            return Err(ImageRefusal::NeedsNewer {
                needs: needs.clone(),
                running: self.running.clone(),
            });
        }
        Ok(())
    }
}

/// The panels of a board as in image headers, such as `122x250`.
pub fn panel(board: &BoardSpec) -> String {
    format!("{}x{}", board.panel_width, board.panel_height)
}
