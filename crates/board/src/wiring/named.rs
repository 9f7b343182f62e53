//! What a wiring file names of the host: device files and lines.

use std::path::PathBuf;

use super::WiringLine;

/// A line that a wiring file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedLine {
    /// The line.
    pub line: WiringLine,
    /// What it is for, in words for people.
    pub what: String,
    /// Line of the file on which it stands; none if it comes from the base.
    pub at: Option<usize>,
}

/// What a device file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusKind {
    /// SPI: the panels, or the strip.
    Spi,
    /// I2C: the other chips.
    I2c,
}

/// A device file that a wiring file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceFile {
    /// Its path.
    pub path: String,
    /// What it is for.
    pub kind: BusKind,
    /// Line on which it stands; none if it comes from the base.
    pub line: Option<usize>,
}

/// A GPIO line of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLine {
    /// Device file of its chip.
    pub chip: PathBuf,
    /// Its number there.
    pub number: u32,
    /// Who uses it; none if nobody does.
    pub user: Option<String>,
}
