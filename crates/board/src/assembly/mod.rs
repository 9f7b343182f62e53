//! Boards made from parts, as a wiring says: which driver is on which line of which hardware.
//!
//! `hardware` is what a host offers, `lines` are lines wherever they are, `panel_worker` serves the bus of the panels.

mod hardware;
mod lines;
mod panel_worker;

pub use hardware::{Edges, Hardware};
pub use lines::{Input, LineFault, Output, Wire};
pub use panel_worker::{Outcome, PanelWorker, Wake};
