//! The picture of a mining pool or a miner.

use alloc::{string::String, vec::Vec};

/// A one-bit picture whose set bits are paper.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Logo {
    /// Name of the pool or miner the picture stands for.
    pub name: String,
    /// Width, px.
    pub width: u16,
    /// Height, px.
    pub height: u16,
    /// Rows of `ceil(width / 8)` bytes, most significant bit leftmost, 0 is ink.
    pub rows: Vec<u8>,
}
