//! What was told in this run, so that a source that begins anew does not tell it again.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use feeds::nostr::zap::ShownZaps;

use super::common::SharedValue;

/// What was told in this run; clones know the same.
#[derive(Debug, Clone, Default)]
pub struct AlreadyReported(Arc<ReportedState>);

/// What was reported to the device.
#[derive(Debug, Default)]
struct ReportedState {
    /// The zaps that were told.
    zaps: SharedValue<ShownZaps>,
    /// The wallet was asked for the payments before the start.
    missed: AtomicBool,
}

impl AlreadyReported {
    /// Looks at the zaps that were told, and adds to them.
    pub fn with_zaps<T>(&self, look: impl FnOnce(&mut ShownZaps) -> T) -> T {
        self.0.zaps.with(look)
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
