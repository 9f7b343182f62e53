//! Facts about the machine and the build that the core shows but cannot measure.

use alloc::string::String;

/// Facts about the machine and the build.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostFacts {
    /// Memory that is free, bytes.
    pub memory_free: u64,
    /// Space that is free in the data folder, bytes.
    pub disk_free: u64,
    /// Version of the program.
    pub version: String,
    /// Date of the build.
    pub built: String,
}
