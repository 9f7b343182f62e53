//! How a panel is mounted and refreshed.

use serde::Deserialize;

use super::{Model, PanelRotation};

/// How a panel is mounted and refreshed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    pub model: &'static Model,
    pub rotation: PanelRotation,
    /// First byte of a row of the controller that is on the panel.
    pub x_offset: u8,
    pub full: FullWaveform,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub enum FullWaveform {
    #[default]
    #[serde(rename = "f7", alias = "normal")]
    Measured,
    /// The short one for high temperatures, for warm rooms.
    #[serde(rename = "d7", alias = "fast")]
    Warm,
}
