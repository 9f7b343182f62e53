//! Which images are taken: those for this board, these panels and this machine, of a version that is wanted, signed by
//! a key that is trusted.

use std::time::Duration;

use api::{operation::ProgramOperation, operations::path_of};
use device::board::BoardSpec;
use feeds::{
    image::{ImageFault, ImageHeader, ImageKind, VerifyingKey},
    release::is_newer,
};
use semver::Version;
use serde::{Deserialize, Serialize};

/// What an image must be to be taken.
#[derive(Debug, Clone)]
pub struct Judge {
    /// What it must hold.
    pub kind: ImageKind,
    /// Largest image, bytes.
    pub bytes_max: u64,
    /// Board it must be for.
    pub board: String,
    /// Panels it must be for.
    pub panel: String,
    /// Machines it must be for.
    pub target: String,
    /// Version that runs.
    pub running: Version,
    /// Which versions are taken.
    pub versions: Versions,
    /// Keys that are trusted.
    pub keys: Vec<VerifyingKey>,
    /// Whether anybody has to sign.
    pub signatures: Signatures,
}

/// Which versions are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Versions {
    /// This one, of any build.
    Just(Version),
    /// The one that runs, and newer ones.
    NotOlder,
    /// All.
    All,
}

/// Whether anybody has to sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Signatures {
    /// Only what a trusted key signed is taken.
    #[default]
    Required,
    /// The owner takes everything.
    NotRequired,
}

/// Why an image is refused.
#[derive(Debug, thiserror::Error)]
pub enum ImageRefusal {
    /// Another update is under way.
    #[error("another update is under way")]
    Busy,
    /// The version that runs has yet to show that it works; until then the one before it is needed.
    #[error("version {0} has yet to show that it works: try again in some minutes")]
    OnTrial(Version),
    /// The steps of an update follow each other, and this one is not next.
    #[error("nothing was {0} yet")]
    NotYet(&'static str),
    /// It takes too long.
    #[error("it did not come whole within {} minutes", .0.as_secs() / 60)]
    Slow(Duration),
    /// It is larger than there is room for.
    #[error("it is larger than {0} bytes, which is all there is room for")]
    Oversize(u64),
    /// It is no image that can be used.
    #[error("{0}")]
    Fault(#[from] ImageFault),
    /// It holds something else.
    #[error("it is a {is}: that goes to {place}")]
    Kind {
        /// What it is.
        is: &'static str,
        /// Where it can be uploaded.
        place: &'static str,
    },
    /// It is for another board.
    #[error("it is for the board {is}, and this is {own}")]
    Board {
        /// The board it is for.
        is: String,
        /// This board.
        own: String,
    },
    /// It is for other panels.
    #[error("it is for panels of {is}, and these are {own}")]
    Panel {
        /// The panels it is for.
        is: String,
        /// The panels there are.
        own: String,
    },
    /// It is for other machines.
    #[error("it is for {is}, and this machine is {own}")]
    Target {
        /// The machines it is for.
        is: String,
        /// This machine.
        own: String,
    },
    /// It is older than what runs.
    #[error(
        "it is version {is}, which is older than {running}, which runs: say downgrade=true to install it all the same"
    )]
    Older {
        /// Its version.
        is: Version,
        /// The version that runs.
        running: Version,
    },
    /// It is not what the list said it was.
    #[error("it is version {is}, and the list says that it is {listed}")]
    Mislabelled {
        /// Its version.
        is: Version,
        /// The version that the list says.
        listed: Version,
    },
    /// It needs a newer program than the one that runs.
    #[error("it needs version {needs} or newer, and {running} runs: update the firmware first")]
    NeedsNewer {
        /// The version it needs.
        needs: Version,
        /// The version that runs.
        running: Version,
    },
    /// No key is trusted, so nothing can be.
    #[error(
        "no key is trusted here: put the public key of whoever signs the images into the folder {0}, or start the clock with --update-key FILE"
    )]
    NoKeys(String),
    /// The supervisor would not start another program.
    #[error("the supervisor of this clock starts no other program: start the clock again by hand")]
    NoSlots,
    /// The bytes are not those that were announced.
    #[error("its SHA-256 is not the one that was announced")]
    Digest,
    /// Programs in the data folder cannot be started.
    #[error("the data folder is on a file system from which programs cannot be started (noexec)")]
    NoExec,
    /// It could not be stored.
    #[error("it cannot be stored: {0}")]
    Disk(std::io::Error),
}

