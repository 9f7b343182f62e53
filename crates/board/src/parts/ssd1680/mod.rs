//! SSD1680, the controller of the panels: which panels it drives, and in what sequences of bytes.
//!
//! `models` are the panels, `setup` is how one of them is mounted.
//! `sequence` says what is sent for a full and for a partial refresh, `panel` sends it step by step and watches the
//! busy line, `bus` are the lines that all panels share, `frame` is a picture in the controller's order.
//!
//! A *bank* is one of the two memories of the controller, each a whole picture: a full refresh shows the new one, a
//! partial refresh moves the pixels in which the two differ.
//! Only the waveforms that the maker left in the panel are used: one that is uploaded can ruin it.

mod bus;
mod frame;
mod models;
mod panel;
pub mod sequence;
mod setup;

pub use bus::{CHUNK_MAX, PanelBus};
pub use frame::{PanelFrame, PanelRotation, STRIDE};
pub use models::{HZ_MAX, LINES_MAX, MODELS, Model, REFUSED_MODELS, ROW_BYTES, Times, find};
pub use panel::{PanelDriver, PollResult};
pub use setup::{FullWaveform, Setup};
