//! How a panel is mounted and refreshed.

use super::{Model, PanelRotation};

/// How a panel is mounted and refreshed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// Which panel it is.
    pub model: &'static Model,
    /// How it hangs.
    pub rotation: PanelRotation,
    /// First byte of the controller's rows that is on the glass.
    pub x_offset: u8,
    /// Waveform of its full refreshes.
    pub full: FullWaveform,
}

/// Waveform of full refreshes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FullWaveform {
    /// That of the temperature.
    #[default]
    Measured,
    /// The short one of high temperatures, for warm rooms.
    Warm,
}

impl FullWaveform {
    /// The waveforms and their words in wiring files.
    pub const NAMED: &[(&str, FullWaveform)] =
        &[("f7", FullWaveform::Measured), ("d7", FullWaveform::Warm)];
}
