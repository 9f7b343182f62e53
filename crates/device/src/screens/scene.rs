//! All that a screen may look at.

use crate::{market::Market, now::LocalTime, settings::Settings, units::Currency};

/// All that a screen may look at.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// What is known, after throttling.
    pub market: &'a Market,
    /// Settings the device runs on.
    pub settings: &'a Settings,
    /// Local time, once the wall clock is plausible.
    pub local: Option<LocalTime>,
    /// Currency of the slot; the first active one on screens without one.
    pub currency: Currency,
    /// Number of panels.
    pub panels: usize,
}
