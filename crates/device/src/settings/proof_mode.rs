//! How proofs are used: the values of `proofMode`.

/// Claims are shown as received; only stale values are marked.
pub const OFF: u32 = 0;

/// Claims are shown at once, and marked while a proof is overdue.
pub const MARK: u32 = 1;

/// Only proven blocks are shown.
pub const STRICT: u32 = 2;

/// Names, in the order of the numbers.
pub(super) const NAMES: &[&str] = &["off", "mark", "strict"];
