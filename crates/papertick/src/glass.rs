//! What the panels show right now, for everybody who wants to look.

use std::sync::Arc;

use render::Bitmap;

/// How a panel was refreshed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refresh {
    /// Through black and white: slow, without ghosts.
    Full,
    /// Only what changed: fast.
    Partial,
}

/// What all panels show; published after every refresh.
#[derive(Debug, Clone, PartialEq)]
pub struct Glass {
    /// Grows with every refresh.
    pub generation: u64,
    /// The panels, leftmost first.
    pub panels: Vec<PanelGlass>,
}

/// What one panel shows.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelGlass {
    /// Its pixels, as the viewer sees them.
    pub bitmap: Arc<Bitmap>,
    /// Generation of the refresh that painted it.
    pub painted: u64,
    /// How it was refreshed.
    pub refresh: Refresh,
}
