//! Device files and GPIO lines of the host.

use std::path::PathBuf;

use super::WiringLine;

/// A GPIO line in a wiring file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedLine {
    pub line: WiringLine,
    /// Its use, for messages.
    pub what: String,
    /// Its line number in the file; `None` if it comes from the base.
    pub at: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusKind {
    /// SPI: the panels, or the strip.
    Spi,
    /// I2C: the other chips.
    I2c,
}

/// A device file in a wiring file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceFile {
    pub path: String,
    pub kind: BusKind,
    /// Its line number; `None` if it comes from the base.
    pub line: Option<usize>,
}

/// A GPIO line of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLine {
    /// Device file of its chip.
    pub chip: PathBuf,
    pub number: u32,
    /// The consumer that uses it, if any.
    pub user: Option<String>,
}
