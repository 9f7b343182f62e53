//! Boards made from parts, as a wiring says: which driver is on which line of which hardware.
//!
//! `hardware` is what a host offers, `lines` are lines wherever they are, `panel_worker` does the work on the bus of
//! the panels, `patience` bears with an I2C bus that hangs. `panels`, `wire_bus` and `strip` are the ports and whoever
//! serves their buses, `board` puts all together.

mod board;
mod hardware;
mod lines;
mod panel_worker;
mod panels;
mod patience;
mod strip;
mod wire_bus;

pub use board::{AssembledBoard, BusTask, assemble};
pub use hardware::{Edges, Hardware};
pub use lines::{ExpanderBus, InputLine, LineFault, OutputLine};
pub use panel_worker::{PanelWorker, Wake};
pub use panels::{AssembledPanels, LAST_REFRESH_LIMIT};
pub use patience::{I2cFault, PatientI2c};
pub use strip::AssembledStrip;
pub use wire_bus::{AssembledButtons, AssembledFrontlight, AssembledSensor};