impl Judge {
    /// Judges what an image says of itself, before the rest of it is there.
    ///
    /// # Errors
    /// It is for another clock, or not a version that is taken.
    pub fn judge(&self, head: &ImageHeader) -> Result<(), ImageRefusal> {
        if head.kind != self.kind {
            let (is, place) = match head.kind {
                ImageKind::Firmware => ("firmware", path_of(ProgramOperation::Firmware)),
                ImageKind::Page => ("page", path_of(ProgramOperation::WebBundle)),
            };
            return Err(ImageRefusal::Kind { is, place });
        }
        if head.signed_bytes() > self.bytes_max {
            return Err(ImageRefusal::Oversize(self.bytes_max));
        }
        match head.kind {
            ImageKind::Firmware => self.judge_firmware(head),
            // A page says in its manifest what it fits.
            ImageKind::Page => Ok(()),
        }
    }

    fn judge_firmware(&self, head: &ImageHeader) -> Result<(), ImageRefusal> {
        let both = |is: &str, own: &str| (is.to_string(), own.to_string());
        if head.board != self.board {
            let (is, own) = both(&head.board, &self.board);
            return Err(ImageRefusal::Board { is, own });
        }
        if head.panel != self.panel {
            let (is, own) = both(&head.panel, &self.panel);
            return Err(ImageRefusal::Panel { is, own });
        }
        if head.target != self.target {
            let (is, own) = both(&head.target, &self.target);
            return Err(ImageRefusal::Target { is, own });
        }
        let is = || head.version.clone();
        match &self.versions {
            Versions::Just(listed) if head.version.cmp_precedence(listed).is_ne() => {
                Err(ImageRefusal::Mislabelled {
                    is: is(),
                    listed: listed.clone(),
                })
            }
            Versions::NotOlder if self.is_older(head) => Err(ImageRefusal::Older {
                is: is(),
                running: self.running.clone(),
            }),
            Versions::Just(_) | Versions::NotOlder | Versions::All => Ok(()),
        }
    }

    /// Tells whether it holds a program that is older than the one that runs.
    pub fn is_older(&self, head: &ImageHeader) -> bool {
        head.kind == ImageKind::Firmware && is_newer(&self.running, &head.version)
    }

    /// Tells whether somebody who is trusted has to have signed it; who goes back to an older version is not to be led
    /// there by anybody else.
    pub fn needs_signature(&self, head: &ImageHeader) -> bool {
        match self.signatures {
            Signatures::Required => true,
            Signatures::NotRequired => self.is_older(head),
        }
    }

    /// Judges the oldest program that a page says it works with.
    ///
    /// # Errors
    /// The program that runs is older.
    pub fn judge_page(&self, needs: &Version) -> Result<(), ImageRefusal> {
        if is_newer(needs, &self.running) {
            return Err(ImageRefusal::NeedsNewer {
                needs: needs.clone(),
                running: self.running.clone(),
            });
        }
        Ok(())
    }
}

