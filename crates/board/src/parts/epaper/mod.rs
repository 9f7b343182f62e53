//! E-paper panels.
//!
//! `models` are the supported panels, `setup` is how one of them is mounted.
//! `sequence` has the steps of refreshes, for each family of controllers. `panel` does them and watches the busy line, `bus` has
//! the lines that all panels share, `image` is a picture in the order of the controller.
//!
//! A *plane* is one of the two memories of a controller, each for a whole picture. A full refresh shows the new one, a
//! partial refresh changes the pixels in which the two differ.
//! Only the waveforms in the panel are used, because an uploaded one can damage it.

mod bus;
mod image;
mod models;
mod panel;
pub mod sequence;
mod setup;

pub use bus::{CHUNK_MAX, PanelBus};
pub use image::{PanelImage, PanelRotation, PlaneForm};
pub use models::{
    Care, ChipCount, Family, HZ_MAX, LineEnd, MODELS, Model, REFUSED_MODELS, Registers,
    SSD1680_ROW, Ssd16xx, Times, XUnit, find,
};
pub use panel::{PanelDriver, PollResult};
pub use setup::{FullWaveform, Setup};
