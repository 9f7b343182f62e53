//! The frontlight.

use alloc::{vec, vec::Vec};
use core::time::Duration;

/// The frontlight: one channel per panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frontlight {
    duties: Vec<u16>,
}

impl Frontlight {
    /// A dark frontlight.
    pub fn new(panels: usize) -> Frontlight {
        Frontlight {
            duties: vec![0; panels],
        }
    }

    /// Does what is due by this uptime.
    pub fn advance(&mut self, _uptime: Duration) {}

    /// Uptime of the next change.
    pub fn next_deadline(&self) -> Option<Duration> {
        None
    }

    /// Duty per panel, 0..=4095.
    pub fn duties(&self) -> Vec<u16> {
        self.duties.clone()
    }
}
