//! What is made of proof: the values of `proofMode`.

/// Claims are shown as they come, and nothing is marked but what is old.
pub const OFF: u32 = 0;

/// Claims are shown at once, and marked while they should have been proven.
pub const MARK: u32 = 1;

/// Only what is proven is shown.
pub const STRICT: u32 = 2;

/// What each of them is called, in the order of their numbers.
pub(super) const NAMES: &[&str] = &["off", "mark", "strict"];
