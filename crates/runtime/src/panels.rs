//! What the panels currently show.

use std::{sync::Arc, time::Duration};

use api::{
    schema::Word,
    status::{PanelFailure, PanelRefreshes, PanelStatus},
};
use device::{board::PanelFault, refresh::Refresh};
use render::Bitmap;
use tokio::time::Instant;

/// Content of all panels. Published after every refresh.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelsSnapshot {
    /// Grows with every refresh.
    pub generation: u64,
    /// The panels, leftmost first.
    pub panels: Vec<PanelState>,
}

/// What one panel shows.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelState {
    /// Its pixels, as the viewer sees them.
    pub bitmap: Arc<Bitmap>,
    /// A password is on it, or will be after the refresh in progress.
    pub shows_password: bool,
    /// Generation of the refresh that painted it; 0 if none since the start.
    pub painted: u64,
    /// Kind of its last refresh.
    pub refresh: Refresh,
    /// When that refresh ended. `None` if nothing was painted since the start.
    pub since: Option<Instant>,
    /// Partial refreshes since its last full one.
    pub partials: u32,
    /// Partial refreshes after which a full one is due; 0 for no limit.
    pub partials_max: u32,
    /// Its refreshes since the start.
    pub refreshes: RefreshRecord,
    /// What is wrong with it; the panel then shows an older picture than the others.
    pub fault: Option<PanelFault>,
    /// Failures since the last success.
    pub failures: u32,
    /// When it is retried. `None` if not at all, or as soon as it is idle.
    pub retry_at: Option<Instant>,
}

/// Refreshes of a panel since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RefreshRecord {
    pub full: u32,
    pub partial: u32,
    pub failed: u32,
    /// End of the last full one.
    pub full_at: Option<Instant>,
    /// Duration of the last full one, from the first byte of its picture.
    pub full_took: Option<Duration>,
    /// Duration of the last partial one, from the first byte of its picture.
    pub partial_took: Option<Duration>,
}

impl RefreshRecord {
    /// Adds a refresh that has ended now.
    pub fn add(&mut self, refresh: Refresh, took: Option<Duration>) {
        match refresh {
            Refresh::Full => {
                self.full = self.full.saturating_add(1);
                self.full_at = Some(Instant::now());
                self.full_took = took.or(self.full_took);
            }
            Refresh::Partial => {
                self.partial = self.partial.saturating_add(1);
                self.partial_took = took.or(self.partial_took);
            }
        }
    }

    fn status(&self) -> PanelRefreshes {
        let millis = |took: Duration| took.as_millis() as u64;
        PanelRefreshes {
            full: self.full,
            partial: self.partial,
            failed: self.failed,
            full_age_sec: self.full_at.map(|at| at.elapsed().as_secs()),
            full_ms: self.full_took.map(millis),
            partial_ms: self.partial_took.map(millis),
        }
    }
}

impl PanelState {
    /// A panel that was not refreshed yet and is assumed to show `bitmap`.
    pub fn unknown(bitmap: Arc<Bitmap>) -> PanelState {
        PanelState {
            bitmap,
            shows_password: false,
            painted: 0,
            refresh: Refresh::Full,
            since: None,
            partials: 0,
            partials_max: 0,
            refreshes: RefreshRecord::default(),
            fault: None,
            failures: 0,
            retry_at: None,
        }
    }

    /// Its status at this moment.
    fn status(&self) -> PanelStatus {
        let now = Instant::now();
        let age = |since| now.saturating_duration_since(since).as_secs();
        let left = |at: Instant| at.saturating_duration_since(now).as_secs();
        PanelStatus {
            age_sec: self.since.map(age),
            refresh: self.since.map(|_| Word(self.refresh)),
            partials: self.partials,
            partials_max: self.partials_max,
            refreshes: self.refreshes.status(),
            fault: self.fault.map(Word),
            failures: self.failures,
            next_try_sec: self.retry_at.map(left),
        }
    }
}

impl PanelsSnapshot {
    /// The status of each panel at this moment.
    pub fn panel_statuses(&self) -> Vec<PanelStatus> {
        self.panels.iter().map(PanelState::status).collect()
    }

    /// Returns whether at least one panel was painted since the start and has no fault.
    pub fn is_painted(&self) -> bool {
        let shows = |panel: &PanelState| panel.since.is_some() && panel.fault.is_none();
        self.panels.iter().any(shows)
    }

    /// Returns whether a password is on a panel, or will be after the refresh in progress.
    pub fn shows_password(&self) -> bool {
        self.panels.iter().any(|panel| panel.shows_password)
    }

    /// The panels with a fault, leftmost first.
    pub fn faults(&self) -> Vec<PanelFailure> {
        PanelFailure::all(&self.panel_statuses())
    }

    /// Panels that were not refreshed yet, assumed to be blank.
    pub fn unknown(panels: usize, (width, height): (u16, u16)) -> PanelsSnapshot {
        let panel = PanelState::unknown(Arc::new(Bitmap::paper(width, height)));
        PanelsSnapshot {
            generation: 0,
            panels: vec![panel; panels],
        }
    }
}
