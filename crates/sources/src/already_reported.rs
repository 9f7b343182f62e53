//! What was reported since the program started, so that a restarted source does not repeat it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use feeds::nostr::zap::ShownZaps;

use super::shared_value::SharedValue;

/// What was reported since the program started; clones share it.
#[derive(Debug, Clone, Default)]
pub struct AlreadyReported(Arc<ReportedState>);

#[derive(Debug, Default)]
struct ReportedState {
    /// Zaps that were reported.
    zaps: SharedValue<ShownZaps>,
    /// The payments before the start were requested from the wallet.
    missed: AtomicBool,
}

impl AlreadyReported {
    /// Reads or changes the reported zaps.
    pub fn with_zaps<T>(&self, look: impl FnOnce(&mut ShownZaps) -> T) -> T {
        self.0.zaps.with(look)
    }

    /// Returns whether the payments before the start were requested.
    pub fn missed(&self) -> bool {
        self.0.missed.load(Ordering::Relaxed)
    }

    /// Records whether the payments before the start were requested.
    pub fn record_missed(&self, requested: bool) {
        self.0.missed.fetch_or(requested, Ordering::Relaxed);
    }
}
