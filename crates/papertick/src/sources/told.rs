//! What was told in this run, so that a source that begins anew does not tell it again.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use feeds::nostr::zap::ShownZaps;
use tokio::sync::watch;

/// What was told in this run; clones know the same.
#[derive(Debug, Clone, Default)]
pub struct Told(Arc<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// The zaps that were told; nobody follows it, it is the one place that all listeners change.
    zaps: watch::Sender<ShownZaps>,
    /// The wallet was asked for the payments before the start.
    missed: AtomicBool,
}

impl Told {
    /// Looks at the zaps that were told, and adds to them.
    pub fn with_zaps<T>(&self, look: impl FnOnce(&mut ShownZaps) -> T) -> T {
        let mut seen = None;
        self.0.zaps.send_modify(|zaps| seen = Some(look(zaps)));
        seen.expect("the closure was called")
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
