//! The programs that can run: the installed program and the programs in the slots.

use std::fmt;

use semver::Version;
use serde::{Deserialize, Serialize};

use crate::build;

/// A slot for a program in the data folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImageSlot {
    A,
    B,
}

impl ImageSlot {
    pub const ALL: [ImageSlot; 2] = [ImageSlot::A, ImageSlot::B];

    /// Its name in files and in the status.
    pub fn name(self) -> &'static str {
        match self {
            ImageSlot::A => "a",
            ImageSlot::B => "b",
        }
    }

    pub fn other(self) -> ImageSlot {
        match self {
            ImageSlot::A => ImageSlot::B,
            ImageSlot::B => ImageSlot::A,
        }
    }
}

/// A program that can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Program {
    /// The installed program.
    Factory,
    Slot(ImageSlot),
}

impl Program {
    pub fn name(self) -> &'static str {
        match self {
            Program::Factory => "factory",
            Program::Slot(slot) => slot.name(),
        }
    }

    /// Its slot; `None` for the installed program.
    pub fn slot(self) -> Option<ImageSlot> {
        match self {
            Program::Factory => None,
            Program::Slot(slot) => Some(slot),
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Program::Factory => formatter.write_str("the installed program"),
            Program::Slot(slot) => write!(formatter, "the program in slot {}", slot.name()),
        }
    }
}

/// Version and build of the installed program, for comparison with the slots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Factory {
    pub version: Version,
    pub build: String,
}

impl Factory {
    pub fn own() -> Factory {
        let facts = build::BuildFacts::own();
        let time = facts.time.unwrap_or_default();
        Factory {
            version: Version::parse(build::VERSION).unwrap_or(Version::new(0, 0, 0)),
            build: format!("{}-{}-{time}", facts.version, facts.commit),
        }
    }
}

/// The running program, as the supervisor reports it to the device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Firmware {
    pub running: Program,
    pub version: String,
    /// The installed program.
    pub factory: Factory,
}
