//! What was told in this run, so that a source that begins anew does not tell it again.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

/// What was told in this run; clones know the same.
#[derive(Debug, Clone, Default)]
pub struct Told(Arc<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// When the newest zap that was told was made, s since 1970-01-01 UTC; 0 for none.
    zap: AtomicU64,
    /// The wallet was asked for the payments before the start.
    missed: AtomicBool,
}

impl Told {
    /// When the newest zap that was told was made, s since 1970-01-01 UTC.
    pub fn zap(&self) -> Option<u64> {
        let made = self.0.zap.load(Ordering::Relaxed);
        (made > 0).then_some(made)
    }

    /// Takes note of when the newest zap was made.
    pub fn keep_zap(&self, made: Option<u64>) {
        self.0.zap.store(made.unwrap_or(0), Ordering::Relaxed);
    }

    /// Tells whether the wallet was asked for the payments before the start.
    pub fn missed(&self) -> bool {
        self.0.missed.load(Ordering::Relaxed)
    }

    /// Takes note of whether the wallet was asked for the payments before the start.
    pub fn keep_missed(&self, asked: bool) {
        self.0.missed.fetch_or(asked, Ordering::Relaxed);
    }
}