/// Words for the panels of a board, as images say them, such as `122x250`.
pub fn panel(board: &BoardSpec) -> String {
    format!("{}x{}", board.panel_width, board.panel_height)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use super::*;

    fn judge() -> Judge {
        Judge {
            kind: ImageKind::Firmware,
            bytes_max: 10_000,
            board: "rev-b".to_string(),
            panel: "122x250".to_string(),
            target: "aarch64-unknown-linux-gnu".to_string(),
            running: Version::new(4, 1, 0),
            versions: Versions::NotOlder,
            keys: Vec::new(),
            signatures: Signatures::Required,
        }
    }

    fn head() -> ImageHeader {
        ImageHeader {
            kind: ImageKind::Firmware,
            payload_bytes: 10_000 - ImageHeader::BYTES as u64,
            content_bytes: 9,
            build_time: 0,
            payload_digest: [0; 32],
            content_digest: [0; 32],
            board: "rev-b".to_string(),
            panel: "122x250".to_string(),
            target: "aarch64-unknown-linux-gnu".to_string(),
            version: Version::new(4, 1, 0),
            commit: String::new(),
        }
    }

    #[test]
    fn only_images_for_this_clock_are_taken() {
        let page = |head: &mut ImageHeader| {
            head.kind = ImageKind::Page;
            head.board.clear();
        };
        type HeaderEdit = fn(&mut ImageHeader);
        let cases: [(HeaderEdit, &str); 8] = [
            (|_| {}, ""),
            (
                |head| head.board = "v8".into(),
                "it is for the board v8, and this is rev-b",
            ),
            (
                |head| head.panel = "128x296".into(),
                "it is for panels of 128x296, and these are 122x250",
            ),
            (
                |head| head.target = "x86_64-unknown-linux-gnu".into(),
                "it is for x86_64-unknown-linux-gnu, and this machine is aarch64-unknown-linux-gnu",
            ),
            (
                |head| head.version = Version::new(4, 0, 9),
                "it is version 4.0.9, which is older than 4.1.0, which runs: say downgrade=true to install it all the same",
            ),
            (
                |head| head.version = "4.1.0-rc.1".parse().unwrap(),
                "it is version 4.1.0-rc.1, which is older than 4.1.0, which runs: say downgrade=true to install it all the same",
            ),
            (|head| head.version = Version::new(5, 0, 0), ""),
            (
                |head| head.payload_bytes += 1,
                "it is larger than 10000 bytes, which is all there is room for",
            ),
        ];
        let said = |judge: &Judge, head: &ImageHeader| match judge.judge(head) {
            Ok(()) => String::new(),
            Err(refusal) => refusal.to_string(),
        };
        for (change, expected) in cases {
            let mut head = head();
            change(&mut head);
            assert_eq!(said(&judge(), &head), expected);
        }
        let older = ImageHeader {
            version: Version::new(1, 0, 0),
            ..head()
        };
        let all = Judge {
            versions: Versions::All,
            ..judge()
        };
        assert_eq!(said(&all, &older), "");
        let just = |version: &str| Judge {
            versions: Versions::Just(version.parse().unwrap()),
            ..judge()
        };
        assert_eq!(said(&just("4.1.0+other"), &head()), "");
        assert_eq!(
            said(&just("4.1.1"), &head()),
            "it is version 4.1.0, and the list says that it is 4.1.1"
        );
        assert_eq!(
            said(&just("4.1.0-rc.1"), &head()),
            "it is version 4.1.0, and the list says that it is 4.1.0-rc.1"
        );
        let mut head = head();
        page(&mut head);
        assert_eq!(
            said(&judge(), &head),
            "it is a page: that goes to /upload/webui"
        );
        let of_pages = Judge {
            kind: ImageKind::Page,
            ..judge()
        };
        assert_eq!(said(&of_pages, &head), "");
        assert_eq!(
            said(&of_pages, &self::head()),
            "it is a firmware: that goes to /upload/firmware"
        );
    }

    #[test]
    fn a_page_is_for_this_program_and_newer_ones() {
        for (needs, taken) in [
            ("4.0.0", true),
            ("4.1.0", true),
            ("4.1.1", false),
            ("4.1.0-rc.1", true),
        ] {
            let needs = Version::parse(needs).unwrap();
            assert_eq!(judge().judge_page(&needs).is_ok(), taken, "{needs}");
        }
    }
}
