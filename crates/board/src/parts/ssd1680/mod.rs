//! SSD1680, the controller of the panels.
//!
//! `models` are the supported panels, `setup` is how one of them is mounted.
//! `sequence` has the command sequences of refreshes, `panel` sends them step by step and watches the busy line, `bus` has the
//! lines that all panels share, `frame` is a picture in the order of the controller.
//!
//! A *bank* is one of the two memories of the controller, each for a whole picture. A full refresh shows the new one, a
//! partial refresh changes the pixels in which the two differ.
//! Only the waveforms in the panel are used, because an uploaded one can damage it.

mod bus;
mod image;
mod models;
mod panel;
pub mod sequence;
mod setup;

pub use bus::{CHUNK_MAX, PanelBus};
pub use image::{PanelImage, PanelRotation, STRIDE};
pub use models::{HZ_MAX, LINES_MAX, MODELS, Model, REFUSED_MODELS, ROW_BYTES, Times, find};
pub use panel::{PanelDriver, PollResult};
pub use setup::{FullWaveform, Setup};
