//! What the panels show right now, for everybody who wants to look.

use std::sync::Arc;

pub use board::ports::{PanelFault, Refresh};
use render::Bitmap;

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
    /// Generation of the refresh that painted it; 0 if none did since the start.
    pub painted: u64,
    /// How it was refreshed.
    pub refresh: Refresh,
    /// What is wrong with it; it then shows an older picture than the others.
    pub fault: Option<PanelFault>,
}

/// A panel that does not do what it was told, by its place from the left.
pub type FaultyPanel = (usize, PanelFault);

impl Glass {
    /// The panels with something wrong, leftmost first.
    pub fn faults(&self) -> Vec<FaultyPanel> {
        self.panels
            .iter()
            .enumerate()
            .filter_map(|(panel, glass)| Some((panel, glass.fault?)))
            .collect()
    }

    /// Panels of which nothing is known yet, taken as empty paper.
    pub fn unknown(panels: usize, width: u16, height: u16) -> Glass {
        let panel = PanelGlass {
            bitmap: Arc::new(Bitmap::paper(width, height)),
            painted: 0,
            refresh: Refresh::Full,
            fault: None,
        };
        Glass {
            generation: 0,
            panels: vec![panel; panels],
        }
    }
}
