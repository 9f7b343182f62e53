//! Facts about the machine and the build, measured outside of this crate.

use alloc::string::String;
use core::net::SocketAddr;

/// Facts about the machine and the build.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostFacts {
    /// Memory available to programs, bytes.
    pub heap_free: Option<u64>,
    /// Swap that is free, bytes.
    pub swap_free: Option<u64>,
    /// Version of the program.
    pub version: String,
    /// Date of the build.
    pub built: String,
    /// Where the page is served; `None` before that is known.
    pub page_address: Option<SocketAddr>,
}
