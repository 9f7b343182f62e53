//! How a panel is mounted and refreshed.

use serde::Deserialize;

use super::{Model, PanelRotation};

/// How a panel is mounted and refreshed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// Its model.
    pub model: &'static Model,
    /// Its rotation.
    pub rotation: PanelRotation,
    /// First byte of a row of the controller that is on the panel.
    pub x_offset: u8,
    /// Waveform of its full refreshes.
    pub full: FullWaveform,
}

/// Waveform of full refreshes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub enum FullWaveform {
    /// The one for the measured temperature.
    #[default]
    #[serde(rename = "f7")]
    Measured,
    /// The short one for high temperatures, for warm rooms.
    #[serde(rename = "d7")]
    Warm,
}
